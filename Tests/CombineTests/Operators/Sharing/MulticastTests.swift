import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("multicast")
struct MulticastTests {
  @Test("one connection serves all who subscribed, and the subject is made once")
  func shares() {
    let upstream = TestPublisher<Int, TestFailure>()
    var subjectCount = 0
    let multicast = upstream.multicast { () -> PassthroughSubject<Int, TestFailure> in
      subjectCount += 1
      return PassthroughSubject()
    }
    let first = Recorder<Int, TestFailure>()
    let second = Recorder<Int, TestFailure>()
    expectEqual(subjectCount, 0)
    multicast.subscribe(first)
    multicast.subscribe(second)
    expectEqual(upstream.subscriptionCount, 0)

    let connection = multicast.connect()
    upstream.send(1)
    upstream.send(completion: .failure(.expected))

    expectEqual(subjectCount, 1)
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(upstream.requests, [.unlimited])
    for recorder in [first, second] {
      expectEqual(recorder.events, [.subscription, .value(1), .completion(.failure(.expected))])
    }
    connection.cancel()
  }

  @Test("a connection ends when its handle goes, and another one may follow")
  func reconnects() {
    let upstream = TestPublisher<Int, Never>()
    let multicast = upstream.multicast(subject: PassthroughSubject())
    let recorder = Recorder<Int, Never>()
    multicast.subscribe(recorder)

    var connection: (any Cancellable)? = multicast.connect()
    upstream.send(1)
    connection = nil
    expectEqual(upstream.cancelCount, 1)
    connection = multicast.connect()
    upstream.send(2)

    expectEqual(recorder.values, [1, 2])
    withExtendedLifetime(connection) {}
  }

  @Test("two connections double the values")
  func connectsTwice() {
    let upstream = TestPublisher<Int, Never>()
    let multicast = upstream.multicast(subject: PassthroughSubject())
    let recorder = Recorder<Int, Never>()
    multicast.subscribe(recorder)
    let connections = [multicast.connect(), multicast.connect()]

    for connection in upstream.connections { connection.send(1) }

    expectEqual(recorder.values, [1, 1])
    for connection in connections { connection.cancel() }
  }

  @Test("demand is kept by the subject for each subscriber, and an answer is a request of its own")
  func demand() {
    let subject = PassthroughSubject<Int, Never>()
    let multicast = Empty<Int>().multicast(subject: subject)
    let recorder = Recorder<Int, Never>(requesting: .max(1), answering: { value, _ in value == 1 ? .max(1) : .none })
    multicast.subscribe(recorder)

    for value in 1...3 { subject.send(value) }
    expectEqual(recorder.values, [1, 2])
    recorder.request(.max(1))
    subject.send(4)

    expectEqual(recorder.values, [1, 2, 4])
  }

  @Test("a cancel from inside a value stops at once, and lets the subscriber go")
  func cancelsInside() {
    let subject = PassthroughSubject<Int, Never>()
    let multicast = Empty<Int>().multicast(subject: subject)
    weak var released: Recorder<Int, Never>?
    do {
      let recorder = Recorder<Int, Never>(answering: { _, recorder in
        recorder.cancel()
        return .max(1)
      })
      released = recorder
      multicast.subscribe(recorder)
      subject.send(1)
      subject.send(2)
      expectEqual(recorder.values, [1])
    }

    #expect(released == nil)
  }

  @Test("a connection makes the subject if no subscriber has, and who subscribes later uses the same")
  func connectsFirst() {
    let upstream = TestPublisher<Int, Never>()
    var subjectCount = 0
    let multicast = upstream.multicast { () -> PassthroughSubject<Int, Never> in
      subjectCount += 1
      return PassthroughSubject()
    }
    let connection = multicast.connect()
    expectEqual(subjectCount, 1)
    let recorder = Recorder<Int, Never>()
    multicast.subscribe(recorder)
    upstream.send(1)
    expectEqual(subjectCount, 1)
    expectEqual(recorder.values, [1])
    connection.cancel()
  }

