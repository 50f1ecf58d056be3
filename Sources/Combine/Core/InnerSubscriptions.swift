import StreamSupport
import Synchronization

/// The subscriptions to an outer upstream and to the inner publishers that it brought, any number at a time.
///
/// What is outstanding downstream is the owner's: it is looked at and raised under the lock here, so that every inner
/// publisher learns of the end, and of unlimited demand, once.
@usableFromInline
struct InnerSubscriptions: ~Copyable {
  /// Tells an inner publisher from all others, also from one that had the same slot before.
  @frozen
  @usableFromInline
  struct InnerID {
    @usableFromInline let index: Int
    @usableFromInline let serial: Int
  }

  struct Slot {
    // 0 while the slot is free.
    var serial = 0
    var subscription: SubscriptionBase?
  }

  struct State {
    var outer: SubscriptionBase?
    var slots: ContiguousArray<Slot> = []
    var freeSlots: ContiguousArray<Int> = []
    var lastSerial = 0
    var count = 0

    func has(_ inner: InnerID) -> Bool {
      slots.indices.contains(inner.index) && slots[inner.index].serial == inner.serial
    }
  }

  let state = Locked(State())
  // Both set under the lock.
  @usableFromInline let hasOuterCome = Atomic<Bool>(false)
  @usableFromInline let isOuterOver = Atomic<Bool>(false)

  @usableFromInline
  init() {}

  /// Keeps the outer subscription, if it is the first and comes in time.
  @usableFromInline
  func holdOuter(_ subscription: SubscriptionBase, _ outstanding: borrowing DemandCounter) -> Bool {
    let isKept = state.withLock { state in
      guard !outstanding.isClosed, !hasOuterCome.load(ordering: .relaxed) else { return false }
      hasOuterCome.store(true, ordering: .relaxed)
      state.outer = subscription
      return true
    }
    if !isKept { subscription.cancel() }
    return isKept
  }

  /// Notes the end of the outer upstream, once.
  @usableFromInline
  func finishOuter(_ outstanding: borrowing DemandCounter) -> Bool {
    var over: SubscriptionBase?
    let isFirst = state.withLock { state in
      guard !outstanding.isClosed, !isOuterOver.load(ordering: .relaxed) else { return false }
      over = state.outer.take()
      isOuterOver.store(true, ordering: .releasing)
      return true
    }
    withExtendedLifetime(over) {}
    return isFirst
  }

  /// The outer subscription, while it is held.
  @usableFromInline
  var outer: SubscriptionBase? { state.withLock { $0.outer } }

  /// Makes a slot for an inner publisher that is about to be subscribed to; nil after the end.
  @usableFromInline
  func admit(_ outstanding: borrowing DemandCounter) -> InnerID? {
    state.withLock { state in
      guard !outstanding.isClosed else { return nil }
      state.lastSerial += 1
      state.count += 1
      let index = state.freeSlots.popLast() ?? state.slots.count
      if index == state.slots.count { state.slots.append(Slot()) }
      state.slots[index].serial = state.lastSerial
      return InnerID(index: index, serial: state.lastSerial)
    }
  }

  /// Keeps the subscription of an inner publisher, if it is the first and comes in time, and says how much to ask of it.
  @usableFromInline
  func hold(
    _ subscription: SubscriptionBase,
    of inner: InnerID,
    _ outstanding: borrowing DemandCounter
  ) -> Subscribers.Demand? {
    let demand = state.withLock { state -> Subscribers.Demand? in
      guard !outstanding.isClosed, state.has(inner), state.slots[inner.index].subscription == nil else { return nil }
      state.slots[inner.index].subscription = subscription
      return outstanding.isUnlimited ? .unlimited : .max(1)
    }
    if demand == nil { subscription.cancel() }
    return demand
  }

  /// Takes an inner publisher out; false if it is out already.
  @usableFromInline
  func remove(_ inner: InnerID) -> Bool {
    var over: SubscriptionBase?
    let isRemoved = state.withLock { state in
      guard state.has(inner) else { return false }
      over = state.slots[inner.index].subscription
      state.slots[inner.index] = Slot()
      state.freeSlots.append(inner.index)
      state.count -= 1
      return true
    }
    withExtendedLifetime(over) {}
    return isRemoved
  }

  @usableFromInline
  func subscription(of inner: InnerID) -> SubscriptionBase? {
    state.withLock { $0.has(inner) ? $0.slots[inner.index].subscription : nil }
  }

  /// Whether the outer upstream and all inner publishers are over.
  @usableFromInline
  var areAllOver: Bool { state.withLock { $0.count == 0 && isOuterOver.load(ordering: .relaxed) } }

  /// Adds to what is outstanding.
  ///
  /// The first time that there is no limit, gives the subscriptions of all inner publishers, which are to be told so.
  @usableFromInline
  func add(_ demand: Subscribers.Demand, to outstanding: borrowing DemandCounter) -> [SubscriptionBase] {
    state.withLock { state in
      let wasUnlimited = outstanding.isUnlimited
      outstanding.add(demand)
      return outstanding.isUnlimited && !wasUnlimited ? state.slots.compactMap(\.subscription) : []
    }
  }

  /// Closes what is outstanding, and gives the subscriptions to the one caller who did.
  @usableFromInline
  func end(_ outstanding: borrowing DemandCounter) -> (inners: [SubscriptionBase], outer: SubscriptionBase?)? {
    state.withLock { state in
      guard outstanding.close() != nil else { return nil }
      let inners = state.slots.compactMap(\.subscription)
      state.slots = []
      state.freeSlots = []
      return (inners, state.outer.take())
    }
  }
}
