/// The connection of one subscriber to one publisher.
///
/// Cancelling it frees what it holds; it can be used once.
public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
  /// Tells the publisher that it may send `demand` values more. May be called from any thread, also while receiving.
  func request(_ demand: Subscribers.Demand)
}

/// A namespace for symbols related to subscriptions.
public enum Subscriptions {}

extension Subscriptions {
  /// A subscription that ignores requests and cancellation, for publishers with nothing (more) to send.
  ///
  /// Always the same object.
  public static var empty: any Subscription { EmptySubscription.shared }
}

/// A subscription to a publisher with nothing (more) to send.
@usableFromInline
final class EmptySubscription: SubscriptionBase, ReflectedSubscription {
  // It has no state.
  @usableFromInline nonisolated(unsafe) static let shared = EmptySubscription()

  @usableFromInline override var name: String { "Empty" }
}
