import StreamSupport
import Synchronization

/// Who is subscribed to one source, and how a value goes round among them.
///
/// - A combining lock is held while a value goes round, so every subscriber sees one event at a time and all see the same
///   order. Sends from inside a subscriber are delivered depth first.
/// - A value goes to those who were there when its round began. Who is there is kept under a leaf lock; a round walks a
///   copy, made anew only when somebody came or went, so attaching and detaching stay linear in number.
/// - What is behind a subscriber who leaves, and the owner that the subscriber kept, are let go at once if no round is
///   under way, else when the round ends: the round may be inside, on this thread or another. So rounds walk and deliver
///   without a retain.
///
/// Not generic, so that its code exists once; ``Broadcaster`` adds the values.
@usableFromInline
class SubscriberList {
  @usableFromInline let combiningLock = CombiningLock()
  @usableFromInline let lock = Lock()

  // Guarded by `lock`: those attached, in order of subscription, with holes where one has left.
  @exclusivity(unchecked) private var subscriptions: ContiguousArray<ListedSubscription?> = []
  @exclusivity(unchecked) private var holes = 0
  @exclusivity(unchecked) private var leavers: ContiguousArray<AnyObject> = []
  // Guarded by `lock`: those that asked for something ready while another thread was inside.
  @exclusivity(unchecked) private var waiters: ContiguousArray<ListedSubscription> = []

  // Touched only inside the combining lock: the copy that rounds walk, in its own object and at hand, and the older copies
  // that outer rounds still walk.
  @exclusivity(unchecked) private var snapshot: Snapshot?
  @exclusivity(unchecked) @usableFromInline var first: UnsafeMutablePointer<Unmanaged<ListedSubscription>>?
  @exclusivity(unchecked) @usableFromInline var count = 0
  @exclusivity(unchecked) private(set) var olderSnapshots: [Snapshot] = []

  // Whether the snapshot differs from `subscriptions`; changed under `lock`.
  @usableFromInline let isStale = Atomic<Bool>(false)
  // Whether something waits for the end of the round: to be let go, or to be served. A message as ``CombiningLock`` has it:
  // who brings work sets it before trying the combining lock, who ends a round reads it after leaving it.
  @usableFromInline let hasPendingWork = Atomic<Bool>(false)
  // Whether the end has come; set under `lock`, with nobody attached afterwards.
  @usableFromInline let hasEnded = Atomic<Bool>(false)

  @usableFromInline
  init() {}

  /// Starts a round: enters the combining lock and brings the snapshot up to date.
  @inlinable @inline(__always)
  final func beginRound() {
    combiningLock.enter()
    if isStale.load(ordering: .acquiring) { refreshSnapshot() }
  }

  @inlinable @inline(__always)
  final func endRound() {
    if combiningLock.leave(), hasPendingWork.load(ordering: .sequentiallyConsistent) { drainLoop() }
  }

  @usableFromInline
  final func refreshSnapshot() {
    lock.lock()
    isStale.store(false, ordering: .relaxed)
    closeGaps()
    let current = Snapshot(subscriptions)
    lock.unlock()
    let previous = snapshot
    if !combiningLock.isOutermost, let previous {
      olderSnapshots.append(previous)
      hasPendingWork.store(true, ordering: .sequentiallyConsistent)
    }
    snapshot = current
    first = current.first
    count = current.count
    withExtendedLifetime(previous) {}
  }

  /// Called under the lock.
  private func markStale() {
    isStale.store(true, ordering: .releasing)
  }

  /// Gives the snapshots away, to be released with nothing held.
  ///
  /// Called inside the combining lock, with no round under way.
  private func takeSnapshots() -> (Snapshot, [Snapshot])? {
    guard let current = snapshot else { return nil }
    let older = olderSnapshots
    snapshot = nil
    first = nil
    count = 0
    olderSnapshots = []
    return (current, older)
  }

  private func closeGaps() {
    guard holes > 0 else { return }
    subscriptions.removeAll { $0 == nil }
    for index in subscriptions.indices { subscriptions[index]?.index = Int32(truncatingIfNeeded: index) }
    holes = 0
  }

