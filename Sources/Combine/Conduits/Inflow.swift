import StreamSupport

/// The upstream subscriptions that a subject was sent, which it keeps and cancels when it goes.
@usableFromInline
final class Inflow {
  private let lock = Lock()
  // Guarded by `lock`.
  @exclusivity(unchecked) private var subscriptions: [any Subscription] = []
  @exclusivity(unchecked) private var hasStarted: Bool

  @usableFromInline
  init(startsAtOnce: Bool) {
    hasStarted = startsAtOnce
  }

  deinit {
    for subscription in subscriptions { subscription.cancel() }
  }

  /// Keeps a subscription, and asks it for everything if the subject's values are wanted already.
  @usableFromInline
  func add(_ subscription: any Subscription) {
    lock.lock()
    subscriptions.append(subscription)
    let isWanted = hasStarted
    lock.unlock()
    if isWanted { subscription.request(.unlimited) }
  }

  /// Asks all subscriptions for everything, the first time.
  @usableFromInline
  func start() {
    lock.lock()
    let waiting = hasStarted ? [] : subscriptions
    hasStarted = true
    lock.unlock()
    for subscription in waiting { subscription.request(.unlimited) }
  }
}
