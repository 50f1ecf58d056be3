import Expectations
import ReboundTesting
import Testing

@testable import Combine

@Suite("catch")
struct CatchTests {
  let upstream = TestPublisher<Int, TestFailure>()
  let other = TestPublisher<Int, TestFailure>()

  @Test("after a failure the other publisher goes on, with what is still owed")
  func goesOn() {
    let other = other
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(3),
      answering: { value, _ in value == 1 ? .max(2) : .none }
    )
    upstream.catch { error in
      expectEqual(error, .expected)
      return other
    }
    .subscribe(recorder)
    expectEqual(upstream.requests, [.max(3)])
    expectEqual(upstream.send(1), .max(2))
    expectEqual(upstream.send(2), .none)
    upstream.send(completion: .failure(.expected))
    expectEqual(other.requests, [.max(3)])
    recorder.request(.max(4))
    expectEqual(other.requests, [.max(3), .max(4)])
    expectEqual(upstream.requests, [.max(3)])
    other.send(3)
    other.send(completion: .finished)
    expectEqual(recorder.events, [.subscription, .value(1), .value(2), .value(3), .completion(.finished)])
    expectEqual(upstream.cancelCount + other.cancelCount, 0)
  }

  @Test("a Just goes on at once if a value is owed, else with the next request, and not after a cancel from its value")
  func goesOnWithJust() {
    for owed in [Subscribers.Demand.unlimited, .max(2)] {
      let recorder = Recorder<Int, Never>(requesting: owed)
      let upstream = TestPublisher<Int, TestFailure>()
      upstream.catch { _ in Just(9) }.subscribe(recorder)
      upstream.send(1)
      upstream.send(completion: .failure(.expected))
      expectEqual(recorder.events, [.subscription, .value(1), .value(9), .completion(.finished)])
    }

    let late = Recorder<Int, Never>(requesting: .none)
    upstream.catch { _ in Just(9) }.subscribe(late)
    upstream.send(completion: .failure(.expected))
    expectEqual(late.events, [.subscription])
    late.request(.max(1))
    expectEqual(late.events, [.subscription, .value(9), .completion(.finished)])

    let failing = PassthroughSubject<Int, TestFailure>()
    var events: [String] = []
    var handle: AnyCancellable?
    handle = failing.catch { _ in Just(9) }.sink(
      receiveCompletion: { _ in events.append("end") },
      receiveValue: {
        events.append("\($0)")
        handle?.cancel()
      }
    )
    failing.send(completion: .failure(.expected))
    expectEqual(events, ["9"])
  }

  @Test("without a failure the handler is not called")
  func finishes() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.catch { _ -> TestPublisher<Int, TestFailure> in
      Issue.record("called")
      return TestPublisher()
    }
    .subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .finished)
    upstream.send(2)
    expectEqual(recorder.events, [.subscription, .value(1), .completion(.finished)])
  }

  @Test("the failure of the other publisher is not caught")
  func secondFailure() {
    let other = other
    let recorder = Recorder<Int, TestFailure>()
    upstream.catch { _ in other }.subscribe(recorder)
    upstream.send(completion: .failure(.expected))
    other.send(completion: .failure(.other))
    expectEqual(recorder.completions, [.failure(.other)])
    expectEqual(upstream.subscriptionCount, 1)
  }

  @Test("a request between the publishers is made to the second")
  func requestBetween() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    upstream.catch { _ in TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }) }.subscribe(recorder)
    upstream.send(completion: .failure(.expected))
    recorder.request(.max(2))
    other.subscribe(Recorder<Int, TestFailure>(requesting: .none))
    subscriber?.receive(subscription: other.connections[0])
    expectEqual(other.requests, [.max(2)])
    recorder.request(.max(1))
    expectEqual(other.requests, [.max(2), .max(1)])
  }

  @Test("demand returned for a value during which the upstream fails is made to the second publisher")
  func failureInsideValue() {
    let subject = PassthroughSubject<Int, TestFailure>()
    let other = other
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(1),
      answering: { _, _ in
        subject.send(completion: .failure(.expected))
        return .max(5)
      }
    )
    subject.catch { _ in other }.subscribe(recorder)
    subject.send(1)
    expectEqual(other.requests, [.max(5)])
  }

  @Test("cancelling reaches whichever publisher is active, once")
  func cancels() {
    let other = other
    let before = Recorder<Int, TestFailure>()
    upstream.catch { _ in other }.subscribe(before)
    before.cancel()
    expectEqual(upstream.cancelCount, 1)

    let after = Recorder<Int, TestFailure>()
    upstream.catch { _ in other }.subscribe(after)
    upstream.send(completion: .failure(.expected))
    after.cancel()
    after.cancel()
    expectEqual(upstream.cancelCount, 1)
    expectEqual(other.cancelCount, 1)
    #expect(after.completion == nil)
  }

  @Test("cancelled between the publishers, the second one's subscription is cancelled when it comes")
  func cancelBetween() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>()
    upstream.catch { _ in TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }) }.subscribe(recorder)
    upstream.send(completion: .failure(.expected))
    recorder.cancel()
    other.subscribe(Recorder<Int, TestFailure>(requesting: .none))
    subscriber?.receive(subscription: other.connections[0])
    expectEqual(other.cancelCount, 1)
    expectEqual(other.requests, [])
  }

  @Test("second subscriptions are cancelled in both phases")
  func secondSubscriptions() {
    let other = other
    let spare = TestPublisher<Int, TestFailure>()
    spare.subscribe(Recorder<Int, TestFailure>())
    upstream.catch { _ in other }.subscribe(Recorder<Int, TestFailure>())
    upstream.connections[0].send(subscription: spare.connections[0])
    upstream.send(completion: .failure(.expected))
    other.connections[0].send(subscription: spare.connections[0])
    expectEqual(spare.cancelCount, 2)
    expectEqual(upstream.cancelCount + other.cancelCount, 0)
  }

  @Test("tryCatch fails with what its handler throws")
  func throwing() {
    let recorder = Recorder<Int, any Error>()
    upstream.tryCatch { _ -> TestPublisher<Int, TestFailure> in throw TestFailure.other }.subscribe(recorder)
    upstream.send(completion: .failure(.expected))
    #expect(throws: TestFailure.other) { try recorder.completion?.rethrow() }
    expectEqual(recorder.completions.count, 1)
  }

  @Test("tryCatch goes on like catch if its handler does not throw")
  func notThrowing() {
    let other = other
    let recorder = Recorder<Int, any Error>()
    upstream.tryCatch { _ in other }.subscribe(recorder)
    upstream.send(completion: .failure(.expected))
    other.send(1)
    other.send(completion: .failure(.other))
    expectEqual(recorder.values, [1])
    #expect(throws: TestFailure.other) { try recorder.completion?.rethrow() }
  }

  @Test("the subscription is called Catch or TryCatch and shows downstream and demand")
  func reflection() {
    let other = other
    let recorder = AnySubscriber<Int, TestFailure>(receiveSubscription: {
      expectEqual("\($0)", "Catch")
      expectEqual(Mirror(reflecting: $0).children.map(\.label), ["downstream", "demand"])
    })
    upstream.catch { _ in other }.subscribe(recorder)
    upstream.tryCatch { _ in other }.subscribe(
      AnySubscriber<Int, any Error>(receiveSubscription: { expectEqual("\($0)", "TryCatch") })
    )
    expectEqual(upstream.subscriptionCount, 2)
  }

  @Test("a value before the subscription stops the process")
  func valueBeforeSubscription() async {
    await #expect(processExitsWith: .failure) {
      TestPublisher<Int, TestFailure>(handingOver: { _ = $0.receive(1) })
        .catch { _ in TestPublisher<Int, Never>() }.subscribe(Recorder<Int, Never>())
    }
  }

  @Test("a request before the subscription stops the process")
  func requestBeforeSubscription() async {
    await #expect(processExitsWith: .failure) {
      TestPublisher<Int, TestFailure>(handingOver: { ($0.erased.subject as? any Subscription)?.request(.max(1)) })
        .catch { _ in Just(1) }.subscribe(Recorder<Int, Never>())
    }
  }

  @Test("a failure before the subscription stops the process, a finish is ignored")
  func endBeforeSubscription() async {
    let recorder = Recorder<Int, Never>()
    TestPublisher<Int, TestFailure>(handingOver: { $0.receive(completion: .finished) })
      .catch { _ in Just(1) }.subscribe(recorder)
    expectEqual(recorder.events, [])
    await #expect(processExitsWith: .failure) {
      TestPublisher<Int, TestFailure>(handingOver: { $0.receive(completion: .failure(.expected)) })
        .catch { _ in Just(1) }.subscribe(Recorder<Int, Never>())
    }
  }

  @Test("the other publisher's end passes once")
  func secondEndsOnce() {
    var second: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>()
    upstream.catch { _ in TestPublisher<Int, TestFailure>(handingOver: { second = $0 }) }.subscribe(recorder)
    upstream.send(completion: .failure(.expected))
    second?.receive(subscription: SubscriptionSpy())
    for _ in 0..<2 { second?.receive(completion: .finished) }
    expectEqual(second?.receive(1), Subscribers.Demand.none)
    expectEqual(recorder.events, [.subscription, .completion(.finished)])
  }

  @Test("no value and no end passes after a cancel, in either phase")
  func valuesAfterCancel() {
    for fails in [false, true] {
      var second: AnySubscriber<Int, TestFailure>?
      var first: AnySubscriber<Int, TestFailure>?
      var held: (any Subscription)?
      var values: [Int] = []
      var ends = 0
      TestPublisher<Int, TestFailure>(handingOver: { first = $0 })
        .catch { _ in TestPublisher<Int, TestFailure>(handingOver: { second = $0 }) }
        .subscribe(
          AnySubscriber(
            receiveSubscription: {
              held = $0
              $0.request(.unlimited)
            },
            receiveValue: {
              values.append($0)
              return .none
            },
            receiveCompletion: { _ in ends += 1 }
          )
        )
      first?.receive(subscription: SubscriptionSpy())
      if fails {
        first?.receive(completion: .failure(.expected))
        second?.receive(subscription: SubscriptionSpy())
      }
      held?.cancel()
      let side = fails ? second : first
      expectEqual(side?.receive(1), Subscribers.Demand.none)
      side?.receive(completion: .finished)
      #expect(values == [] && ends == 0)
    }
  }

  @Test("a value beyond the demand stops the process")
  func beyondDemand() async {
    await #expect(processExitsWith: .failure) {
      let upstream = TestPublisher<Int, TestFailure>()
      upstream.catch { _ in TestPublisher<Int, Never>() }.subscribe(Recorder<Int, Never>(requesting: .none))
      upstream.send(1)
    }
  }

  @Test("a second failure of the upstream stops the process")
  func secondUpstreamFailure() async {
    await #expect(processExitsWith: .failure) {
      let upstream = TestPublisher<Int, TestFailure>()
      upstream.catch { _ in TestPublisher<Int, Never>() }.subscribe(Recorder<Int, Never>())
      upstream.send(completion: .failure(.expected))
      upstream.send(completion: .failure(.expected))
    }
  }

  @Test("after the end nobody keeps the subscriber")
  func release() {
    weak var released: Recorder<Int, TestFailure>?
    let subject = PassthroughSubject<Int, TestFailure>()
    let other = PassthroughSubject<Int, TestFailure>()
    do {
      let recorder = Recorder<Int, TestFailure>()
      released = recorder
      subject.catch { _ in other }.subscribe(recorder)
      subject.send(completion: .failure(.expected))
      #expect(released != nil)
      other.send(completion: .finished)
    }
    #expect(released == nil)
  }

  @Test("failure, values, requests and cancellation on different threads keep the laws", arguments: 0..<60)
  func stress(seed: Int) {
    let subject = PassthroughSubject<Int, TestFailure>()
    let other = PassthroughSubject<Int, TestFailure>()
    let keeper = LawKeeper<Int, TestFailure>(answering: seed % 3 == 0 ? .max(1) : .none)
    subject.catch { _ in other }.subscribe(keeper)
    race(
      seed: UInt64(seed),
      [
        { numbers in
          for value in 0..<Int.random(in: 50..<200, using: &numbers) { subject.send(value) }
          subject.send(completion: .failure(.expected))
          for value in 0..<200 { other.send(value) }
          other.send(completion: .finished)
        },
        { numbers in
          for _ in 0..<Int.random(in: 10..<100, using: &numbers) { keeper.request(.max(3)) }
          if seed % 4 == 0 { keeper.cancel() }
        },
      ]
    )
    expectEqual(keeper.breaches, [])
    if seed % 4 != 0 { #expect(keeper.isOver) }
  }

  @Test("after tryCatch has failed with what its handler threw, no value passes")
  func silentAfterThrowing() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, any Error>()
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 })
      .tryCatch { _ -> Just<Int> in throw TestFailure.other }.subscribe(recorder)
    subscriber?.receive(subscription: SubscriptionSpy())
    subscriber?.receive(completion: .failure(.expected))
    expectEqual(subscriber?.receive(1), Subscribers.Demand.none)
    #expect(recorder.values.isEmpty && recorder.completions.count == 1)
  }
}
