import StreamSupport
import Synchronization

/// A fan-out that keeps the latest value, and owes it to everyone who has not got it yet.
@usableFromInline
final class Latest<Output, Failure: Error> {
  @usableFromInline let fanout = Fanout<Output, Failure>()
  @usableFromInline let lock = Lock()
  // Guarded by `lock`.
  @exclusivity(unchecked) @usableFromInline var current: Output

  @inlinable
  init(_ value: Output) {
    current = value
  }

  @inlinable
  var value: Output {
    lock.lock()
    defer { lock.unlock() }
    return current
  }

  @inlinable
  var hasEnded: Bool { fanout.hasEnded.load(ordering: .acquiring) }

  /// Keeps a value without telling anyone.
  @inlinable
  func keep(_ value: Output) {
    lock.lock()
    let previous = current
    current = value
    lock.unlock()
    // Outside the lock: a value may run code of its own when it goes.
    withExtendedLifetime(previous) {}
  }

  /// Delivers a value to all who asked for one, and marks the others as owed the latest.
  @inlinable @inline(__always)
  func publish(_ value: Output) {
    fanout.round { outlet in
      // A latest outlet is the only kind that is attached here.
      unsafeDowncast(outlet, to: LatestOutlet<Output, Failure>.self).offerLatest(value)
    }
  }

  @usableFromInline
  func attach(_ port: Port<Output, Failure>, name: String, owner: AnyObject) {
    fanout.attach(LatestOutlet(to: port, of: self, name: name, owner: owner), port)
  }
}

/// A subscriber's place at a fan-out with a latest value.
@usableFromInline
final class LatestOutlet<Output, Failure: Error>: Outlet<Output, Failure> {
  @usableFromInline let isOwedLatest = Atomic<Bool>(true)
  @usableFromInline let label: String
  // As long as the outlet is open its owner keeps this alive; `latest` is only read between the two.
  @usableFromInline unowned let latest: Latest<Output, Failure>

  @usableFromInline
  init(to port: Port<Output, Failure>, of latest: Latest<Output, Failure>, name: String, owner: AnyObject) {
    self.latest = latest
    label = name
    super.init(to: port, of: latest.fanout, owner: owner)
  }

  @inlinable @inline(__always)
  func offerLatest(_ value: Output) {
    let isOwed = !offer(value)
    if isOwedLatest.load(ordering: .relaxed) != isOwed { isOwedLatest.store(isOwed, ordering: .relaxed) }
  }

  @usableFromInline
  override func didOwe() {
    guard isOwedLatest.load(ordering: .relaxed), let owner = openOwner else { return }
    withExtendedLifetime(owner) {
      let fanout = latest.fanout
      fanout.turnstile.enter()
      if isOwedLatest.load(ordering: .relaxed) {
        // Cleared first: the subscriber may ask again from inside, and must not get the same value twice.
        isOwedLatest.store(false, ordering: .relaxed)
        if !offer(latest.value) { isOwedLatest.store(true, ordering: .relaxed) }
      }
      fanout.endRound()
    }
  }

  @usableFromInline override var name: String { label }
}
