import Combine

/// A subscriber that keeps the subscription for the test, asks for nothing, and passes everything else on.
final class Keeper<Input, Failure: Error>: Subscriber {
  private let downstream: AnySubscriber<Input, Failure>
  var subscription: (any Subscription)?

  /// Passes it on to nobody.
  init() {
    downstream = AnySubscriber()
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
