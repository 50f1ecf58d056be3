import Expectations
import ReboundTesting
import Testing

@testable import Combine

@Suite("AnySubscriber")
struct AnySubscriberTests {
  @Test("passes all on, unfiltered, and has the identifier of what is inside")
  func passes() {
    let recorder = Recorder<Int, TestFailure>(answering: { _, _ in .max(2) })
    let erased = AnySubscriber(AnySubscriber(recorder))
    let spy = SubscriptionSpy()
    erased.receive(subscription: spy)
    expectEqual(erased.receive(1), .max(2))
    erased.receive(completion: .finished)
    expectEqual(spy.requests, [.unlimited])
    expectEqual(recorder.events, [.subscription, .value(1), .completion(.finished)])
    expectEqual(erased.combineIdentifier, recorder.combineIdentifier)
  }

  @Test("erased again it is the same, without one more layer")
  func erasedTwice() {
    let once = AnySubscriber(Recorder<Int, TestFailure>())
    #expect(AnySubscriber(once).erased === once.erased)
  }

  @Test("without closures does nothing, and no two are the same")
  func closures() {
    let first = AnySubscriber<Int, TestFailure>()
    first.receive(subscription: SubscriptionSpy())
    expectEqual(first.receive(1), .none)
    first.receive(completion: .finished)
    expectEqual(first.description, "Anonymous AnySubscriber")
    #expect(first.combineIdentifier != AnySubscriber<Int, TestFailure>().combineIdentifier)
  }

  @Test("shows what is inside as it shows itself")
  func reflection() {
    let sink = Subscribers.Sink<Int, Never>(receiveCompletion: { _ in }, receiveValue: { _ in })
    expectEqual(SelfPortrait(of: AnySubscriber(sink)), SelfPortrait("Sink", labels: []))
    let subject = PassthroughSubject<Int, Never>()
    expectEqual(
      SelfPortrait(of: AnySubscriber(subject)),
      SelfPortrait("Subject", labels: ["downstreamSubject", "upstreamSubscription", "subject"])
    )
  }

  @Test("shows the type of what has no form of its own, and asks each time")
  func reflectionOfPlain() {
    final class Plain: Subscriber {
      func receive(subscription: any Subscription) {}
      func receive(_ input: Int) -> Subscribers.Demand { .none }
      func receive(completion: Subscribers.Completion<Never>) {}
    }
    expectEqual(SelfPortrait(of: AnySubscriber(Plain())), SelfPortrait("Plain", labels: []))

    final class Named: Subscriber, CustomStringConvertible {
      var description = "before"
      func receive(subscription: any Subscription) {}
      func receive(_ input: Int) -> Subscribers.Demand { .none }
      func receive(completion: Subscribers.Completion<Never>) {}
    }
    let named = Named()
    let erased = AnySubscriber(named)
    expectEqual(SelfPortrait(of: erased), SelfPortrait("before", labels: []))
    named.description = "after"
    expectEqual(SelfPortrait(of: erased), SelfPortrait("after", labels: []))
  }

  @Test("in a playground shows what the one inside shows there, though that describes itself otherwise")
  func playgrounds() {
    final class Drawn: Subscriber, CustomStringConvertible, CustomPlaygroundDisplayConvertible {
      var description: String { "text" }
      var playgroundDescription: Any { 7 }
      func receive(subscription: any Subscription) {}
      func receive(_ input: Int) -> Subscribers.Demand { .none }
      func receive(completion: Subscribers.Completion<Never>) {}
    }
    let erased = AnySubscriber(Drawn())
    expectEqual(erased.description, "text")
    expectEqual(erased.playgroundDescription as? Int, 7)
  }

  @Test("of closures, shows the mirror of its name")
  func reflectionOfClosures() {
    let subscriber = AnySubscriber<Int, Never>()
    expectEqual(subscriber.playgroundDescription as? String, "Anonymous AnySubscriber")
    let subjectType = subscriber.customMirror.subjectType
    #expect(subjectType is String.Type)
    #expect(subscriber.customMirror.children.isEmpty)
  }
}
