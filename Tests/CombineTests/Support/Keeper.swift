import Combine
import Testing

/// A subscriber that keeps the subscription for the test, asks for nothing, and passes everything else on.
final class Keeper<Input, Failure: Error>: Subscriber {
  private let downstream: AnySubscriber<Input, Failure>
  var subscription: (any Subscription)?

  /// Passes it on to nobody.
  init() {
    downstream = AnySubscriber()
  }

  /// Subscribes, and passes it on to nobody.
  convenience init(of publisher: some Publisher<Input, Failure>) {
    self.init()
    publisher.subscribe(self)
  }

  init(_ downstream: some Subscriber<Input, Failure>) {
    self.downstream = AnySubscriber(downstream)
  }

  func receive(subscription: any Subscription) {
    self.subscription = subscription
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    downstream.receive(input)
  }

  func receive(completion: Subscribers.Completion<Failure>) {
    downstream.receive(completion: completion)
  }
}

/// Expects that nothing is left of the subscription of one who has cancelled, while the publisher lives.
func expectNothingKeptOfWhoCancels(
  _ publisher: some Publisher,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  let keeper = Keeper(of: publisher)
  weak var left: AnyObject?
  do {
    let subscription = keeper.subscription
    left = subscription as AnyObject
    subscription?.cancel()
  }
  #expect(left != nil, sourceLocation: sourceLocation)
  keeper.subscription = nil
  withExtendedLifetime(publisher) {
    #expect(left == nil, sourceLocation: sourceLocation)
  }
}
