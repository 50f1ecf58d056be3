import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("replaceEmpty")
struct ReplaceEmptyTests {
  @Test("an upstream that finishes without values is replaced by one value, and the end after it")
  func replaces() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1))
    upstream.replaceEmpty(with: 42).subscribe(recorder)
    upstream.send(completion: .finished)

    expectEqual(recorder.events, [.subscription, .value(42), .completion(.finished)])
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("the replacement waits for the first request, and comes once")
  func waits() {
    let upstream = TestPublisher<Int, TestFailure>()
    var held: (any Subscription)?
    var events: [String] = []
    upstream.replaceEmpty(with: 42).subscribe(
      AnySubscriber<Int, TestFailure>(
        receiveSubscription: { held = $0 },
        receiveValue: {
          events.append("\($0)")
          held?.request(.max(1))
          return .max(1)
        },
        receiveCompletion: { _ in events.append("end") }
      )
    )
    upstream.send(completion: .finished)
    #expect(events.isEmpty)

    held?.request(.max(2))
    held?.request(.max(2))
    expectEqual(events, ["42", "end"])
  }

  @Test("values pass with the subscriber's answers, and nothing is replaced after them")
  func passesValues() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2), answering: { _, _ in .max(3) })
    upstream.replaceEmpty(with: 42).subscribe(recorder)
    expectEqual(upstream.send(1), .max(3))
    upstream.send(completion: .finished)
    upstream.send(completion: .finished)
    expectEqual(upstream.send(2), .none)

    expectEqual(recorder.events, [.subscription, .value(1), .completion(.finished)])
  }

  @Test("the subscriber's requests pass, and everything is asked for besides, once it has its subscription")
  func demand() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2))
    upstream.replaceEmpty(with: 42).subscribe(recorder)
    recorder.request(.max(3))

    expectEqual(upstream.requests, [.max(2), .unlimited, .max(3)])
  }

  @Test("a failure passes at once and is not replaced")
  func failure() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    upstream.replaceEmpty(with: 42).subscribe(recorder)
    upstream.send(completion: .failure(.expected))
    recorder.request(.max(1))

    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("nothing is replaced after a cancel, and no end follows one from inside the replacement")
  func cancels() {
    let upstream = TestPublisher<Int, TestFailure>()
    var held: (any Subscription)?
    var events: [String] = []
    let subscriber = AnySubscriber<Int, TestFailure>(
      receiveSubscription: { held = $0 },
      receiveValue: {
        events.append("\($0)")
        held?.cancel()
        return .none
      },
      receiveCompletion: { _ in events.append("end") }
    )
    upstream.replaceEmpty(with: 42).subscribe(subscriber)
    upstream.send(completion: .finished)
    held?.cancel()
    held?.request(.max(1))
    #expect(events.isEmpty)

    upstream.replaceEmpty(with: 42).subscribe(subscriber)
    held?.request(.max(1))
    upstream.send(completion: .finished)
    expectEqual(events, ["42"])
  }

  @Test("the subscriber has its subscription when the upstream's comes, and events before that are ignored")
  func handsDown() {
    let recorder = Recorder<Int, TestFailure>()
    var subscriber: AnySubscriber<Int, TestFailure>?
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).replaceEmpty(with: 42).subscribe(recorder)
    _ = subscriber?.receive(1)
    subscriber?.receive(completion: .finished)
    #expect(recorder.events.isEmpty)
    subscriber?.receive(subscription: SubscriptionSpy())
    expectEqual(recorder.events, [.subscription])
  }

  @Test("after a cancel from inside the subscription nothing is asked for")
  func cancelsAtOnce() {
    let upstream = TestPublisher<Int, TestFailure>()
    upstream.replaceEmpty(with: 42).subscribe(AnySubscriber(receiveSubscription: { $0.cancel() }))

    #expect(upstream.requests.isEmpty)
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("publishers of equal parts are equal")
  func equality() {
    typealias Stand = Publishers.ReplaceEmpty<Just<Int>>
    expectEqual(Stand(upstream: Just(1), output: 2), Stand(upstream: Just(1), output: 2))
    #expect(Stand(upstream: Just(1), output: 2) != Stand(upstream: Just(1), output: 3))
  }

  @Test("it holds one subscription, cancels it once and lets go")
  func laws() {
    SubscriptionLaws.check(named: "ReplaceEmpty") { $0.replaceEmpty(with: 42) }
  }

  @Test("a request for no values stops the process")
  func emptyRequest() async {
    await #expect(processExitsWith: .failure) {
      let recorder = Recorder<Int, TestFailure>()
      TestPublisher<Int, TestFailure>().replaceEmpty(with: 1).subscribe(recorder)
      recorder.request(.none)
    }
  }
}
