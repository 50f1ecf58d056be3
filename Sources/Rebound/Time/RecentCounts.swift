/// What is counted, several numbers at once.
protocol Summable: Hashable, Sendable {
  init()
  /// Adds the numbers of another one, so many times.
  mutating func add(_ other: Self, times: Int)
}

/// Counts of what has happened within a window of time, which moves on a tenth of itself at a time.
///
/// It has no clock and no lock.
struct RecentCounts<Counts: Summable>: Hashable, Sendable {
  private static var slotCount: Int { 10 }

  private let slotLength: Duration
  private var slots: [Counts]
  private var current = 0
  /// When the slot at hand ends; only then is there anything to compute.
  private(set) var slotEnd: Duration?
  private(set) var total = Counts()

  /// Makes a window in which nothing has happened.
  ///
  /// - Parameters:
  ///   - window: How long what happens counts.
  ///   - start: When the first slot begins; when time is first told, if nothing is said.
  init(window: Duration, from start: Duration? = nil) {
    slotLength = max(window / Self.slotCount, .nanoseconds(1))
    slots = Array(repeating: Counts(), count: Self.slotCount)
    slotEnd = start.map { [slotLength] in $0 + slotLength }
  }

  mutating func add(_ counts: Counts) {
    total.add(counts, times: 1)
    slots[current].add(counts, times: 1)
  }

  /// Lets what is too old count no more; a step back counts as no time at all.
  ///
  /// - Returns: How many slots have ended, at most all of them.
  @discardableResult
  mutating func move(to now: Duration) -> Int {
    guard let end = slotEnd else {
      slotEnd = now + slotLength
      return 0
    }
    guard now >= end else { return 0 }
    let ended = Int((now - end) / slotLength) + 1
    slotEnd = end + slotLength * ended
    let emptied = min(ended, Self.slotCount)
    for _ in 0..<emptied {
      current = (current + 1) % Self.slotCount
      total.add(slots[current], times: -1)
      slots[current] = Counts()
    }
    return emptied
  }
}
