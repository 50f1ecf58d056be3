import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("dropFirst")
struct DropTests {
  @Test("the first values are left out, and asked for in addition in one request")
  func drops() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .max(3), answering: { _, _ in .max(5) })
    upstream.dropFirst(2).subscribe(recorder)
    recorder.request(.max(1))
    expectEqual(upstream.send(1), .none)
    expectEqual(upstream.send(2), .none)
    expectEqual(upstream.send(3), .max(5))
    upstream.send(completion: .failure(.expected))

    expectEqual(upstream.requests, [.max(5), .max(1)])
    expectEqual(recorder.events, [.subscription, .value(3), .completion(.failure(.expected))])
  }

  @Test("without demand the values to leave out are asked for all the same, and nothing if there are none")
  func noDemand() {
    let upstream = TestPublisher<Int, TestFailure>()
    upstream.dropFirst().subscribe(Recorder<Int, TestFailure>(requesting: .none))
    upstream.dropFirst(0).subscribe(Recorder<Int, TestFailure>(requesting: .none))

    expectEqual(upstream.connections.map(\.requests), [[.max(1)], []])
  }

  @Test("a stream shorter than the count has no values, and finishes")
  func shortStream() {
    let recorder = Recorder<Int, Never>(requesting: .max(1))
    [1, 2].publisher.eraseToAnyPublisher().dropFirst(3).subscribe(recorder)

    expectEqual(recorder.events, [.subscription, .completion(.finished)])
  }

  @Test("the subscriber has its subscription before the upstream is subscribed to, and its requests are added up")
  func selfFirst() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2))
    var subscriber: AnySubscriber<Int, TestFailure>?
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).dropFirst().subscribe(recorder)
    expectEqual(recorder.subscriptionCount, 1)
    recorder.request(.max(3))
    let subscription = SubscriptionSpy()
    subscriber?.receive(subscription: subscription)

    expectEqual(subscription.requests, [.max(6)])
  }

  @Test("a cancel before the subscription is forgotten, and so is what was asked for before it")
  func earlyCancel() {
    let recorder = Recorder<Int, TestFailure>()
    var subscriber: AnySubscriber<Int, TestFailure>?
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).dropFirst().subscribe(recorder)
    recorder.cancel()
    let subscription = SubscriptionSpy()
    subscriber?.receive(subscription: subscription)

    expectEqual(subscription.requests, [.max(1)])
    expectEqual(subscription.cancelCount, 0)
  }

  @Test("after a cancel another subscription is taken, and asked for what was asked for since")
  func subscriptionAfterCancel() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2))
    let keeper = Keeper<Int, TestFailure>(recorder)
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).dropFirst().subscribe(keeper)
    let (first, second) = (SubscriptionSpy(), SubscriptionSpy())
    subscriber?.receive(subscription: first)
    keeper.subscription?.cancel()
    keeper.subscription?.request(.max(4))
    subscriber?.receive(subscription: second)

    expectEqual(first.cancelCount, 1)
    expectEqual(second.cancelCount, 0)
    expectEqual(second.requests, [.max(5)])
  }

  @Test("values and ends count in any state, and after an end another subscription is taken")
  func outOfTurn() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    var held: (any Subscription)?
    var events: [String] = []
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).dropFirst(3).subscribe(
      AnySubscriber(
        receiveSubscription: { held = $0 },
        receiveValue: {
          events.append("\($0)")
          return .none
        },
        receiveCompletion: { _ in events.append("end") }
      )
    )
    let (first, second) = (SubscriptionSpy(), SubscriptionSpy())
    _ = subscriber?.receive(1)
    subscriber?.receive(subscription: first)
    _ = subscriber?.receive(2)
    subscriber?.receive(completion: .finished)
    subscriber?.receive(completion: .finished)
    held?.request(.max(4))
    subscriber?.receive(subscription: second)
    _ = subscriber?.receive(3)
    _ = subscriber?.receive(4)

    expectEqual(first.requests, [.max(2)])
    expectEqual(second.requests, [.max(5)])
    expectEqual(events, ["end", "end", "4"])
  }

  @Test("what was asked for before the first subscription is not asked of another")
  func askedOnce() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2))
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).dropFirst(1).subscribe(recorder)
    let (first, second) = (SubscriptionSpy(), SubscriptionSpy())
    subscriber?.receive(subscription: first)
    subscriber?.receive(completion: .finished)
    subscriber?.receive(subscription: second)
    expectEqual(first.requests, [.max(3)])
    expectEqual(second.requests, [.max(1)])
  }

  @Test("publishers of equal parts are equal")
  func equality() {
    typealias Rest = Publishers.Drop<Just<Int>>
    expectEqual(Rest(upstream: Just(1), count: 2), Rest(upstream: Just(1), count: 2))
    #expect(Rest(upstream: Just(1), count: 2) != Rest(upstream: Just(1), count: 3))
  }

  @Test("it holds one subscription, cancels it once and lets go")
  func laws() {
    SubscriptionLaws.check(named: "Drop") { $0.dropFirst(3) }
  }

  @Test("a negative count stops the process at the subscription, and so does a request for no values")
  func traps() async {
    await #expect(processExitsWith: .success) {
      TestPublisher<Int, Never>(handingOver: { _ in }).dropFirst(-1).subscribe(Recorder<Int, Never>())
    }
    await #expect(processExitsWith: .failure) {
      PassthroughSubject<Int, Never>().dropFirst(-1).subscribe(Recorder<Int, Never>())
    }
    await #expect(processExitsWith: .failure) {
      let recorder = Recorder<Int, Never>()
      PassthroughSubject<Int, Never>().dropFirst().subscribe(recorder)
      recorder.request(.none)
    }
  }
}
