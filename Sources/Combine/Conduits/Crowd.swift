import StreamSupport
import Synchronization

/// Who is subscribed to one source, and how a value goes round among them.
///
/// - A turnstile is held while a value goes round, so every subscriber sees one event at a time and all see the same
///   order. Sends from inside a subscriber are delivered depth first.
/// - A value goes to those who were there when its round began. Who is there is kept under a leaf lock; a round walks a
///   copy, made anew only when somebody came or went, so attaching and detaching stay linear in number.
/// - What is behind a subscriber who leaves is let go at once if no round is under way, else when the round ends: the
///   round may be inside, on this thread or another. So rounds walk and deliver without a retain.
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
  @exclusivity(unchecked) private var roster = Roster([])
  @exclusivity(unchecked) @usableFromInline var first: UnsafeMutablePointer<Unmanaged<Place>>?
  @exclusivity(unchecked) @usableFromInline var count = 0
  @exclusivity(unchecked) private var olderRosters: [Roster] = []

  // Whether the roster differs from `places`; changed under `lock`.
  @usableFromInline let isStale = Atomic<Bool>(false)
  // Whether something waits for the end of the round: to be let go, or to be served. Sequentially consistent with the
  // turnstile: who brings an errand sets it before trying the turnstile, who ends a round reads it after leaving it.
  @usableFromInline let hasErrands = Atomic<Bool>(false)
  // Whether the end has come; set under `lock`, with nobody attached afterwards.
  @usableFromInline let hasEnded = Atomic<Bool>(false)

  @usableFromInline
  init() {}

  /// A copy of those attached, which keeps them as long as it is needed.
  private final class Roster {
    let first: UnsafeMutablePointer<Unmanaged<Place>>?
    let count: Int

    init(_ places: ContiguousArray<Place?>) {
      let present = places.lazy.compactMap { $0 }
      count = places.count { $0 != nil }
      first = count == 0 ? nil : .allocate(capacity: count)
      for (index, place) in present.enumerated() { first?.advanced(by: index).initialize(to: .passRetained(place)) }
    }

    deinit {
      for index in 0..<count { first?[index].release() }
      first?.deallocate()
    }
  }

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
    closeGaps()
    let current = Roster(places)
    lock.unlock()
    let previous = roster
    if !turnstile.isOutermost { olderRosters.append(previous) }
    use(current)
    withExtendedLifetime(previous) {}
  }

  private func use(_ roster: Roster) {
    self.roster = roster
    first = roster.first
    count = roster.count
  }

  private func closeGaps() {
    guard holes > 0 else { return }
    places.removeAll { $0 == nil }
    for index in places.indices { places[index]?.index = index }
    holes = 0
  }

  /// Adds a place; false if the end has come already.
  @usableFromInline
  final func attach(_ place: Place) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard !hasEnded.load(ordering: .relaxed) else { return false }
    place.index = places.count
    places.append(place)
    isStale.store(true, ordering: .releasing)
    return true
  }

  /// Takes a place out, and lets go of what is behind it when no round can be inside.
  @usableFromInline
  final func detach(_ place: Place) {
    lock.lock()
    if places.indices.contains(place.index), places[place.index] === place {
      places[place.index] = nil
      holes += 1
      while case .some(.none) = places.last {
        places.removeLast()
        holes -= 1
      }
    }
    isStale.store(true, ordering: .releasing)
    lock.unlock()
    retire(place)
    runErrands()
  }

  /// Keeps what is behind a place until no round can be inside any more.
  @usableFromInline
  final func retire(_ place: Place) {
    guard let port = place.takePort() else { return }
    lock.lock()
    leavers.append(port)
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
      if !gone.isEmpty { isStale.store(true, ordering: .releasing) }
      lock.unlock()
      let rosters = (roster, olderRosters)
      olderRosters = []
      if !gone.isEmpty, roster.count > 0 { use(Roster([])) }
      for place in waiting { place.serve() }
      turnstile.leave()
      // Here, with nothing held, chains and what they captured may go.
      withExtendedLifetime((gone, rosters)) {}
    }
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
    isStale.store(true, ordering: .releasing)
    return present
  }
}

/// One subscriber's place in a crowd, and the subscription that it holds.
@usableFromInline
class Place: Subscription, CustomStringConvertible, CustomReflectable, CustomPlaygroundDisplayConvertible {
  // What the subscriber asked for and did not get yet; closed once it has left or the end has come.
  @usableFromInline let ledger = Ledger()
  // Holds one reference to a ``Port``. Rounds read it without a retain: who takes it out hands it to `Crowd.retire`,
  // which keeps it until no round is under way.
  @usableFromInline let port: Atomic<Unmanaged<AnyObject>?>
  // The index among the crowd's places; guarded by the crowd's lock.
  @exclusivity(unchecked) fileprivate var index = -1

  private let lock = Lock()
  // Guarded by `lock`, emptied when the place closes. The owner, a subject, lives as long as somebody is subscribed.
  @exclusivity(unchecked) private var crowd: Crowd?
  @exclusivity(unchecked) private var owner: AnyObject?
  // What was owed at the end, for reflection.
  @exclusivity(unchecked) private var owedAtEnd = Subscribers.Demand.none

  @usableFromInline
  init(to port: AnyObject, in crowd: Crowd, owner: AnyObject) {
    self.port = Atomic(.passRetained(port))
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

  /// Closes the place, and gives its crowd to the one caller who did.
  @usableFromInline
  final func close() -> Crowd? {
    guard let last = ledger.close() else { return nil }
    lock.lock()
    owedAtEnd = last
    let crowd = crowd
    let owner = owner
    self.crowd = nil
    self.owner = nil
    lock.unlock()
    // The owner may have been kept by this place alone; the crowd that is returned does not need it.
    withExtendedLifetime(owner) {}
    return crowd
  }

  /// Takes the port out, with the reference it was held by.
  @usableFromInline
  final func takePort() -> AnyObject? {
    port.exchange(nil, ordering: .acquiringAndReleasing)?.takeRetainedValue()
  }

  @usableFromInline
  func request(_ demand: Subscribers.Demand) {
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
  final func cancel() {
    close()?.detach(self)
  }

  // MARK: Reflection

  @usableFromInline var name: String { "\(type(of: self))" }
  /// The subscriber behind the place.
  ///
  /// Only called while the place is open.
  @usableFromInline var downstream: Any? { nil }

  @usableFromInline
  final var demand: Subscribers.Demand { ledger.demand ?? lock.withLock { owedAtEnd } }

  @usableFromInline final var description: String { name }
  @usableFromInline final var playgroundDescription: Any { name }
  @usableFromInline
  var children: [(label: String?, value: Any)] {
    let owner = openOwner
    return [
      ("parent", owner as Any), ("downstream", (owner == nil ? nil : downstream) as Any), ("demand", demand),
      ("subject", owner as Any),
    ]
  }
  @usableFromInline
  final var customMirror: Mirror {
    Mirror(self, children: children.map { (label: $0.label, value: $0.value) })
  }
}
