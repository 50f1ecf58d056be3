/// Who does something when: a list for each tick, threaded through one array of clients.
///
/// Each client waits for one thing at a time, so four bytes for each are all it takes. What is due in one tick comes in
/// the order in which it was entered.
///
/// - Complexity: O(1) for entering and for taking out.
struct Calendar {
  private static let none: Int32 = -1

  private var first: [Int32]
  private var last: [Int32]
  private var next: [Int32]

  init(ticks: Int, clients: Int) {
    first = Array(repeating: Self.none, count: ticks)
    last = first
    next = Array(repeating: Self.none, count: clients)
  }

  /// Enters a client; what lies behind the last tick is not played.
  mutating func enter(_ client: Int, at tick: Int) {
    guard tick < first.count else { return }
    let entry = Int32(truncatingIfNeeded: client)
    next[client] = Self.none
    if last[tick] == Self.none { first[tick] = entry } else { next[Int(last[tick])] = entry }
    last[tick] = entry
  }

  /// Takes out the next client that is due in a tick, those included that are entered meanwhile.
  mutating func take(at tick: Int) -> Int? {
    let entry = first[tick]
    guard entry != Self.none else { return nil }
    first[tick] = next[Int(entry)]
    if first[tick] == Self.none { last[tick] = Self.none }
    return Int(entry)
  }
}
