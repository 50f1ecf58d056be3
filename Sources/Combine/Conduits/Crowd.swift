import StreamSupport
import Synchronization

/// Who is subscribed to one source, and how a value goes round among them.
///
/// - A turnstile is held while a value goes round, so every subscriber sees one event at a time and all see the same
///   order. Sends from inside a subscriber are delivered depth first.
/// - A value goes to those who were there when its round began. Who is there is kept under a leaf lock; a round walks a
///   copy, made anew only when somebody came or went, so attaching and detaching stay linear in number.
/// - What is behind a subscriber who leaves, and the owner that the subscriber kept, are let go at once if no round is
///   under way, else when the round ends: the round may be inside, on this thread or another. So rounds walk and deliver
///   without a retain.
/// - While nobody comes or goes and all want everything, a round looks at nothing but that: the copy is *open*.
///
/// Not generic, so that its code exists once; ``Fanout`` adds the values.
@usableFromInline
class Crowd {
  @usableFromInline let turnstile = Turnstile()
  @usableFromInline let lock = Lock()

  // Guarded by `lock`: those attached, in order of subscription, with holes where one has left.
  @exclusivity(unchecked) private var places: ContiguousArray<Place?> = []
  @exclusivity(unchecked) private var holes = 0
  @exclusivity(unchecked) private var leavers: ContiguousArray<AnyObject> = []
  // Guarded by `lock`: those that asked for something ready while another thread was inside.
  @exclusivity(unchecked) private var waiters: ContiguousArray<Place> = []

  // Touched only inside the turnstile: the copy that rounds walk, in its own object and at hand, and the older copies
  // that outer rounds still walk.
  @exclusivity(unchecked) private var roster: Roster?
  @exclusivity(unchecked) @usableFromInline var first: UnsafeMutablePointer<RosterEntry>?
  @exclusivity(unchecked) @usableFromInline var count = 0
  @exclusivity(unchecked) private var olderRosters: [Roster] = []

  // Whether the roster differs from `places`; changed under `lock`.
  @usableFromInline let isStale = Atomic<Bool>(false)
  // Whether the roster is that of `places`, and all in it want everything and are owed nothing; changed under `lock`, set
  // by an outermost round only, so that rounds around it do not take it for theirs.
  @usableFromInline let isOpen = Atomic<Bool>(false)
  // Whether something waits for the end of the round: to be let go, or to be served. A message as ``Turnstile`` has it:
  // who brings an errand sets it before trying the turnstile, who ends a round reads it after leaving it.
  @usableFromInline let hasErrands = Atomic<Bool>(false)
  // Whether the end has come; set under `lock`, with nobody attached afterwards.
  @usableFromInline let hasEnded = Atomic<Bool>(false)

  @usableFromInline
  init() {}

  /// Starts a round: enters the turnstile and brings the roster up to date.
  @inlinable @inline(__always)
  final func beginRound() {
    turnstile.enter()
    if isStale.load(ordering: .acquiring) { refreshRoster() }
  }

  @inlinable @inline(__always)
  final func endRound() {
    if turnstile.leave(), hasErrands.load(ordering: .sequentiallyConsistent) { runErrands() }
  }

  @usableFromInline
  final func refreshRoster() {
    lock.lock()
    isStale.store(false, ordering: .relaxed)
    isOpen.store(false, ordering: .relaxed)
    closeGaps()
    let current = Roster(places) { target(of: $0) }
    lock.unlock()
    let previous = roster
    if !turnstile.isOutermost, let previous { olderRosters.append(previous) }
    roster = current
    first = current.first
    count = current.count
    withExtendedLifetime(previous) {}
  }

  /// What the values for a port end up in, if that is known; see ``Passing``.
  @usableFromInline func target(of port: AnyObject) -> AnyObject? { nil }

  /// Notes that all in the roster took a value and want everything.
  ///
  /// Called inside the turnstile.
  @usableFromInline
  final func open() {
    guard turnstile.isOutermost else { return }
    lock.lock()
    if !isStale.load(ordering: .relaxed) { isOpen.store(true, ordering: .relaxed) }
    lock.unlock()
  }

  /// Called under the lock.
  private func markStale() {
    isStale.store(true, ordering: .releasing)
    isOpen.store(false, ordering: .releasing)
  }