  /// Adds a subscription; false if the end has come already.
  @usableFromInline
  final func attach(_ subscription: ListedSubscription) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard !hasEnded.load(ordering: .relaxed) else { return false }
    subscription.index = Int32(truncatingIfNeeded: subscriptions.count)
    subscriptions.append(subscription)
    markStale()
    return true
  }

  /// Takes a subscription out, and lets go of what is behind it when no round can be inside.
  ///
  /// - Parameter owner: held by the caller meanwhile.
  @usableFromInline
  final func detach(_ subscription: ListedSubscription, of owner: AnyObject) {
    guard combiningLock.tryEnter() else { return detachDuringRound(subscription, of: owner) }
    guard combiningLock.isOutermost else {
      combiningLock.leave()
      return detachDuringRound(subscription, of: owner)
    }
    // Nobody is inside and nobody can come, so the erased subscriber can go as soon as the combining lock is left.
    let erased = subscription.takeSubscriber()
    lock.lock()
    remove(subscription)
    lock.unlock()
    let snapshots = takeSnapshots()
    endRound()
    // Here, with nothing held, chains and what they captured may go.
    _ = (consume erased, consume snapshots)
  }

  private func detachDuringRound(_ subscription: ListedSubscription, of owner: AnyObject) {
    lock.lock()
    remove(subscription)
    lock.unlock()
    retire(subscription, of: owner)
    drainLoop()
  }

  /// Called under the lock.
  private func remove(_ subscription: ListedSubscription) {
    let index = Int(subscription.index)
    if index == subscriptions.count - 1, subscriptions[index] === subscription {
      subscriptions.removeLast()
      while case .some(.none) = subscriptions.last {
        subscriptions.removeLast()
        holes -= 1
      }
    } else if subscriptions.indices.contains(index), subscriptions[index] === subscription {
      subscriptions[index] = nil
      holes += 1
    }
    markStale()
  }

  /// Keeps what is behind a subscription, and the owner that it kept, until no round can be inside any more.
  @usableFromInline
  final func retire(_ subscription: ListedSubscription, of owner: AnyObject) {
    guard let erased = subscription.takeSubscriber() else { return }
    lock.lock()
    leavers.append(erased)
    leavers.append(owner)
    hasPendingWork.store(true, ordering: .sequentiallyConsistent)
    lock.unlock()
  }

  /// Has a subscription served inside the combining lock: now if no other thread is there, else by the one that is.
  ///
  /// It never waits: a request comes from below, and what is below may be what the other thread waits for.
  @usableFromInline
  final func serve(_ subscription: ListedSubscription) {
    if combiningLock.tryEnter() {
      subscription.serve()
      endRound()
      return
    }
    lock.lock()
    waiters.append(subscription)
    hasPendingWork.store(true, ordering: .sequentiallyConsistent)
    lock.unlock()
    drainLoop()
  }

  /// Lets go of those who left, and serves those who wait, if no round is under way; if one is, it will.
  @usableFromInline
  final func drainLoop() {
    // Released at the very end: it may be what keeps the list.
    var dismissed: [(leavers: ContiguousArray<AnyObject>, snapshots: (Snapshot, [Snapshot])?)] = []
    while hasPendingWork.load(ordering: .sequentiallyConsistent), combiningLock.tryEnter() {
      guard combiningLock.isOutermost else {
        combiningLock.leave()
        return
      }
      hasPendingWork.store(false, ordering: .sequentiallyConsistent)
      lock.lock()
      let gone = leavers
      leavers = []
      let waiting = waiters
      waiters = []
      if !gone.isEmpty { markStale() }
      lock.unlock()
      // Only then is the snapshot made anew.
      if !gone.isEmpty {
        dismissed.append((gone, takeSnapshots()))
      } else if let snapshot, !olderSnapshots.isEmpty {
        dismissed.append((gone, (snapshot, olderSnapshots)))
        olderSnapshots = []
      }
      for subscription in waiting { subscription.serve() }
      combiningLock.leave()
    }
    // Here, with nothing held, chains and what they captured may go.
    withExtendedLifetime(dismissed) {}
  }

  /// Ends the list, and hands out who was in it; nil if it has ended already.
  @usableFromInline
  final func disband() -> ContiguousArray<ListedSubscription>? {
    lock.lock()
    defer { lock.unlock() }
    guard !hasEnded.load(ordering: .relaxed) else { return nil }
    hasEnded.store(true, ordering: .releasing)
    let present = ContiguousArray(subscriptions.compactMap { $0 })
    subscriptions = []
    holes = 0
    markStale()
    return present
  }
}
