import StreamSupport
import Synchronization

/// The lives of an outer upstream and of the inner ones that it brought, any number at a time.
///
/// Not generic, so that its code exists once; ``FlatMapPipe`` adds the values.
@usableFromInline
class Brood: Courier {
  /// Tells a child from all others, also from one that had the same place before.
  @frozen
  @usableFromInline
  struct ChildID {
    @usableFromInline let index: Int
    @usableFromInline let serial: Int
  }

  private struct Place {
    // 0 while the place is free.
    var serial = 0
    var subscription: Tether?
  }

  // All guarded by `lock`.
  @exclusivity(unchecked) private var outer: Tether?
  @exclusivity(unchecked) private var places: ContiguousArray<Place> = []
  @exclusivity(unchecked) private var freePlaces: ContiguousArray<Int> = []
  @exclusivity(unchecked) private var lastSerial = 0
  @exclusivity(unchecked) private var childCount = 0
  // Set under `lock`.
  @usableFromInline let hasOuterCome = Atomic<Bool>(false)
  @usableFromInline let isOuterOver = Atomic<Bool>(false)

  /// Keeps the outer subscription, if it is the first and comes in time.
  @usableFromInline
  final func holdOuter(_ subscription: consuming Tether) -> Bool {
    lock.lock()
    guard !ledger.isClosed, !hasOuterCome.load(ordering: .relaxed) else {
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
    guard !ledger.isClosed, !isOuterOver.load(ordering: .relaxed) else {
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
  final var heldOuter: Tether? {
    lock.lock()
    defer { lock.unlock() }
    return outer
  }

  /// Makes a place for a child that is about to be subscribed to; nil after the end.
  @usableFromInline
  final func admitChild() -> ChildID? {
    lock.lock()
    defer { lock.unlock() }
    guard !ledger.isClosed else { return nil }
    lastSerial += 1
    childCount += 1
    let index = freePlaces.popLast() ?? places.count
    if index == places.count { places.append(Place()) }
    places[index].serial = lastSerial
    return ChildID(index: index, serial: lastSerial)
  }

  /// Keeps a child's subscription, if it is the first and comes in time, and says how much to ask of it.
  @usableFromInline
  final func hold(_ subscription: consuming Tether, of child: ChildID) -> Subscribers.Demand? {
    lock.lock()
    guard !ledger.isClosed, isPresent(child), places[child.index].subscription == nil else {
      lock.unlock()
      subscription.cancel()
      return nil
    }
    places[child.index].subscription = subscription
    // Read under the lock that `owe` takes, so that every child learns of unlimited demand once.
    let demand: Subscribers.Demand = ledger.isUnlimited ? .unlimited : .max(1)
    lock.unlock()
    return demand
  }

  /// Takes a child out; false if it is out already.
  @usableFromInline
  final func removeChild(_ child: ChildID) -> Bool {
    lock.lock()
    guard isPresent(child) else {
      lock.unlock()
      return false
    }
    let subscription = places[child.index].subscription
    places[child.index] = Place()
    freePlaces.append(child.index)
    childCount -= 1
    lock.unlock()
    withExtendedLifetime(subscription) {}
    return true
  }

  private func isPresent(_ child: ChildID) -> Bool {
    places.indices.contains(child.index) && places[child.index].serial == child.serial
  }

  @usableFromInline
  final func subscription(of child: ChildID) -> Tether? {
    lock.lock()
    defer { lock.unlock() }
    return isPresent(child) ? places[child.index].subscription : nil
  }

  @usableFromInline
  final var isBarren: Bool {
    lock.lock()
    defer { lock.unlock() }
    return childCount == 0 && isOuterOver.load(ordering: .relaxed)
  }

  /// Adds to what is owed.
  ///
  /// The first time that there is no limit, gives all children's subscriptions, which are to be told so.
  @usableFromInline
  final func owe(_ demand: Subscribers.Demand) -> [Tether] {
    lock.lock()
    defer { lock.unlock() }
    let wasUnlimited = ledger.isUnlimited
    ledger.owe(demand)
    return ledger.isUnlimited && !wasUnlimited ? places.compactMap(\.subscription) : []
  }

  /// Ends everything, and gives the subscriptions to the one caller who did.
  @usableFromInline
  final func end() -> (children: [Tether], outer: Tether?)? {
    lock.lock()
    defer { lock.unlock() }
    guard ledger.close() != nil else { return nil }
    let held = (places.compactMap(\.subscription), outer)
    places = []
    freePlaces = []
    outer = nil
    return held
  }
}
