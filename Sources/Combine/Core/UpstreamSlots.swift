import StreamSupport
import Synchronization

/// The subscriptions to a fixed number of upstreams that meet in one downstream.
///
/// What is outstanding downstream is the owner's: it is looked at and raised under the lock here, so that every upstream
/// learns of the end, and of unlimited demand, once.
@usableFromInline
struct UpstreamSlots: ~Copyable {
  enum Slot {
    case awaited
    case held(SubscriptionBase)
    case over
  }

  struct State {
    var slots: ContiguousArray<Slot>
    var awaitedCount: Int
    var openCount: Int

    var held: [SubscriptionBase] {
      slots.compactMap { if case .held(let subscription) = $0 { subscription } else { nil } }
    }
  }

  let state: Locked<State>
  // One bit for each of the first upstreams, as many as a word has; set under the lock. Spares values the lock.
  @usableFromInline let finished = Atomic<UInt>(0)

  @usableFromInline
  init(count: Int) {
    state = Locked(
      State(slots: ContiguousArray(repeating: .awaited, count: count), awaitedCount: count, openCount: count)
    )
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
  func hold(
    _ subscription: SubscriptionBase,
    at index: Int,
    _ outstanding: borrowing DemandCounter
  ) -> Arrival? {
    let arrival = state.withLock { state -> Arrival? in
      guard !outstanding.isClosed, case .awaited = state.slots[index] else { return nil }
      state.slots[index] = .held(subscription)
      state.awaitedCount -= 1
      return Arrival(isLast: state.awaitedCount == 0, demand: outstanding.isUnlimited ? .unlimited : .max(1))
    }
    if arrival == nil { subscription.cancel() }
    return arrival
  }

  /// Notes the end of an upstream, once; false if it was not held.
  @usableFromInline
  func finish(_ index: Int, _ outstanding: borrowing DemandCounter) -> Bool {
    let subscription = state.withLock { state -> SubscriptionBase? in
      guard !outstanding.isClosed, case .held(let subscription) = state.slots[index] else { return nil }
      state.slots[index] = .over
      state.openCount -= 1
      finished.store(finished.load(ordering: .relaxed) | 1 << index, ordering: .relaxed)
      return subscription
    }
    return subscription != nil
  }

  @usableFromInline
  var areAwaited: Bool { state.withLock { $0.awaitedCount > 0 } }

  @usableFromInline
  var areAllOver: Bool { state.withLock { $0.openCount == 0 } }

  /// The subscription to an upstream, while it is held.
  @usableFromInline
  func held(at index: Int) -> SubscriptionBase? {
    state.withLock { if case .held(let subscription) = $0.slots[index] { subscription } else { nil } }
  }

  /// All subscriptions that are held, in order.
  @usableFromInline
  var held: [SubscriptionBase] { state.withLock { $0.held } }

  /// All subscriptions that are held, in order, but one.
  @usableFromInline
  func held(except exception: Int) -> [SubscriptionBase] {
    state.withLock { state in
      state.slots.indices.compactMap { index in
        if index != exception, case .held(let subscription) = state.slots[index] { subscription } else { nil }
      }
    }
  }

  /// Adds to what is outstanding.
  ///
  /// The first time that there is no limit, gives the subscriptions of all, which are to be told so.
  @usableFromInline
  func add(_ demand: Subscribers.Demand, to outstanding: borrowing DemandCounter) -> [SubscriptionBase] {
    state.withLock { state in
      let wasUnlimited = outstanding.isUnlimited
      outstanding.add(demand)
      return outstanding.isUnlimited && !wasUnlimited ? state.held : []
    }
  }

  /// Closes what is outstanding, and cancels what is still held; says whether it was this call that did.
  @usableFromInline
  func end(_ outstanding: borrowing DemandCounter) -> Bool {
    let held = state.withLock { state -> [SubscriptionBase]? in
      guard outstanding.close() != nil else { return nil }
      let held = state.held
      for index in state.slots.indices { state.slots[index] = .over }
      return held
    }
    guard let held else { return false }
    for subscription in held { subscription.cancel() }
    return true
  }
}
