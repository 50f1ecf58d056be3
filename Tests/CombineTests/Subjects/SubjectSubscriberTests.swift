import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("A subject that subscribes")
struct SubjectSubscriberTests {
  @Test("ignores what comes before the subscription and a second one, and does not keep its subject")
  func laws() {
    let recorder = Recorder<Int, TestFailure>()
    let spies = [SubscriptionSpy(), SubscriptionSpy()]
    weak var released: PassthroughSubject<Int, TestFailure>?
    let subscriber: AnySubscriber<Int, TestFailure>
    do {
      let subject = PassthroughSubject<Int, TestFailure>()
      released = subject
      subject.subscribe(recorder)
      subscriber = AnySubscriber(subject)
      expectEqual(subscriber.receive(1), .none)
      subscriber.receive(completion: .finished)
      for spy in spies { subscriber.receive(subscription: spy) }
      expectEqual(subscriber.receive(2), .none)
      subscriber.receive(completion: .failure(.expected))
    }
    expectEqual(spies.map(\.requests), [[.unlimited], []])
    expectEqual(spies[1].cancelCount, 0)
    expectEqual(recorder.events, [.subscription, .value(2), .completion(.failure(.expected))])
    #expect(released == nil)
  }

  @Test("cancels a subscription that comes after the cancel")
  func cancelBeforeSubscription() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>()
    let subject = PassthroughSubject<Int, TestFailure>()
    subject.subscribe(recorder)
    let connection = TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).subscribe(subject)
    let spy = SubscriptionSpy()
    connection.cancel()
    subscriber?.receive(subscription: spy)
    _ = subscriber?.receive(1)

    expectEqual(spy.cancelCount, 1)
    expectEqual(spy.requests, [])
    expectEqual(recorder.values, [])
  }

  /// A subject that keeps what it is sent.
  private final class Keeping: Subject {
    typealias Output = Int
    typealias Failure = TestFailure
    var subscriptions: [any Subscription] = []
    var log: [String] = []

    func send(subscription: any Subscription) { subscriptions.append(subscription) }
    func send(_ value: Int) { log.append("\(value)") }
    func send(completion: Subscribers.Completion<TestFailure>) { log.append("end") }
    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == TestFailure {}
  }

  @Test("sends its subject a subscription, which passes requests of any size on, until it is over")
  func subscription() throws {
    let upstream = TestPublisher<Int, TestFailure>()
    let subject = Keeping()
    let handle = upstream.subscribe(subject)
    let subscription = try #require(subject.subscriptions.first)
    expectEqual("\(subscription)", "Subject")
    expectEqual(upstream.requests, [])
    subscription.request(.none)
    subscription.request(.max(2))
    expectEqual(upstream.requests, [.none, .max(2)])
    expectEqual(upstream.send(1), Subscribers.Demand.none)

    subscription.cancel()
    subscription.cancel()
    subscription.request(.max(1))
    upstream.send(2)
    upstream.send(completion: .finished)
    expectEqual(upstream.requests, [.none, .max(2)])
    expectEqual(upstream.cancelCount, 1)
    expectEqual(subject.log, ["1"])
    handle.cancel()
  }

  @Test("passes the end on once, and lets go of its subject and its subscription")
  func end() {
    let subject = Keeping()
    let subscriber = AnySubscriber<Int, TestFailure>(subject)
    weak var released: SubscriptionSpy?
    do {
      let subscription = SubscriptionSpy()
      released = subscription
      subscriber.receive(subscription: subscription)
    }
    #expect(released != nil)
    #expect(toldChild("subject", of: subscriber) as? Keeping === subject)
    #expect(toldChild("downstreamSubject", of: subscriber) as? Keeping === subject)
    #expect(toldChild("upstreamSubscription", of: subscriber) as? SubscriptionSpy === released)
    for _ in 0..<2 { subscriber.receive(completion: .failure(.expected)) }
    expectEqual(subject.log, ["end"])
    #expect(released == nil)
    expectEqual(Mirror(reflecting: subscriber).children.map { "\($0.value)" }, ["nil", "nil", "nil"])
  }

  @Test("lets go of its subscription on a cancel")
  func releaseOnCancel() {
    let subject = Keeping()
    weak var released: SubscriptionSpy?
    var subscriber: AnySubscriber<Int, TestFailure>?
    let handle = TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).subscribe(subject)
    do {
      let subscription = SubscriptionSpy()
      released = subscription
      subscriber?.receive(subscription: subscription)
    }
    #expect(released != nil)
    handle.cancel()
    #expect(released == nil)
    withExtendedLifetime(subscriber) {}
  }

  @Test("is forgotten by its subject some time after a cancel, and not before")
  func forgetsCancelled() {
    let publisher = CensusPublisher(Empty(completeImmediately: false))
    let subject = CurrentValueSubject<Int, Never>(0)
    let handles = (0..<100).map { _ in publisher.subscribe(subject) }
    expectEqual(publisher.livingCount, 100)
    for handle in handles { handle.cancel() }
    for _ in 0..<200 { publisher.subscribe(subject).cancel() }
    // The handles let go of what they have cancelled.
    #expect(publisher.livingCount <= 100)
  }

  @Test("does not keep its subject while the upstream sends", arguments: [true, false])
  func weakSubject(isPassthrough: Bool) {
    weak var released: AnyObject?
    let upstream = TestPublisher<Int, TestFailure>()
    let handle: AnyCancellable
    do {
      if isPassthrough {
        let subject = PassthroughSubject<Int, TestFailure>()
        released = subject
        handle = upstream.subscribe(subject)
      } else {
        let subject = CurrentValueSubject<Int, TestFailure>(0)
        released = subject
        handle = upstream.subscribe(subject)
      }
      upstream.send(1)
    }
    #expect(released == nil)
    // A subject that goes cancels what it was sent.
    expectEqual(upstream.cancelCount, 1)
    handle.cancel()
  }
}
