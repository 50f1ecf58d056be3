import StreamSupport
import Synchronization

/// A subscription that is handed downstream before it has an upstream: what is asked meanwhile waits.
@usableFromInline
class DeferredSubscription: UpstreamSubscription {
  // Guarded by `lock`: asked while waiting for a subscription.
  @exclusivity(unchecked) @usableFromInline var asked = Subscribers.Demand.none

  @usableFromInline
  override init() {}

  /// What was asked before the subscription came, once.
  @usableFromInline
  final func takeAsked() -> Subscribers.Demand {
    lock.lock()
    defer { lock.unlock() }
    let taken = asked
    asked = .none
    return taken
  }

  /// Keeps a subscription, and asks it for what was asked before and for some more; asks nothing for nothing.
  @usableFromInline
  final func hold(_ subscription: any Subscription, askingFor more: Subscribers.Demand) {
    guard hold(subscription) else { return }
    let demand = takeAsked() + more
    if demand != .none { subscription.request(demand) }
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    lock.lock()
    let upstream = upstream
    if phase.load(ordering: .relaxed) == Phase.waiting { asked += demand }
    lock.unlock()
    upstream?.request(demand)
  }

  @usableFromInline
  override func cancel() {
    endForGood()?.cancel()
  }
}
