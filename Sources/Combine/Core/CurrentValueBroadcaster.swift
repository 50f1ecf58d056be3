import Synchronization

/// A broadcaster whose source keeps the latest value in a ``AtomicBox``, and owes it to everyone who has not got it yet.
@usableFromInline
final class CurrentValueBroadcaster<Output, Failure: Error> {
  @usableFromInline let broadcaster = Broadcaster<Output, Failure>()
  // The value that goes round before the box has it, if the source works that way; touched only inside the combining lock.
  @exclusivity(unchecked) @usableFromInline var underway: Output?
  // The numbers of that value's round and of the latest; touched only inside the combining lock, too.
  @exclusivity(unchecked) @usableFromInline var roundUnderway: UInt32 = 0
  @exclusivity(unchecked) @usableFromInline var latestRound: UInt32 = 0

  @inlinable
  init() {}

  @inlinable
  var hasEnded: Bool { broadcaster.hasEnded.load(ordering: .acquiring) }

  /// Delivers a value to all who asked for one, and marks the others as owed the latest.
  ///
  /// Called inside a round.
  @inlinable @inline(__always)
  func deliver(_ value: Output) {
    latestRound &+= 1
    let round = latestRound
    broadcaster.deliver { subscription in
      // Subscriptions of this kind are all that is attached here.
      unsafeDowncast(subscription, to: CurrentValueSubscription<Output, Failure>.self).offerLatest(value, in: round)
    }
  }

  /// Adds a subscriber.
  ///
  /// - Parameter owner: keeps this and the box alive.
  @inlinable
  func attach(
    _ erased: ErasedSubscriber<Output, Failure>,
    reading box: AtomicBox<Output>,
    name: String,
    owner: AnyObject
  ) {
    broadcaster.attach(CurrentValueSubscription(to: erased, of: self, reading: box, name: name, owner: owner), erased)
  }
}

/// A subscription to a broadcaster with a latest value.
@usableFromInline
final class CurrentValueSubscription<Output, Failure: Error>: SubjectSubscription<Output, Failure> {
  /// What a subscriber has got of the latest value.
  @usableFromInline
  enum Standing {
    /// All it asked for, or what comes to it with the round.
    @inlinable static var settled: UInt32 { 0 }
    /// It is owed that value.
    @inlinable static var owed: UInt32 { 1 }
    /// It asked while a round was under way and got that value, which must not come to it once more.
    @inlinable
    static func served(in round: UInt32) -> UInt32 { round << 1 }
  }

  // Changed inside the combining lock; half a word, as the index of the base class.
  @usableFromInline let standing = Atomic<UInt32>(Standing.owed)
  @usableFromInline let label: String
  // As long as the subscription is open its owner keeps both alive; they are only read between the two.
  @usableFromInline unowned let values: CurrentValueBroadcaster<Output, Failure>
  @usableFromInline unowned let box: AtomicBox<Output>

  @inlinable
  init(
    to erased: ErasedSubscriber<Output, Failure>,
    of values: CurrentValueBroadcaster<Output, Failure>,
    reading box: AtomicBox<Output>,
    name: String,
    owner: AnyObject
  ) {
    self.values = values
    self.box = box
    label = name
    super.init(to: erased, of: values.broadcaster, owner: owner)
  }

  @inlinable
  func offerLatest(_ value: Output, in round: UInt32) {
    let current = standing.load(ordering: .relaxed)
    if current != Standing.settled {
      if current == Standing.owed {
        // Cleared first: the subscriber may ask again from inside, and must not get the same value twice; and what is
        // sent from inside may be owed when this returns.
        standing.store(Standing.settled, ordering: .relaxed)
      } else if wasServed(in: round, current) {
        return
      }
    }
    if !offer(value) { keepOwing(value, else: Standing.settled) }
  }

  /// Whether a subscriber has got the value of a round already; forgets it when it is of no more use.
  @usableFromInline
  func wasServed(in round: UInt32, _ current: UInt32) -> Bool {
    let isThisRound = current == Standing.served(in: round)
    // An outermost round is not inside the other one, which therefore is over.
    if isThisRound || values.broadcaster.combiningLock.isOutermost {
      standing.store(Standing.settled, ordering: .relaxed)
    }
    return isThisRound
  }

  /// Marks the latest value as owed, and offers it again if a request came just before the mark and did not see it.
  ///
  /// - Parameter got: how the subscriber stands once it has got the value.
  @usableFromInline
  func keepOwing(_ value: Output, else got: UInt32) {
    repeat {
      standing.store(Standing.owed, ordering: .relaxed)
      // With the fence in `didRequest`: either the request sees the mark, or this sees the request.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      guard let owed = outstanding.demand, owed != .none else { return }
      standing.store(got, ordering: .relaxed)
    } while !offer(value)
  }

  @usableFromInline
  override func didRequest() {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    guard standing.load(ordering: .relaxed) == Standing.owed, let owner = openOwner else { return }
    withExtendedLifetime(owner) { values.broadcaster.serve(self) }
  }

  @usableFromInline
  override func serve() {
    guard standing.load(ordering: .relaxed) == Standing.owed, let owner = openOwner else { return }
    withExtendedLifetime(owner) {
      let round = values.underway == nil ? values.latestRound : values.roundUnderway
      let isInsideRound = !values.broadcaster.combiningLock.isOutermost
      let got = isInsideRound ? Standing.served(in: round) : Standing.settled
      // Cleared first: the subscriber may ask again from inside, and must not get the same value twice.
      standing.store(got, ordering: .relaxed)
      let value = values.underway ?? box.value
      if !offer(value) { keepOwing(value, else: got) }
    }
  }

  @usableFromInline override var name: String { label }
}
