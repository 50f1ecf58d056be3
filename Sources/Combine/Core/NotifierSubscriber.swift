import StreamSupport

/// An operator that listens to a notifier: another publisher, beside the upstream that its values come from.
@usableFromInline
protocol Notified: Subscription {
  associatedtype NotifierFailure: Error

  /// What Apple's Combine calls the operator.
  var name: String { get }

  /// Holds the subscription to the notifier.
  var notifier: UpstreamSubscription { get }

  /// Called at most once, when the notifier publishes something.
  func notify()

  /// Called at most once, when the notifier ends without having published anything.
  func notifierEnded(_ completion: Subscribers.Completion<NotifierFailure>)
}

/// Waits for one value of a notifier, and tells its operator.
///
/// As soon as it has told it, it lets go of the operator and cancels the notifier's subscription. Apple's Combine only lets go of
/// that, so it stays with a notifier that lives on.
@usableFromInline
final class NotifierSubscriber<Input, Parent: Notified>: Subscriber, CustomStringConvertible, CustomReflectable,
  CustomPlaygroundDisplayConvertible
{
  @usableFromInline typealias Failure = Parent.NotifierFailure

  /// That of the operator.
  @usableFromInline let combineIdentifier: CombineIdentifier

  private let lock = Lock()
  // Guarded by `lock`.
  @exclusivity(unchecked) private var parent: Parent?

  @usableFromInline
  init(to parent: Parent) {
    self.parent = parent
    combineIdentifier = parent.combineIdentifier
  }

  @usableFromInline
  func receive(subscription: any Subscription) {
    guard let parent = lock.withLock({ self.parent }) else {
      subscription.cancel()
      return
    }
    if parent.notifier.hold(subscription) { subscription.request(.max(1)) }
  }

  @usableFromInline
  func receive(_ input: Input) -> Subscribers.Demand {
    tell { parent, subscription in
      // A notifier may live on, and be used again and again: what has fired must not stay with it.
      subscription?.cancel()
      parent.notify()
    }
    return .none
  }

  @usableFromInline
  func receive(completion: Subscribers.Completion<Failure>) {
    tell { parent, _ in parent.notifierEnded(completion) }
  }

  private func tell(_ event: (Parent, SubscriptionBase?) -> Void) {
    lock.lock()
    // Only a notifier that is held may notify; an operator that is over has let go of it.
    guard let parent, parent.notifier.isHolding else {
      lock.unlock()
      return
    }
    self.parent = nil
    lock.unlock()
    event(parent, parent.notifier.end())
  }

  // MARK: Reflection

  @usableFromInline var description: String { lock.withLock { parent }?.name ?? "\(type(of: self))" }
  @usableFromInline var playgroundDescription: Any { description }
  @usableFromInline var customMirror: Mirror { Mirror(self, children: [:]) }
}
