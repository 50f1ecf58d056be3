import Combine

/// The subscriber of one attempt.
///
/// Each attempt has its own, so that whatever a superseded one still sends is known.
@usableFromInline
struct PolicyAttemptSubscriber<Upstream: Publisher, Applied: Policy, Downstream: Subscriber>: Subscriber,
  CustomStringConvertible
where
  Applied.Failure == Upstream.Failure, Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure
{
  @usableFromInline typealias Input = Upstream.Output
  @usableFromInline typealias Failure = Upstream.Failure

  @usableFromInline let number: Int
  @usableFromInline let subscription: PolicySubscription<Upstream, Applied, Downstream>
  @usableFromInline let combineIdentifier = CombineIdentifier()

  @inlinable
  init(_ number: Int, of subscription: PolicySubscription<Upstream, Applied, Downstream>) {
    self.number = number
    self.subscription = subscription
  }

  @usableFromInline var description: String { subscription.description }

  @inlinable
  func receive(subscription upstream: any Subscription) { subscription.receive(upstream, of: number) }

  @inlinable
  func receive(_ input: Input) -> Subscribers.Demand { subscription.receive(input, of: number) }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) { subscription.receive(completion, of: number) }
}
