import Synchronization

/// A broadcaster whose source keeps the latest value in a ``AtomicBox``, and owes it to everyone who has not got it yet.
@usableFromInline
final class CurrentValueBroadcaster<Output, Failure: Error> {
  @usableFromInline let broadcaster = Broadcaster<Output, Failure>()
  // The value that goes round before the box has it, if the source works that way; touched only inside the combining lock.
  @exclusivity(unchecked) @usableFromInline var underway: Output?

  @inlinable
  init() {}

  @inlinable
  var hasEnded: Bool { broadcaster.hasEnded.load(ordering: .acquiring) }

  /// Delivers a value to all who asked for one, and marks the others as owed the latest.
  ///
  /// Called inside a round.
  @inlinable @inline(__always)
  func deliver(_ value: Output) {
    broadcaster.deliver { subscription in
      // Subscriptions of this kind are all that is attached here.
      unsafeDowncast(subscription, to: CurrentValueSubscription<Output, Failure>.self).offerLatest(value)
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
  @usableFromInline let isOwedLatest = Atomic<Bool>(true)
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
  func offerLatest(_ value: Output) {
    // Cleared first: the subscriber may ask again from inside, and must not get the same value twice; and what is sent
    // from inside may be owed when this returns.
    if isOwedLatest.load(ordering: .relaxed) { isOwedLatest.store(false, ordering: .relaxed) }
    if !offer(value) { keepOwing(value) }
  }

  /// Marks the latest value as owed, and offers it again if a request came just before the mark and did not see it.
  @usableFromInline
  func keepOwing(_ value: Output) {
    repeat {
      isOwedLatest.store(true, ordering: .relaxed)
      // With the fence in `didRequest`: either the request sees the mark, or this sees the request.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      guard let owed = outstanding.demand, owed != .none else { return }
      isOwedLatest.store(false, ordering: .relaxed)
    } while !offer(value)
  }

  @usableFromInline
  override func didRequest() {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    guard isOwedLatest.load(ordering: .relaxed), let owner = openOwner else { return }
    withExtendedLifetime(owner) { values.broadcaster.serve(self) }
  }

  @usableFromInline
  override func serve() {
    guard isOwedLatest.load(ordering: .relaxed), let owner = openOwner else { return }
    withExtendedLifetime(owner) {
      // Cleared first: the subscriber may ask again from inside, and must not get the same value twice.
      isOwedLatest.store(false, ordering: .relaxed)
      let value = values.underway ?? box.value
      if !offer(value) { keepOwing(value) }
    }
  }

  @usableFromInline override var name: String { label }
}
