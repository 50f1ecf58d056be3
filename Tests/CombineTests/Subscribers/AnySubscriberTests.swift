import Combine
import ReboundTesting
import Testing

@Suite("AnySubscriber")
struct AnySubscriberTests {
  @Test("passes all on, unfiltered, and has the identifier of what is inside")
  func passes() {
    let recorder = Recorder<Int, TestFailure>(answering: { _, _ in .max(2) })
    let erased = AnySubscriber(AnySubscriber(recorder))
    let spy = SubscriptionSpy()
    erased.receive(subscription: spy)
    #expect(erased.receive(1) == .max(2))
    erased.receive(completion: .finished)
    #expect(spy.requests == [.unlimited])
    #expect(recorder.events == [.subscription, .value(1), .completion(.finished)])
    #expect(erased.combineIdentifier == recorder.combineIdentifier)
  }

  @Test("without closures does nothing, and no two are the same")
  func closures() {
    let first = AnySubscriber<Int, TestFailure>()
    first.receive(subscription: SubscriptionSpy())
    #expect(first.receive(1) == .none)
    first.receive(completion: .finished)
    #expect(first.description == "Anonymous AnySubscriber")
    #expect(first.combineIdentifier != AnySubscriber<Int, TestFailure>().combineIdentifier)
  }

  @Test("shows what is inside as it shows itself")
  func reflection() {
    let sink = Subscribers.Sink<Int, Never>(receiveCompletion: { _ in }, receiveValue: { _ in })
    #expect(SelfPortrait(of: AnySubscriber(sink)) == SelfPortrait("Sink", labels: []))
    let subject = PassthroughSubject<Int, Never>()
    #expect(
      SelfPortrait(of: AnySubscriber(subject))
        == SelfPortrait("Subject", labels: ["downstreamSubject", "upstreamSubscription", "subject"])
    )
  }
}
