import StreamSupport
import Synchronization

/// The lives of a fixed number of upstreams that meet in one downstream.
///
/// Values are kept by the subclass, inside the turnstile. Not generic, so that its code exists once.
@usableFromInline
class Confluence: Courier {
  private enum Inlet {
    case awaited
    case held(Tether)
    case over
  }

  // All guarded by `lock`.
  @exclusivity(unchecked) private var inlets: ContiguousArray<Inlet>
  @exclusivity(unchecked) private var awaitedCount: Int
  @exclusivity(unchecked) private var openCount: Int
  // One bit for each of the first inlets, as many as a word has; set under `lock`. Spares values the look at the inlets.
  @usableFromInline let finishedInlets = Atomic<UInt>(0)

  @usableFromInline
  init(inletCount: Int) {
    inlets = ContiguousArray(repeating: .awaited, count: inletCount)
    awaitedCount = inletCount
    openCount = inletCount
  }

  @usableFromInline
  struct Arrival {
    /// Whether no other subscription is awaited.
    @usableFromInline let isLast: Bool
    /// What to ask of an upstream that is asked for one value at a time until there is no limit.
    @usableFromInline let demand: Subscribers.Demand
  }

  /// Keeps the first subscription of an inlet; cancels any other, and one that comes after the end.
  @usableFromInline
  final func hold(_ subscription: consuming Tether, at index: Int) -> Arrival? {
    lock.lock()
    guard !ledger.isClosed, case .awaited = inlets[index] else {
      lock.unlock()
      subscription.cancel()
      return nil
    }
    inlets[index] = .held(subscription)
    awaitedCount -= 1
    // Read under the lock that `owe` takes, so that every upstream learns of unlimited demand once.
    let arrival = Arrival(isLast: awaitedCount == 0, demand: ledger.isUnlimited ? .unlimited : .max(1))
    lock.unlock()
    return arrival
  }

  /// Notes the end of an inlet, once; false if it was not held.
  @usableFromInline
  final func finishInlet(_ index: Int) -> Bool {
    lock.lock()
    guard !ledger.isClosed, case .held(let subscription) = inlets[index] else {
      lock.unlock()
      return false
    }
    inlets[index] = .over
    openCount -= 1
    finishedInlets.store(finishedInlets.load(ordering: .relaxed) | 1 << index, ordering: .relaxed)
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

  /// The subscription of an inlet, while it is held.
  @usableFromInline
  final func held(at index: Int) -> Tether? {
    lock.lock()
    defer { lock.unlock() }
    if case .held(let subscription) = inlets[index] { return subscription }
    return nil
  }

  /// Requests from all inlets, in order, but one.
  @usableFromInline
  final func requestFromAll(_ demand: Subscribers.Demand, except index: Int? = nil) {
    lock.lock()
    let subscriptions = heldSubscriptions(except: index)
    lock.unlock()
    for subscription in subscriptions { ask(subscription, for: demand) }
  }

  // Called under the lock.
  private func heldSubscriptions(except exception: Int? = nil) -> [Tether] {
    inlets.indices.compactMap { index in
      if index != exception, case .held(let subscription) = inlets[index] { subscription } else { nil }
    }
  }

  /// Owes more.
  ///
  /// The first time that there is no limit, gives the subscriptions of all, which are to be told so.
  @usableFromInline
  final func owe(_ demand: Subscribers.Demand) -> [Tether] {
    lock.lock()
    defer { lock.unlock() }
    let wasUnlimited = ledger.isUnlimited
    ledger.owe(demand)
    return ledger.isUnlimited && !wasUnlimited ? heldSubscriptions() : []
  }

  /// Ends all, and cancels what is still held; says whether it was this call that did.
  @usableFromInline
  final func end() -> Bool {
    lock.lock()
    guard ledger.close() != nil else {
      lock.unlock()
      return false
    }
    let subscriptions = heldSubscriptions()
    for index in inlets.indices { inlets[index] = .over }
    lock.unlock()
    for subscription in subscriptions { subscription.cancel() }
    return true
  }

  @usableFromInline
  override final func cancel() {
    // What the subclass keeps goes when nobody is inside.
    if end() { callErrand() }
  }

  /// The subscriptions held now, for reflection.
  final var heldSubscriptionsForMirror: [any Subscription] {
    lock.withLock { heldSubscriptions() }.map(\.original)
  }
}
