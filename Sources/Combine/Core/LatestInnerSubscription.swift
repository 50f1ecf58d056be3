import StreamSupport
import Synchronization

/// The lives of an outer upstream and of the latest inner one.
///
/// Not generic, so that its code exists once.
@usableFromInline
class LatestInnerSubscription: SerialSubscription {
  @usableFromInline
  enum InnerPhase {
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

  // All guarded by `lock`.
  @exclusivity(unchecked) private var outer: SubscriptionBase?
  @exclusivity(unchecked) private var hasOuterCome = false
  @exclusivity(unchecked) @usableFromInline var isOuterOver = false
  @exclusivity(unchecked) @usableFromInline var inner: SubscriptionBase?
  @exclusivity(unchecked) @usableFromInline var innerPhase = InnerPhase.none
  // The number of the latest inner publisher; written under `lock`.
  @usableFromInline let latest = Atomic<Int>(0)

  @usableFromInline
  final func holdOuter(_ subscription: consuming SubscriptionBase) -> Bool {
    lock.lock()
    guard !outstanding.isClosed, !hasOuterCome else {
      lock.unlock()
      subscription.cancel()
      return false
    }
    hasOuterCome = true
    outer = subscription
    lock.unlock()
    return true
  }

  /// Notes the end of the outer upstream; says whether nothing is left to come.
  @usableFromInline
  final func finishOuter() -> Bool {
    lock.lock()
    let over = outer
    outer = nil
    isOuterOver = true
    let isDone = innerPhase == .none
    lock.unlock()
    withExtendedLifetime(over) {}
    return isDone
  }

  /// Leaves the inner publisher of before, and gives the number of the one to come.
  @inlinable @inline(__always)
  final func advance() -> Int {
    lock.lock()
    let previous = inner
    inner = nil
    innerPhase = .awaited
    let number = latest.load(ordering: .relaxed) &+ 1
    latest.store(number, ordering: .releasing)
    lock.unlock()
    previous?.cancel()
    return number
  }

  /// Keeps the subscription of the latest inner publisher, and says how much to ask of it.
  ///
  /// One that has ended may begin anew, as in Apple's Combine.
  @usableFromInline
  final func hold(_ subscription: consuming SubscriptionBase, ofInner number: Int) -> Subscribers.Demand? {
    lock.lock()
    guard let owed = outstanding.demand, isLatest(number), innerPhase != .held else {
      lock.unlock()
      subscription.cancel()
      return nil
    }
    inner = subscription
    innerPhase = .held
    lock.unlock()
    return owed
  }

  /// Notes the end of an inner publisher: nil if another has taken its place, else whether nothing is left to come.
  @inlinable @inline(__always)
  final func finishInner(_ number: Int) -> Bool? {
    lock.lock()
    guard isLatest(number), innerPhase != .none else {
      lock.unlock()
      return nil
    }
    let over = inner
    inner = nil
    innerPhase = .none
    let isDone = isOuterOver
    lock.unlock()
    withExtendedLifetime(over) {}
    return isDone
  }

  @inlinable @inline(__always)
  final func isLatest(_ number: Int) -> Bool { latest.load(ordering: .acquiring) == number }

  /// Whether an inner publisher owes its subscription; after the end nobody does, since none is kept then.
  @usableFromInline
  final func isAwaited(_ number: Int) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    return !outstanding.isClosed && isLatest(number) && innerPhase == .awaited
  }

  /// The subscription of an inner publisher, while it is the latest.
  @usableFromInline
  final func subscription(ofInner number: Int) -> SubscriptionBase? {
    lock.lock()
    defer { lock.unlock() }
    return isLatest(number) ? inner : nil
  }

  /// Takes one off what is owed, for an inner publisher.
  ///
  /// Under the lock unless there is no limit, so that what the next inner publisher is asked for does not count what
  /// this one takes.
  @inlinable @inline(__always)
  final func takeOne(forInner number: Int) -> Claim {
    outstanding.isUnlimited ? .granted : takeCounted(forInner: number)
  }

  @usableFromInline
  final func takeCounted(forInner number: Int) -> Claim {
    lock.lock()
    defer { lock.unlock() }
    guard !outstanding.isClosed, isLatest(number) else { return .late }
    return outstanding.takeOne() ? .granted : .refused
  }

  /// Owes what downstream answered to a value, and says what to answer the inner publisher that sent it.
  ///
  /// If another has taken its place meanwhile, that one is asked instead.
  @usableFromInline
  final func addDemand(_ demand: Subscribers.Demand, toInner number: Int) -> Subscribers.Demand {
    guard demand != .none else { return .none }
    lock.lock()
    outstanding.add(demand)
    let isLatest = isLatest(number)
    let successor = isLatest ? nil : inner
    lock.unlock()
    if let successor { request(from: successor, demand) }
    return isLatest ? demand : .none
  }

  @usableFromInline
  override final func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(name)
    lock.lock()
    outstanding.add(demand)
    let inner = self.inner
    lock.unlock()
    if let inner { request(from: inner, demand) }
  }

  @usableFromInline
  override final func cancel() {
    guard let (inner, outer) = end() else { return }
    inner?.cancel()
    outer?.cancel()
  }

  @usableFromInline
  final func end() -> (inner: SubscriptionBase?, outer: SubscriptionBase?)? {
    lock.lock()
    defer { lock.unlock() }
    guard outstanding.close() != nil else { return nil }
    let held = (inner, outer)
    inner = nil
    outer = nil
    return held
  }
}
