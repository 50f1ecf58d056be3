/// Counts of what has happened within a window of time, which moves on a tenth of itself at a time.
///
/// It has no clock and no lock.
struct RecentCounts<Counts: AdditiveArithmetic & Sendable>: Sendable {
  private static var slotCount: Int { 10 }

  private let slotLength: Duration
  private var slots: [Counts]
  private var current = 0
  /// When the slot at hand ends.
  private var slotEnd: Duration?
  private(set) var total = Counts.zero

  init(window: Duration) {
    slotLength = window / Self.slotCount
    slots = Array(repeating: .zero, count: Self.slotCount)
  }

  mutating func add(_ counts: Counts) {
    total += counts
    slots[current] += counts
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
    let passed = Int(min((now - end) / slotLength, Double(Self.slotCount)).rounded(.down)) + 1
    for _ in 0..<min(passed, Self.slotCount) {
      current = (current + 1) % Self.slotCount
      total -= slots[current]
      slots[current] = .zero
    }
    slotEnd = passed > Self.slotCount ? now + slotLength : end + slotLength * passed
    return min(passed, Self.slotCount)
  }
}
