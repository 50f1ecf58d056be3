import Synchronization

/// A fan-out whose source keeps the latest value in a ``Cell``, and owes it to everyone who has not got it yet.
@usableFromInline
final class Latest<Output, Failure: Error> {
  @usableFromInline let fanout = Fanout<Output, Failure>()
  // The value that goes round before the cell has it, if the source works that way; touched only inside the turnstile.
  @exclusivity(unchecked) @usableFromInline var underway: Output?

  @inlinable
  init() {}

  @inlinable
  var hasEnded: Bool { fanout.hasEnded.load(ordering: .acquiring) }

  /// Delivers a value to all who asked for one, and marks the others as owed the latest.
  ///
  /// Called inside a round.
  @inlinable @inline(__always)
  func deliver(_ value: Output) {
    fanout.deliver(value) { outlet in
      // A latest outlet is the only kind that is attached here.
      let outlet = unsafeDowncast(outlet, to: LatestOutlet<Output, Failure>.self)
      outlet.offerLatest(value)
      return outlet.ledger.isUnlimited && !outlet.isOwedLatest.load(ordering: .relaxed)
    }
  }

  /// Adds a subscriber.
  ///
  /// - Parameter owner: keeps this and the cell alive.
  @inlinable
  func attach(_ port: Port<Output, Failure>, reading cell: Cell<Output>, name: String, owner: AnyObject) {
    fanout.attach(LatestOutlet(to: port, of: self, reading: cell, name: name, owner: owner), port)
  }
}

/// A subscriber's place at a fan-out with a latest value.
@usableFromInline
final class LatestOutlet<Output, Failure: Error>: Outlet<Output, Failure> {
  @usableFromInline let isOwedLatest = Atomic<Bool>(true)
  @usableFromInline let label: String
  // As long as the outlet is open its owner keeps both alive; they are only read between the two.
  @usableFromInline unowned let latest: Latest<Output, Failure>
  @usableFromInline unowned let cell: Cell<Output>

  @inlinable
  init(
    to port: Port<Output, Failure>,
    of latest: Latest<Output, Failure>,
    reading cell: Cell<Output>,
    name: String,
    owner: AnyObject
  ) {
    self.latest = latest
    self.cell = cell
    label = name
    super.init(to: port, of: latest.fanout, owner: owner)
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
      // With the fence in `didOwe`: either the request sees the mark, or this sees the request.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      guard let owed = ledger.demand, owed != .none else { return }
      isOwedLatest.store(false, ordering: .relaxed)
    } while !offer(value)
  }

  @usableFromInline
  override func didOwe() {
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    guard isOwedLatest.load(ordering: .relaxed), let owner = openOwner else { return }
    withExtendedLifetime(owner) { latest.fanout.serve(self) }
  }

  @usableFromInline
  override func serve() {
    guard isOwedLatest.load(ordering: .relaxed), let owner = openOwner else { return }
    withExtendedLifetime(owner) {
      // Cleared first: the subscriber may ask again from inside, and must not get the same value twice.
      isOwedLatest.store(false, ordering: .relaxed)
      let value = latest.underway ?? cell.value
      if !offer(value) { keepOwing(value) }
    }
  }

  @usableFromInline override var name: String { label }
}
