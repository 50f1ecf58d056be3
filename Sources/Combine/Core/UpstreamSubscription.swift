import StreamSupport
import Synchronization

/// The life of one upstream subscription: awaited, held, over.
///
/// The base of every operator that is a subscription of its own. Values pay one atomic load to learn whether the
/// subscription is held; the lock serves the transitions only. Not generic, so that its code exists once.
@usableFromInline
class UpstreamSubscription: SubscriptionBase, ReflectedSubscription {
  @usableFromInline
  enum Phase {
    @usableFromInline static let waiting: UInt8 = 0
    @usableFromInline static let holding: UInt8 = 1
    @usableFromInline static let over: UInt8 = 2
  }

  @usableFromInline let phase = Atomic<UInt8>(Phase.waiting)
  @usableFromInline let lock = Lock()
  // Guarded by `lock`, like all changes of `phase`.
  @exclusivity(unchecked) @usableFromInline var upstream: SubscriptionBase?

  @usableFromInline
  override init() {}

  @inlinable
  final var isWaiting: Bool { phase.load(ordering: .relaxed) == Phase.waiting }

  @inlinable
  final var isHolding: Bool { phase.load(ordering: .relaxed) == Phase.holding }

  @inlinable
  final var isOver: Bool { phase.load(ordering: .relaxed) == Phase.over }

  /// Keeps the first subscription, and says whether it was that.
  ///
  /// Cancels any other, and one that comes after the end.
  @inlinable @inline(__always)
  final func hold(_ subscription: any Subscription) -> Bool {
    hold(subscription.asBase)
  }

  /// Keeps the first subscription, and says whether it was that.
  ///
  /// Cancels any other, and one that comes after the end.
  @usableFromInline
  final func hold(_ subscription: consuming SubscriptionBase) -> Bool {
    lock.lock()
    guard phase.load(ordering: .relaxed) == Phase.waiting else {
      lock.unlock()
      subscription.cancel()
      return false
    }
    upstream = subscription
    phase.store(Phase.holding, ordering: .releasing)
    lock.unlock()
    return true
  }

  /// Ends it, and hands the subscription to the one caller who ended it while it was held.
  @usableFromInline
  final func end() -> SubscriptionBase? {
    lock.lock()
    defer { lock.unlock() }
    guard phase.load(ordering: .relaxed) == Phase.holding else { return nil }
    phase.store(Phase.over, ordering: .releasing)
    let subscription = upstream
    upstream = nil
    return subscription
  }

  /// Ends it even if no subscription has come yet; a later one will be cancelled.
  @usableFromInline
  final func endForGood() -> SubscriptionBase? {
    conclude()?.upstream
  }

  /// The end, as it happens once.
  @usableFromInline
  struct Ending {
    /// The subscription, if it was held.
    @usableFromInline let upstream: SubscriptionBase?

    @usableFromInline
    init(upstream: SubscriptionBase?) {
      self.upstream = upstream
    }
  }

  /// Ends it even if no subscription has come yet, and tells so the one caller who ended it.
  @usableFromInline
  final func conclude() -> Ending? {
    lock.lock()
    defer { lock.unlock() }
    guard phase.load(ordering: .relaxed) != Phase.over else { return nil }
    phase.store(Phase.over, ordering: .releasing)
    let subscription = upstream
    upstream = nil
    return Ending(upstream: subscription)
  }

  /// Lets go of the subscription, and takes another.
  @usableFromInline
  final func waitForAnother() -> SubscriptionBase? {
    lock.lock()
    defer { lock.unlock() }
    guard phase.load(ordering: .relaxed) == Phase.holding else { return nil }
    phase.store(Phase.waiting, ordering: .releasing)
    let subscription = upstream
    upstream = nil
    return subscription
  }

  /// The subscription, while it is held.
  @usableFromInline
  final var held: SubscriptionBase? {
    lock.lock()
    defer { lock.unlock() }
    return upstream
  }

  @usableFromInline override func request(_ demand: Subscribers.Demand) { held?.request(demand) }
  @usableFromInline override func cancel() { end()?.cancel() }

  // MARK: Reflection

  /// The phase in words.
  @usableFromInline
  final var status: String {
    switch phase.load(ordering: .relaxed) {
    case Phase.waiting: "awaiting subscription"
    case Phase.holding: "subscribed"
    default: "terminal"
    }
  }

}
