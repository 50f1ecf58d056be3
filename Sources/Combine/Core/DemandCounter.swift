import Synchronization

/// Outstanding demand: what a subscriber asked for and did not get yet.
///
/// Raised by anyone, lowered by whoever delivers; no lock. Once closed it stays closed.
@usableFromInline
struct DemandCounter: ~Copyable {
  @usableFromInline let count = Atomic<UInt>(0)

  @inlinable static var closed: UInt { .max }
  @inlinable static var unlimited: UInt { UInt(Int.max) + 1 }

  @inlinable
  init() {}

  // Acquiring: who delivers then sees all that the subscriber did before it asked.
  @inlinable @inline(__always)
  var isUnlimited: Bool { count.load(ordering: .acquiring) == Self.unlimited }

  @inlinable
  var isClosed: Bool { count.load(ordering: .relaxed) == Self.closed }

  /// What is owed now; nil once closed.
  @inlinable
  var demand: Subscribers.Demand? {
    let current = count.load(ordering: .relaxed)
    return current == Self.closed ? nil : Subscribers.Demand(rawValue: current)
  }

  /// Whether something is owed, for one who has just announced not to deliver any more.
  ///
  /// Reads by way of a write: so either this sees a request, or who made that sees the announcement.
  @usableFromInline
  func hasDemand() -> Bool {
    let current = count.bitwiseOr(0, ordering: .acquiringAndReleasing).oldValue
    return current > 0 && current != Self.closed
  }

  /// Takes one off what is owed; false if nothing is, or the counter is closed.
  @inlinable @inline(__always)
  func takeOne() -> Bool {
    var current = count.load(ordering: .acquiring)
    while true {
      if current == Self.unlimited { return true }
      guard current > 0, current != Self.closed else { return false }
      let (exchanged, original) = count.compareExchange(
        expected: current,
        desired: current - 1,
        ordering: .acquiringAndReleasing
      )
      if exchanged { return true }
      current = original
    }
  }

  /// Adds to what is owed; false if the counter is closed.
  @inlinable @inline(__always) @discardableResult
  func add(_ demand: Subscribers.Demand) -> Bool {
    // Nothing can be added to everything; a drain gets here for each value that was left out.
    isUnlimited || addCounted(demand)
  }

  @usableFromInline
  func addCounted(_ demand: Subscribers.Demand) -> Bool {
    var current = count.load(ordering: .relaxed)
    while true {
      guard current != Self.closed else { return false }
      let sum = (Subscribers.Demand(rawValue: current) + demand).rawValue
      let (exchanged, original) = count.compareExchange(
        expected: current,
        desired: sum,
        ordering: .acquiringAndReleasing
      )
      if exchanged { return true }
      current = original
    }
  }

  /// Closes the counter, and gives what was owed to the one caller who did.
  @usableFromInline
  func close() -> Subscribers.Demand? {
    let last = count.exchange(Self.closed, ordering: .acquiringAndReleasing)
    return last == Self.closed ? nil : Subscribers.Demand(rawValue: last)
  }
}
