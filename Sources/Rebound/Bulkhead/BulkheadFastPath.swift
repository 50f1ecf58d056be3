import StreamSupport

/// Lets calls in and out of a bulkhead without its lock, while there are free places and nobody waits or listens.
///
/// While the fast path is open, the number of those who run is here and nowhere else. Whoever holds the lock takes it with
/// ``close()``, which shuts the fast path for all others, and puts it back with ``open(running:limit:)``.
struct BulkheadFastPath: ~Copyable, Sendable {
  /// From the low end: how many run (31 bits), how many may run (31 bits), whether the fast path is open.
  private let word = AtomicWord()

  private static let isOpen: UInt64 = 1 << 62
  private static let numbers: UInt64 = 1 << 31 - 1

  /// How many run as far as the fast path knows.
  var running: Int { Int(word.value & Self.numbers) }

  /// Takes a place if one is free.
  ///
  /// - Returns: How many run now; `nil` if the lock is to be taken.
  @inline(__always)
  func enter() -> Int? {
    var word = word.value
    while word & Self.isOpen != 0, word & Self.numbers < word >> 31 & Self.numbers {
      let before = self.word.compareExchange(word, word + 1)
      if before == word { return Int(word & Self.numbers) + 1 }
      word = before
    }
    return nil
  }

  /// Gives a place back.
  ///
  /// - Returns: Whether that is done; if not, the lock is to be taken.
  @inline(__always)
  func leave() -> Bool {
    var word = word.value
    while word & Self.isOpen != 0 {
      let before = self.word.compareExchange(word, word - 1)
      if before == word { return true }
      word = before
    }
    return false
  }

  /// Shuts the fast path; with the lock held.
  ///
  /// - Returns: How many run; `nil` if it was shut.
  func close() -> Int? {
    guard word.value != 0 else { return nil }
    return Int(word.exchange(0) & Self.numbers)
  }

  /// Opens the fast path; with the lock held.
  func open(running: Int, limit: Int) {
    word.set(Self.isOpen | UInt64(min(limit, Int(Self.numbers))) << 31 | UInt64(running))
  }
}
