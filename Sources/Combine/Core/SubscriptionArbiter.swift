import StreamSupport
import Synchronization

/// One upstream after another, which carries what is still owed from each to the next.
///
/// Between two upstreams, demand adds up. Who moves the phase on under the lock has ended an upstream, once; values
/// pay one atomic load to learn whether theirs is the upstream of the moment. Not generic, so that its code exists
/// once.
@usableFromInline
class SubscriptionArbiter: SubscriptionBase, ReflectedSubscription {
  @usableFromInline
  enum Phase {
    @usableFromInline static let awaitingFirst: UInt8 = 0
    @usableFromInline static let first: UInt8 = 1
    @usableFromInline static let awaitingSecond: UInt8 = 2
    @usableFromInline static let second: UInt8 = 3
    @usableFromInline static let over: UInt8 = 4
  }

  @usableFromInline let phase = Atomic<UInt8>(Phase.awaitingFirst)
  @usableFromInline let lock = Lock()
  @usableFromInline let outstanding = DemandCounter()
  // Guarded by `lock`, like all changes of `phase`, and all that raises what is owed: so each request reaches either
  // the upstream before a change or the one after it.
  @exclusivity(unchecked) @usableFromInline var held: SubscriptionBase?

  @usableFromInline
  override init() {}

  @inlinable @inline(__always)
  final func isIn(_ expected: UInt8) -> Bool { phase.load(ordering: .relaxed) == expected }

  /// Keeps the subscription awaited, and gives what is owed; cancels any other.
  @inlinable @inline(__always)
  final func hold(_ subscription: any Subscription, from expected: UInt8, to next: UInt8) -> Subscribers.Demand? {
    hold(subscription.asBase, from: expected, to: next)
  }

  /// Keeps the subscription awaited, and gives what is owed; cancels any other.
  @usableFromInline
  final func hold(_ subscription: consuming SubscriptionBase, from expected: UInt8, to next: UInt8) -> Subscribers
    .Demand?
  {
    lock.lock()
    guard phase.load(ordering: .relaxed) == expected else {
      lock.unlock()
      subscription.cancel()
      return nil
    }
    held = subscription
    phase.store(next, ordering: .releasing)
    let owed = outstanding.demand ?? .none
    lock.unlock()
    return owed
  }

  /// Moves on from an upstream that has ended; false if another has done so, or the end has come.
  @usableFromInline
  final func advance(from expected: UInt8, to next: UInt8) -> Bool {
    lock.lock()
    guard phase.load(ordering: .relaxed) == expected else {
      lock.unlock()
      return false
    }
    phase.store(next, ordering: .releasing)
    let ended = held
    held = nil
    lock.unlock()
    withExtendedLifetime(ended) {}
    return true
  }

  /// Goes on to a `Just` without a subscription to it, if its value is owed already.
  @usableFromInline
  final func beginScalar() -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard isIn(Phase.awaitingSecond), let owed = outstanding.demand, owed != .none else { return false }
    phase.store(Phase.second, ordering: .releasing)
    return true
  }

  /// Owes more, and gives the upstream of the moment.
  @usableFromInline
  final func addDemand(_ demand: Subscribers.Demand) -> SubscriptionBase? {
    lock.lock()
    defer { lock.unlock() }
    outstanding.add(demand)
    return held
  }

  /// Owes what downstream answered to a value, and says what to answer the upstream that sent it.
  ///
  /// If another has taken its place meanwhile, that one is asked instead.
  @usableFromInline
  final func addDemand(_ demand: Subscribers.Demand, answeringIn expected: UInt8) -> Subscribers.Demand {
    lock.lock()
    outstanding.add(demand)
    let isSame = phase.load(ordering: .relaxed) == expected
    let successor = isSame ? nil : held
    lock.unlock()
    successor?.request(demand)
    return isSame ? demand : .none
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    addDemand(demand)?.request(demand)
  }

  @usableFromInline
  override func cancel() {
    lock.lock()
    let upstream = held
    held = nil
    phase.store(Phase.over, ordering: .releasing)
    lock.unlock()
    upstream?.cancel()
  }

  // MARK: Misbehaviour

  @usableFromInline
  final func outOfTurn(_ event: String) -> Never {
    violation(name, event, advice: "A publisher must call receive(subscription:) first.")
  }

  @usableFromInline
  final func beyondDemand() -> Never {
    violation(name, "received more values than it asked for", advice: "A publisher must not exceed the demand.")
  }
}
