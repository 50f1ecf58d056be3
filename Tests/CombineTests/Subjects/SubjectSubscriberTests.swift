import Combine
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
      #expect(subscriber.receive(1) == .none)
      subscriber.receive(completion: .finished)
      for spy in spies { subscriber.receive(subscription: spy) }
      #expect(subscriber.receive(2) == .none)
      subscriber.receive(completion: .failure(.expected))
    }
    #expect(spies.map(\.requests) == [[.unlimited], []])
    #expect(spies[1].cancelCount == 0)
    #expect(recorder.events == [.subscription, .value(2), .completion(.failure(.expected))])
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

    #expect(spy.cancelCount == 1)
    #expect(spy.requests == [])
    #expect(recorder.values == [])
  }
}
