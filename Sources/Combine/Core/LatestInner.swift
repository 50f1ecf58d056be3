import StreamSupport
import Synchronization

/// The subscriptions to an outer upstream and to the latest of the inner publishers that it brought.
///
/// What is outstanding downstream is the owner's: it is looked at and raised under the lock here, so that what the next
/// inner publisher is asked for does not count what the one before takes.
@usableFromInline
struct LatestInner: ~Copyable {
  @usableFromInline
  enum Phase {
    case none, awaited, held
  }

  /// Whether an inner publisher may deliver a value.
  @usableFromInline
  enum Claim {
    case granted
    /// Nothing is owed.
    case refused
    /// Another publisher has taken its place, or the end has come.
    case late
  }

  @usableFromInline
  struct State {
    @usableFromInline var outer: SubscriptionBase?
    @usableFromInline var hasOuterCome = false
    @usableFromInline var isOuterOver = false
    @usableFromInline var inner: SubscriptionBase?
    @usableFromInline var phase = Phase.none

    @usableFromInline
    init() {}
  }

  @usableFromInline let state = Locked(State())
  // The number of the latest inner publisher; written under the lock.
  @usableFromInline let number = Atomic<Int>(0)

  @usableFromInline
  init() {}

  /// Keeps the outer subscription, if it is the first and comes in time.
  @usableFromInline
  func holdOuter(_ subscription: SubscriptionBase, _ outstanding: borrowing DemandCounter) -> Bool {
    let isKept = state.withLock { state in
      guard !outstanding.isClosed, !state.hasOuterCome else { return false }
      state.hasOuterCome = true
      state.outer = subscription
      return true
    }
    if !isKept { subscription.cancel() }
    return isKept
  }

  /// Notes the end of the outer upstream; says whether nothing is left to come.
  @usableFromInline
  func finishOuter() -> Bool {
    let (over, isDone) = state.withLock { state in
      state.isOuterOver = true
      return (state.outer.take(), state.phase == .none)
    }
    withExtendedLifetime(over) {}
    return isDone
  }

  /// Leaves the inner publisher of before, and gives the number of the one to come; nil if what was cancelled has brought
  /// another from inside, which is the latest then.
  @inlinable @inline(__always)
  func advance() -> Int? {
    let (next, previous) = state.withLock { state in
      state.phase = .awaited
      let next = number.load(ordering: .relaxed) &+ 1
      number.store(next, ordering: .releasing)
      return (next, state.inner.take())
    }
    previous?.cancel()
    return isLatest(next) ? next : nil
  }

  /// Keeps the subscription of the latest inner publisher, and says how much to ask of it.
  ///
  /// One that has ended may begin anew, as in Apple's Combine.
  @usableFromInline
  func hold(
    _ subscription: SubscriptionBase,
    of number: Int,
    _ outstanding: borrowing DemandCounter
  ) -> Subscribers.Demand? {
    let demand = state.withLock { state -> Subscribers.Demand? in
      guard let demand = outstanding.demand, isLatest(number), state.phase != .held else { return nil }
      state.inner = subscription
      state.phase = .held
      return demand
    }
    if demand == nil { subscription.cancel() }
    return demand
  }

  /// Notes the end of an inner publisher: nil if another has taken its place, else whether nothing is left to come.
  @inlinable @inline(__always)
  func finish(_ number: Int) -> Bool? {
    var over: SubscriptionBase?
    let isDone = state.withLock { state -> Bool? in
      guard isLatest(number), state.phase != .none else { return nil }
      over = state.inner.take()
      state.phase = .none
      return state.isOuterOver
    }
    withExtendedLifetime(over) {}
    return isDone
  }

  @inlinable @inline(__always)
  func isLatest(_ number: Int) -> Bool { self.number.load(ordering: .acquiring) == number }

  /// Whether an inner publisher owes its subscription; after the end nobody does, since none is kept then.
  @usableFromInline
  func isAwaited(_ number: Int, _ outstanding: borrowing DemandCounter) -> Bool {
    state.withLock { !outstanding.isClosed && isLatest(number) && $0.phase == .awaited }
  }

  /// The subscription of an inner publisher, while it is the latest.
  @usableFromInline
  func subscription(of number: Int) -> SubscriptionBase? {
    state.withLock { isLatest(number) ? $0.inner : nil }
  }

  /// Takes one off what is outstanding, for an inner publisher: under the lock unless there is no limit.
  @inlinable @inline(__always)
  func takeOne(for number: Int, of outstanding: borrowing DemandCounter) -> Claim {
    outstanding.isUnlimited ? .granted : takeCounted(for: number, of: outstanding)
  }

  @usableFromInline
  func takeCounted(for number: Int, of outstanding: borrowing DemandCounter) -> Claim {
    state.withLock { _ in
      guard !outstanding.isClosed, isLatest(number) else { return .late }
      return outstanding.takeOne() ? .granted : .refused
    }
  }

  /// Adds to what is outstanding, and gives the subscription of the latest inner publisher.
  @usableFromInline
  func add(_ demand: Subscribers.Demand, to outstanding: borrowing DemandCounter) -> SubscriptionBase? {
    state.withLock { state in
      outstanding.add(demand)
      return state.inner
    }
  }

  /// Adds what downstream answered to a value, and says whether the inner publisher that sent it is still the latest; if
  /// not, gives the subscription of the one that is.
  @usableFromInline
  func add(
    answer: Subscribers.Demand,
    from number: Int,
    to outstanding: borrowing DemandCounter
  ) -> (isLatest: Bool, successor: SubscriptionBase?) {
    state.withLock { state in
      outstanding.add(answer)
      let isLatest = isLatest(number)
      return (isLatest, isLatest ? nil : state.inner)
    }
  }

  /// Closes what is outstanding, and gives the subscriptions to the one caller who did.
  @usableFromInline
  func end(_ outstanding: borrowing DemandCounter) -> (inner: SubscriptionBase?, outer: SubscriptionBase?)? {
    state.withLock { state in
      guard outstanding.close() != nil else { return nil }
      return (state.inner.take(), state.outer.take())
    }
  }
}
