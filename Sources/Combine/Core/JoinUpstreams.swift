import StreamSupport
import Synchronization

/// The lives of a fixed number of upstreams that meet in one downstream.
///
/// Values are kept by the subclass, inside the combining lock. Not generic, so that its code exists once.
@usableFromInline
class JoinUpstreams: SerialSubscription {
  private enum Slot {
    case awaited
    case held(SubscriptionBase)
    case over
  }

  // All guarded by `lock`.
  @exclusivity(unchecked) private var slots: ContiguousArray<Slot>
  @exclusivity(unchecked) private var awaitedCount: Int
  @exclusivity(unchecked) private var openCount: Int
  // One bit for each of the first upstreams, as many as a word has; set under `lock`. Spares values the look at the upstreams.
  @usableFromInline let finishedUpstreams = Atomic<UInt>(0)

  @usableFromInline
  init(upstreamCount: Int) {
    slots = ContiguousArray(repeating: .awaited, count: upstreamCount)
    awaitedCount = upstreamCount
    openCount = upstreamCount
  }

  @usableFromInline
  struct Arrival {
    /// Whether no other subscription is awaited.
    @usableFromInline let isLast: Bool
    /// What to ask of an upstream that is asked for one value at a time until there is no limit.
    @usableFromInline let demand: Subscribers.Demand
  }

  /// Keeps the first subscription of an upstream; cancels any other, and one that comes after the end.
  @usableFromInline
  final func hold(_ subscription: consuming SubscriptionBase, at index: Int) -> Arrival? {
    lock.lock()
    guard !outstanding.isClosed, case .awaited = slots[index] else {
      lock.unlock()
      subscription.cancel()
      return nil
    }
    slots[index] = .held(subscription)
    awaitedCount -= 1
    // Read under the lock that `addDemand` takes, so that every upstream learns of unlimited demand once.
    let arrival = Arrival(isLast: awaitedCount == 0, demand: outstanding.isUnlimited ? .unlimited : .max(1))
    lock.unlock()
    return arrival
  }

  /// Notes the end of an upstream, once; false if it was not held.
  @usableFromInline
  final func finishUpstream(_ index: Int) -> Bool {
    lock.lock()
    guard !outstanding.isClosed, case .held(let subscription) = slots[index] else {
      lock.unlock()
      return false
    }
    slots[index] = .over
    openCount -= 1
    finishedUpstreams.store(finishedUpstreams.load(ordering: .relaxed) | 1 << index, ordering: .relaxed)
    lock.unlock()
    withExtendedLifetime(subscription) {}
    return true
  }

  @usableFromInline
  final var isAwaiting: Bool {
    lock.lock()
    defer { lock.unlock() }
    return awaitedCount > 0
  }

  @usableFromInline
  final var areAllOver: Bool {
    lock.lock()
    defer { lock.unlock() }
    return openCount == 0
  }

  /// The subscription of an upstream, while it is held.
  @usableFromInline
  final func held(at index: Int) -> SubscriptionBase? {
    lock.lock()
    defer { lock.unlock() }
    if case .held(let subscription) = slots[index] { return subscription }
    return nil
  }

  /// Requests from all upstreams, in order, but one.
  @usableFromInline
  final func requestFromAll(_ demand: Subscribers.Demand, except index: Int? = nil) {
    lock.lock()
    let subscriptions = heldSubscriptions(except: index)
    lock.unlock()
    for subscription in subscriptions { request(from: subscription, demand) }
  }

  // Called under the lock.
  private func heldSubscriptions(except exception: Int? = nil) -> [SubscriptionBase] {
    slots.indices.compactMap { index in
      if index != exception, case .held(let subscription) = slots[index] { subscription } else { nil }
    }
  }

  /// Owes more.
  ///
  /// The first time that there is no limit, gives the subscriptions of all, which are to be told so.
  @usableFromInline
  final func addDemand(_ demand: Subscribers.Demand) -> [SubscriptionBase] {
    lock.lock()
    defer { lock.unlock() }
    let wasUnlimited = outstanding.isUnlimited
    outstanding.add(demand)
    return outstanding.isUnlimited && !wasUnlimited ? heldSubscriptions() : []
  }

  /// Ends all, and cancels what is still held; says whether it was this call that did.
  @usableFromInline
  final func end() -> Bool {
    lock.lock()
    guard outstanding.close() != nil else {
      lock.unlock()
      return false
    }
    let subscriptions = heldSubscriptions()
    for index in slots.indices { slots[index] = .over }
    lock.unlock()
    for subscription in subscriptions { subscription.cancel() }
    return true
  }

  @usableFromInline
  override final func cancel() {
    // What the subclass keeps goes when nobody is inside.
    if end() { scheduleWork() }
  }

  /// The subscriptions held now, for reflection.
  final var heldSubscriptionsForMirror: [any Subscription] {
    lock.withLock { heldSubscriptions() }.map(\.original)
  }
}
