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
/// - While nobody comes or goes and all want everything, a round looks at nothing but that: the copy is *open*.
///
/// Not generic, so that its code exists once; ``Broadcaster`` adds the values.
@usableFromInline
class SubscriberList {
  @usableFromInline let combiningLock = CombiningLock()
  @usableFromInline let lock = Lock()

  // Guarded by `lock`: those attached, in order of subscription, with holes where one has left.
  @exclusivity(unchecked) private var places: ContiguousArray<ListedSubscription?> = []
  @exclusivity(unchecked) private var holes = 0
  @exclusivity(unchecked) private var leavers: ContiguousArray<AnyObject> = []
  // Guarded by `lock`: those that asked for something ready while another thread was inside.
  @exclusivity(unchecked) private var waiters: ContiguousArray<ListedSubscription> = []

  // Touched only inside the combining lock: the copy that rounds walk, in its own object and at hand, and the older copies
  // that outer rounds still walk.
  @exclusivity(unchecked) private var snapshot: Snapshot?
  @exclusivity(unchecked) @usableFromInline var first: UnsafeMutablePointer<SnapshotEntry>?
  @exclusivity(unchecked) @usableFromInline var count = 0
  @exclusivity(unchecked) private var olderSnapshots: [Snapshot] = []

  // Whether the snapshot differs from `places`; changed under `lock`.
  @usableFromInline let isStale = Atomic<Bool>(false)
  // Whether the snapshot is that of `places`, and all in it want everything and are owed nothing; changed under `lock`, set
  // by an outermost round only, so that rounds around it do not take it for theirs.
  @usableFromInline let isOpen = Atomic<Bool>(false)
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
    isOpen.store(false, ordering: .relaxed)
    closeGaps()
    let current = Snapshot(places) { target(of: $0) }
    lock.unlock()
    let previous = snapshot
    if !combiningLock.isOutermost, let previous { olderSnapshots.append(previous) }
    snapshot = current
    first = current.first
    count = current.count
    withExtendedLifetime(previous) {}
  }

  /// What the values for a erased subscriber end up in, if that is known; see ``Passing``.
  @usableFromInline func target(of erased: AnyObject) -> AnyObject? { nil }

  /// Notes that all in the snapshot took a value and want everything.
  ///
  /// Called inside the combining lock.
  @usableFromInline
  final func open() {
    guard combiningLock.isOutermost else { return }
    lock.lock()
    if !isStale.load(ordering: .relaxed) { isOpen.store(true, ordering: .relaxed) }
    lock.unlock()
  }

  /// Called under the lock.
  private func markStale() {
    isStale.store(true, ordering: .releasing)
    isOpen.store(false, ordering: .releasing)
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
    places.removeAll { $0 == nil }
    for index in places.indices { places[index]?.index = Int32(truncatingIfNeeded: index) }
    holes = 0
  }

  /// Adds a place; false if the end has come already.
  @usableFromInline
  final func attach(_ place: ListedSubscription) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard !hasEnded.load(ordering: .relaxed) else { return false }
    place.index = Int32(truncatingIfNeeded: places.count)
    places.append(place)
    markStale()
    return true
  }

  /// Takes a place out, and lets go of what is behind it when no round can be inside.
  ///
  /// - Parameter owner: held by the caller meanwhile.
  @usableFromInline
  final func detach(_ place: ListedSubscription, of owner: AnyObject) {
    guard combiningLock.tryEnter() else { return detachDuringRound(place, of: owner) }
    guard combiningLock.isOutermost else {
      combiningLock.leave()
      return detachDuringRound(place, of: owner)
    }
    // Nobody is inside and nobody can come, so the erased subscriber can go as soon as the combining lock is left.
    let erased = place.takeSubscriber()
    lock.lock()
    remove(place)
    lock.unlock()
    let snapshots = takeSnapshots()
    endRound()
    // Here, with nothing held, chains and what they captured may go.
    _ = (consume erased, consume snapshots)
  }

  private func detachDuringRound(_ place: ListedSubscription, of owner: AnyObject) {
    lock.lock()
    remove(place)
    lock.unlock()
    retire(place, of: owner)
    drainLoop()
  }

  /// Called under the lock.
  private func remove(_ place: ListedSubscription) {
    let index = Int(place.index)
    if index == places.count - 1, places[index] === place {
      places.removeLast()
      while case .some(.none) = places.last {
        places.removeLast()
        holes -= 1
      }
    } else if places.indices.contains(index), places[index] === place {
      places[index] = nil
      holes += 1
    }
    markStale()
  }

  /// Keeps what is behind a place, and the owner that it kept, until no round can be inside any more.
  @usableFromInline
  final func retire(_ place: ListedSubscription, of owner: AnyObject) {
    guard let erased = place.takeSubscriber() else { return }
    lock.lock()
    leavers.append(erased)
    leavers.append(owner)
    hasPendingWork.store(true, ordering: .sequentiallyConsistent)
    lock.unlock()
  }

  /// Has a place served inside the combining lock: now if no other thread is there, else by the one that is.
  ///
  /// It never waits: a request comes from below, and what is below may be what the other thread waits for.
  @usableFromInline
  final func serve(_ place: ListedSubscription) {
    if combiningLock.tryEnter() {
      place.serve()
      endRound()
      return
    }
    lock.lock()
    waiters.append(place)
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
      if !gone.isEmpty { dismissed.append((gone, takeSnapshots())) }
      for place in waiting { place.serve() }
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
    let present = ContiguousArray(places.compactMap { $0 })
    places = []
    holes = 0
    markStale()
    return present
  }
}