  /// Gives the rosters away, to be released with nothing held.
  ///
  /// Called inside the turnstile, with no round under way.
  private func takeRosters() -> (Roster, [Roster])? {
    guard let current = roster else { return nil }
    let older = olderRosters
    roster = nil
    first = nil
    count = 0
    olderRosters = []
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
  final func attach(_ place: Place) -> Bool {
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
  final func detach(_ place: Place, of owner: AnyObject) {
    guard turnstile.tryEnter() else { return detachDuringRound(place, of: owner) }
    guard turnstile.isOutermost else {
      turnstile.leave()
      return detachDuringRound(place, of: owner)
    }
    // Nobody is inside and nobody can come, so the port can go as soon as the turnstile is left.
    let port = place.takePort()
    lock.lock()
    remove(place)
    lock.unlock()
    let rosters = takeRosters()
    endRound()
    // Here, with nothing held, chains and what they captured may go.
    _ = (consume port, consume rosters)
  }

  private func detachDuringRound(_ place: Place, of owner: AnyObject) {
    lock.lock()
    remove(place)
    lock.unlock()
    retire(place, of: owner)
    runErrands()
  }

  /// Called under the lock.
  private func remove(_ place: Place) {
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
  final func retire(_ place: Place, of owner: AnyObject) {
    guard let port = place.takePort() else { return }
    lock.lock()
    leavers.append(port)
    leavers.append(owner)
    hasErrands.store(true, ordering: .sequentiallyConsistent)
    lock.unlock()
  }

  /// Has a place served inside the turnstile: now if no other thread is there, else by the one that is.
  ///
  /// It never waits: a request comes from below, and what is below may be what the other thread waits for.
  @usableFromInline
  final func serve(_ place: Place) {
    if turnstile.tryEnter() {
      place.serve()
      endRound()
      return
    }
    lock.lock()
    waiters.append(place)
    hasErrands.store(true, ordering: .sequentiallyConsistent)
    lock.unlock()
    runErrands()
  }

  /// Lets go of those who left, and serves those who wait, if no round is under way; if one is, it will.
  @usableFromInline
  final func runErrands() {
    // Released at the very end: it may be what keeps the crowd.
    var dismissed: [(leavers: ContiguousArray<AnyObject>, rosters: (Roster, [Roster])?)] = []
    while hasErrands.load(ordering: .sequentiallyConsistent), turnstile.tryEnter() {
      guard turnstile.isOutermost else {
        turnstile.leave()
        return
      }
      hasErrands.store(false, ordering: .sequentiallyConsistent)
      lock.lock()
      let gone = leavers
      leavers = []
      let waiting = waiters
      waiters = []
      if !gone.isEmpty { markStale() }
      lock.unlock()
      // Only then is the roster made anew.
      if !gone.isEmpty { dismissed.append((gone, takeRosters())) }
      for place in waiting { place.serve() }
      turnstile.leave()
    }
    // Here, with nothing held, chains and what they captured may go.
    withExtendedLifetime(dismissed) {}
  }

  /// Ends the crowd, and hands out who was in it; nil if it has ended already.
  @usableFromInline
  final func disband() -> ContiguousArray<Place>? {
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

/// One subscriber's place in a crowd, and the subscription that it holds.
@usableFromInline
class Place: Mooring {
  // What the subscriber asked for and did not get yet; closed once it has left or the end has come.
  @usableFromInline let ledger = Ledger()
  // Holds one reference to a ``Port``. Rounds read it without a retain: who takes it out hands it to `Crowd.retire`,
  // which keeps it until no round is under way.
  @usableFromInline let port: Atomic<Unmanaged<AnyObject>?>
  private let lock = Lock()
  // The index among the crowd's places; guarded by the crowd's lock. Half a word, which saves a subscription sixteen
  // bytes; so many subscribers do not fit into memory.
  @exclusivity(unchecked) fileprivate var index: Int32 = -1
  // Kept by the owner: only for who holds that.
  @usableFromInline let crowd: Unmanaged<Crowd>
  // Guarded by `lock`, emptied when the place closes. The owner, a subject, lives as long as somebody is subscribed.
  @exclusivity(unchecked) private var owner: AnyObject?
  // What was owed at the end, for reflection.
  @exclusivity(unchecked) private var owedAtEnd = Subscribers.Demand.none

  /// Makes a place.
  ///
  /// - Parameter port: with a reference of its own, which the place takes over.
  @usableFromInline
  init(to port: Unmanaged<AnyObject>, in crowd: Unmanaged<Crowd>, owner: AnyObject) {
    self.port = Atomic(port)
    self.crowd = crowd
    self.owner = owner
  }

  deinit {
    _ = takePort()
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
    guard let last = ledger.close() else { return nil }
    lock.lock()
    defer { lock.unlock() }
    owedAtEnd = last
    return owner.take()
  }

  /// Takes the port out, with the reference it was held by.
  ///
  /// Only for the one who has closed the place: two at a time would both take it.
  @usableFromInline
  final func takePort() -> AnyObject? {
    let taken = port.load(ordering: .acquiring)
    port.store(nil, ordering: .releasing)
    return taken?.takeRetainedValue()
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(name)
    if ledger.owe(demand) { didOwe() }
  }

  /// Called after a request, for sources that have something ready.
  @usableFromInline func didOwe() {}

  /// Delivers what is ready.
  ///
  /// Called inside the turnstile, by the crowd.
  @usableFromInline func serve() {}

  @usableFromInline
  override final func cancel() {
    guard let owner = close() else { return }
    crowd._withUnsafeGuaranteedRef { $0.detach(self, of: owner) }
  }

  // MARK: Reflection

  /// The subscriber behind the place.
  ///
  /// Only called while the place is open.
  @usableFromInline var downstream: Any? { nil }

  @usableFromInline
  final var demand: Subscribers.Demand { ledger.demand ?? lock.withLock { owedAtEnd } }

  @usableFromInline
  override var children: [(label: String?, value: Any)] {
    let owner = openOwner
    return [
      ("parent", owner as Any), ("downstream", (owner == nil ? nil : downstream) as Any), ("demand", demand),
      ("subject", owner as Any),
    ]
  }
}