  /// A subject that hands out the subscription that it is given.
  private final class Lending: Subject {
    typealias Output = Int
    typealias Failure = Never
    let spy: SubscriptionSpy
    init(_ spy: SubscriptionSpy) { self.spy = spy }

    func send(subscription: any Subscription) {}
    func send(_ value: Int) {}
    func send(completion: Subscribers.Completion<Never>) {}
    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
      subscriber.receive(subscription: spy)
    }
  }

  @Test("requests reach the subject as they are, also those for nothing")
  func requestsAsTheyAre() {
    let spy = SubscriptionSpy()
    let subscription = Empty<Int>().multicast(subject: Lending(spy)).subscriptionForTesting()
    subscription?.request(.none)
    subscription?.request(.max(2))
    expectEqual(spy.requests, [.none, .max(2)])
  }

  @Test("a connection after the end of the subject brings nothing")
  func reconnectsAfterEnd() {
    let upstream = TestPublisher<Int, Never>()
    let multicast = upstream.multicast(subject: PassthroughSubject())
    let recorder = Recorder<Int, Never>()
    multicast.subscribe(recorder)
    var connection = multicast.connect()
    upstream.send(completion: .finished)
    connection = multicast.connect()
    upstream.send(1)
    expectEqual(recorder.events, [.subscription, .completion(.finished)])
    connection.cancel()
  }

  /// A subject that shows the subscriber that it gets.
  private final class Showing: Subject {
    typealias Output = Int
    typealias Failure = Never

    var subscriber: AnySubscriber<Int, Never>?

    func send(subscription: any Subscription) {}
    func send(_ value: Int) {}
    func send(completion: Subscribers.Completion<Never>) {}
    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
      self.subscriber = AnySubscriber(subscriber)
    }
  }

  @Test("what a value is answered with is a request to the subject, and the subject's value gets no answer")
  func answers() {
    let subject = Showing()
    let spy = SubscriptionSpy()
    let recorder = Recorder<Int, Never>(requesting: .max(1), answering: { value, _ in value == 1 ? .max(4) : .none })
    Empty<Int>().multicast(subject: subject).subscribe(recorder)
    subject.subscriber?.receive(subscription: spy)
    expectEqual(subject.subscriber?.receive(1), Subscribers.Demand.none)
    expectEqual(subject.subscriber?.receive(2), Subscribers.Demand.none)
    expectEqual(spy.requests, [.max(1), .max(4)])
    subject.subscriber?.receive(completion: .finished)
    subject.subscriber?.receive(completion: .finished)
    expectEqual(subject.subscriber?.receive(3), Subscribers.Demand.none)
    expectEqual(recorder.events, [.subscription, .value(1), .value(2), .completion(.finished)])
  }

  @Test("who comes after the end gets a subscription and the end")
  func late() {
    let subject = PassthroughSubject<Int, TestFailure>()
    let multicast = TestPublisher<Int, TestFailure>().multicast(subject: subject)
    subject.send(completion: .failure(.expected))
    let recorder = Recorder<Int, TestFailure>()

    multicast.subscribe(recorder)

    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("events that the subject should not send are not passed on")
  func misbehavingSubject() {
    let subject = PassthroughSubject<Int, Never>()
    let multicast = Empty<Int>().multicast(subject: subject)
    var conduit: (any Subscription)?
    multicast.subscribe(AnySubscriber(receiveSubscription: { conduit = $0 }))

    expectEqual(conduit.map { "\($0)" }, "Multicast")
    expectEqual(conduit.map { Mirror(reflecting: $0).children.count }, 0)
    conduit?.cancel()
    conduit?.cancel()
    conduit?.request(.max(1))
    subject.send(1)
  }
}

/// A publisher that does nothing.
private struct Empty<Output>: Publisher {
  typealias Failure = Never

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {}
}
