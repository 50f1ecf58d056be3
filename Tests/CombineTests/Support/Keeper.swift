import Combine

/// A subscriber that passes everything on but the subscription, which it keeps for the test.
final class Keeper<Input, Failure: Error>: Subscriber {
  private let downstream: AnySubscriber<Input, Failure>
  var subscription: (any Subscription)?

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
