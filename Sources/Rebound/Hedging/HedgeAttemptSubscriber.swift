import Combine

/// The subscriber of one attempt.
@usableFromInline
struct HedgeAttemptSubscriber<Upstream: Publisher, Downstream: Subscriber>: Subscriber, CustomStringConvertible
where Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure {
  @usableFromInline typealias Input = Upstream.Output
  @usableFromInline typealias Failure = Upstream.Failure

  @usableFromInline let hedge: Int
  @usableFromInline let subscription: HedgeSubscription<Upstream, Downstream>
  @usableFromInline let combineIdentifier = CombineIdentifier()

  @inlinable
  init(_ hedge: Int, of subscription: HedgeSubscription<Upstream, Downstream>) {
    self.hedge = hedge
    self.subscription = subscription
  }

  @usableFromInline var description: String { "Hedged" }

  @inlinable
  func receive(subscription upstream: any Subscription) { subscription.receive(upstream, of: hedge) }

  @inlinable
  func receive(_ input: Upstream.Output) -> Subscribers.Demand { subscription.receive(input, of: hedge) }

  @inlinable
  func receive(completion: Subscribers.Completion<Upstream.Failure>) {
    subscription.receive(completion, of: hedge)
  }
}
