import Combine

/// A subscription that tells when it is cancelled, and does nothing else.
final class NotedSubscription: Subscription {
  private let whenCancelled: () -> Void

  init(whenCancelled: @escaping () -> Void) {
    self.whenCancelled = whenCancelled
  }

  func request(_ demand: Subscribers.Demand) {}
  func cancel() { whenCancelled() }
}
