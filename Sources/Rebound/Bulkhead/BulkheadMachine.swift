/// Decides who runs, who waits and who is refused.
///
/// It has no clock and no lock.
package struct BulkheadMachine: Hashable, Sendable {
  package enum Admission: Hashable, Sendable {
    case granted
    /// Waits under this number.
    case queued(Int)
    case rejected
  }

  private struct Waiter: Hashable, Sendable {
    let number: Int
    let priority: Int
  }

  private let maxQueue: Int
  private let order: BulkheadPolicy.Order
  package private(set) var limit: Int
  package private(set) var running = 0
  /// The next one last.
  private var queue: [Waiter] = []
  private var lastNumber = 0

  package init(limit: Int, maxQueue: Int, order: BulkheadPolicy.Order) {
    self.limit = limit
    self.maxQueue = maxQueue
    self.order = order
  }

  package var queued: Int { queue.count }

  /// Takes over how many run from where calls were let in and out while nobody waited.
  package mutating func take(running: Int) { self.running = running }

  /// A call asks to be let in.
  ///
  /// - Complexity: O(1) for one that is let in or refused, O(n) in those who wait for one that waits.
  package mutating func enter(priority: Int = 0) -> Admission {
    // Whoever waits goes first; with a free place nobody does.
    if running < limit, queue.isEmpty {
      running += 1
      return .granted
    }
    guard queue.count < maxQueue else { return .rejected }
    lastNumber += 1
    let waiter = Waiter(number: lastNumber, priority: priority)
    switch order {
    case .fifo: queue.insert(waiter, at: 0)
    case .lifo: queue.append(waiter)
    case .priority, .earliestDeadline: queue.insert(waiter, at: firstIndex(withPriority: priority))
    }
    return .queued(lastNumber)
  }

  /// Where the first one stands whose priority is at least this.
  private func firstIndex(withPriority priority: Int) -> Int {
    var (low, high) = (0, queue.count)
    while low < high {
      let middle = (low + high) / 2
      if queue[middle].priority < priority { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// A call that ran has ended.
  ///
  /// - Returns: The numbers of those who run now, in order.
  package mutating func leave() -> [Int] {
    running -= 1
    return letIn()
  }

  /// One who waits no longer does.
  ///
  /// - Returns: Whether it still waited.
  package mutating func abandon(_ number: Int) -> Bool {
    // From behind, since whoever has waited longest is most likely to give up.
    guard let index = queue.lastIndex(where: { $0.number == number }) else { return false }
    queue.remove(at: index)
    return true
  }

  /// More or fewer may run from now on; those who run are not stopped.
  ///
  /// - Returns: The numbers of those who run now, in order.
  package mutating func change(limit: Int) -> [Int] {
    self.limit = limit
    return letIn()
  }

  private mutating func letIn() -> [Int] {
    var granted: [Int] = []
    while running < limit, let next = queue.popLast() {
      running += 1
      granted.append(next.number)
    }
    return granted
  }
}
