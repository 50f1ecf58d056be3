import StreamSupport
import Synchronization

/// The lives of an outer upstream and of the inner ones that it brought, any number at a time.
///
/// Not generic, so that its code exists once; ``FlatMapSubscriber`` adds the values.
@usableFromInline
class InnerSubscriptions: SerialSubscription {
  /// Tells a inner publisher from all others, also from one that had the same place before.
  @frozen
  @usableFromInline
  struct InnerID {
    @usableFromInline let index: Int
    @usableFromInline let serial: Int
  }

  private struct ListedSubscription {
    // 0 while the place is free.
    var serial = 0
    var subscription: SubscriptionBase?
  }

  // All guarded by `lock`.
  @exclusivity(unchecked) private var outer: SubscriptionBase?
  @exclusivity(unchecked) private var places: ContiguousArray<ListedSubscription> = []
  @exclusivity(unchecked) private var freePlaces: ContiguousArray<Int> = []
  @exclusivity(unchecked) private var lastSerial = 0
  @exclusivity(unchecked) private var innerCount = 0
  // Set under `lock`.
  @usableFromInline let hasOuterCome = Atomic<Bool>(false)
  @usableFromInline let isOuterOver = Atomic<Bool>(false)

  /// Keeps the outer subscription, if it is the first and comes in time.
  @usableFromInline
  final func holdOuter(_ subscription: consuming SubscriptionBase) -> Bool {
    lock.lock()
    guard !outstanding.isClosed, !hasOuterCome.load(ordering: .relaxed) else {
      lock.unlock()
      subscription.cancel()
      return false
    }
    hasOuterCome.store(true, ordering: .relaxed)
    outer = subscription
    lock.unlock()
    return true
  }

  /// Notes the end of the outer upstream, once.
  @usableFromInline
  final func finishOuter() -> Bool {
    lock.lock()
    guard !outstanding.isClosed, !isOuterOver.load(ordering: .relaxed) else {
      lock.unlock()
      return false
    }
    let over = outer
    outer = nil
    isOuterOver.store(true, ordering: .releasing)
    lock.unlock()
    withExtendedLifetime(over) {}
    return true
  }

  /// The outer subscription, while it is held.
  @usableFromInline
  final var heldOuter: SubscriptionBase? {
    lock.lock()
    defer { lock.unlock() }
    return outer
  }

  /// Makes a place for a inner publisher that is about to be subscribed to; nil after the end.
  @usableFromInline
  final func admitInner() -> InnerID? {
    lock.lock()
    defer { lock.unlock() }
    guard !outstanding.isClosed else { return nil }
    lastSerial += 1
    innerCount += 1
    let index = freePlaces.popLast() ?? places.count
    if index == places.count { places.append(ListedSubscription()) }
    places[index].serial = lastSerial
    return InnerID(index: index, serial: lastSerial)
  }

  /// Keeps a inner publisher's subscription, if it is the first and comes in time, and says how much to ask of it.
  @usableFromInline
  final func hold(_ subscription: consuming SubscriptionBase, of child: InnerID) -> Subscribers.Demand? {
    lock.lock()
    guard !outstanding.isClosed, isPresent(child), places[child.index].subscription == nil else {
      lock.unlock()
      subscription.cancel()
      return nil
    }
    places[child.index].subscription = subscription
    // Read under the lock that `addDemand` takes, so that every inner publisher learns of unlimited demand once.
    let demand: Subscribers.Demand = outstanding.isUnlimited ? .unlimited : .max(1)
    lock.unlock()
    return demand
  }

  /// Takes a inner publisher out; false if it is out already.
  @usableFromInline
  final func removeInner(_ child: InnerID) -> Bool {
    lock.lock()
    guard isPresent(child) else {
      lock.unlock()
      return false
    }
    let subscription = places[child.index].subscription
    places[child.index] = ListedSubscription()
    freePlaces.append(child.index)
    innerCount -= 1
    lock.unlock()
    withExtendedLifetime(subscription) {}
    return true
  }

  private func isPresent(_ child: InnerID) -> Bool {
    places.indices.contains(child.index) && places[child.index].serial == child.serial
  }

  @usableFromInline
  final func subscription(of child: InnerID) -> SubscriptionBase? {
    lock.lock()
    defer { lock.unlock() }
    return isPresent(child) ? places[child.index].subscription : nil
  }

  @usableFromInline
  final var isExhausted: Bool {
    lock.lock()
    defer { lock.unlock() }
    return innerCount == 0 && isOuterOver.load(ordering: .relaxed)
  }

  /// Adds to what is owed.
  ///
  /// The first time that there is no limit, gives all inner publishers's subscriptions, which are to be told so.
  @usableFromInline
  final func addDemand(_ demand: Subscribers.Demand) -> [SubscriptionBase] {
    lock.lock()
    defer { lock.unlock() }
    let wasUnlimited = outstanding.isUnlimited
    outstanding.add(demand)
    return outstanding.isUnlimited && !wasUnlimited ? places.compactMap(\.subscription) : []
  }

  /// Ends everything, and gives the subscriptions to the one caller who did.
  @usableFromInline
  final func end() -> (children: [SubscriptionBase], outer: SubscriptionBase?)? {
    lock.lock()
    defer { lock.unlock() }
    guard outstanding.close() != nil else { return nil }
    let held = (places.compactMap(\.subscription), outer)
    places = []
    freePlaces = []
    outer = nil
    return held
  }
}