/// One subscriber's place in a list, and the subscription that it holds.
@usableFromInline
class ListedSubscription: SubscriptionBase, ReflectedSubscription {
  // What the subscriber asked for and did not get yet; closed once it has left or the end has come.
  @usableFromInline let outstanding = DemandCounter()
  // Holds one reference to a ``ErasedSubscriber``. Rounds read it without a retain: who takes it out hands it to `SubscriberList.retire`,
  // which keeps it until no round is under way.
  @usableFromInline let erased: Atomic<Unmanaged<AnyObject>?>
  private let lock = Lock()
  // The index among the list's places; guarded by the list's lock. Half a word, which saves a subscription sixteen
  // bytes; so many subscribers do not fit into memory.
  @exclusivity(unchecked) fileprivate var index: Int32 = -1
  // Kept by the owner: only for who holds that.
  @usableFromInline let list: Unmanaged<SubscriberList>
  // Guarded by `lock`, emptied when the place closes. The owner, a subject, lives as long as somebody is subscribed.
  @exclusivity(unchecked) private var owner: AnyObject?
  // What was owed at the end, for reflection.
  @exclusivity(unchecked) private var owedAtEnd = Subscribers.Demand.none

  /// Makes a place.
  ///
  /// - Parameter erased subscriber: with a reference of its own, which the place takes over.
  @usableFromInline
  init(to erased: Unmanaged<AnyObject>, in list: Unmanaged<SubscriberList>, owner: AnyObject) {
    self.erased = Atomic(erased)
    self.list = list
    self.owner = owner
  }

  deinit {
    _ = takeSubscriber()
  }

  /// The source, as long as the place is open.
  @usableFromInline
  final var openOwner: AnyObject? {
    lock.lock()
    defer { lock.unlock() }
    return owner
  }

  /// Closes the place, and gives the owner to the one caller who did; it must not go while a round is under way.
  @usableFromInline
  final func close() -> AnyObject? {
    guard let last = outstanding.close() else { return nil }
    lock.lock()
    defer { lock.unlock() }
    owedAtEnd = last
    return owner.take()
  }

  /// Takes the erased subscriber out, with the reference it was held by.
  ///
  /// Only for the one who has closed the place: two at a time would both take it.
  @usableFromInline
  final func takeSubscriber() -> AnyObject? {
    let taken = erased.load(ordering: .acquiring)
    erased.store(nil, ordering: .releasing)
    return taken?.takeRetainedValue()
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(name)
    if outstanding.add(demand) { didRequest() }
  }

  /// Called after a request, for sources that have something ready.
  @usableFromInline func didRequest() {}

  /// Delivers what is ready.
  ///
  /// Called inside the combining lock, by the list.
  @usableFromInline func serve() {}

  @usableFromInline
  override final func cancel() {
    guard let owner = close() else { return }
    list._withUnsafeGuaranteedRef { $0.detach(self, of: owner) }
  }

  // MARK: Reflection

  /// The subscriber behind the place.
  ///
  /// Only called while the place is open.
  @usableFromInline var downstream: Any? { nil }

  @usableFromInline
  final var demand: Subscribers.Demand { outstanding.demand ?? lock.withLock { owedAtEnd } }

  @usableFromInline
  override var children: [(label: String?, value: Any)] {
    let owner = openOwner
    return [
      ("parent", owner as Any), ("downstream", (owner == nil ? nil : downstream) as Any), ("demand", demand),
      ("subject", owner as Any),
    ]
  }
}
