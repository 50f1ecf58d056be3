import Combine
import ReboundTesting
import Testing

/// What holds for every operator that passes its upstream's own subscription on.
enum PassThroughLaws {
  typealias Upstream = TestPublisher<Int, TestFailure>

  /// Checks the laws on an operator, applied to an upstream by `build`.
  ///
  /// - Parameters:
  ///   - name: what the subscriber that the upstream gets calls itself.
  ///   - inner publishers: the labels in that subscriber's mirror.
  static func check<P: Publisher>(
    named name: String,
    children: [String] = [],
    at location: SourceLocation = #_sourceLocation,
    _ build: (Upstream) -> P
  ) {
    var subscriber: AnySubscriber<Int, TestFailure>?
    var events: [String] = []
    var subscriptions: [any Subscription] = []
    build(Upstream(handingOver: { subscriber = $0 })).subscribe(
      AnySubscriber<P.Output, P.Failure>(
        receiveSubscription: {
          subscriptions.append($0)
          events.append("subscription")
        },
        receiveCompletion: { _ in events.append("end") }
      )
    )
    guard let subscriber else {
      Issue.record("the upstream got no subscriber", sourceLocation: location)
      return
    }
    #expect("\(subscriber)" == name, sourceLocation: location)
    #expect(subscriber.playgroundDescription as? String == name, sourceLocation: location)
    #expect(Mirror(reflecting: subscriber).children.map(\.label) == children, sourceLocation: location)

    subscriber.receive(completion: .finished)
    let (first, second) = (SubscriptionSpy(), SubscriptionSpy())
    subscriber.receive(subscription: first)
    subscriber.receive(subscription: second)
    subscriber.receive(completion: .finished)

    #expect(events == ["end", "subscription", "subscription", "end"], "everything passes", sourceLocation: location)
    #expect(
      subscriptions.map { ObjectIdentifier($0 as AnyObject) } == [first, second].map { ObjectIdentifier($0) },
      "the upstream's own subscriptions go downstream",
      sourceLocation: location
    )
    #expect(first.cancelCount + second.cancelCount == 0, "none is cancelled", sourceLocation: location)
  }
}
