import StreamSupport

/// Lets calls of a closed breaker through, and counts those that succeed, without its lock.
///
/// Whoever holds the lock takes what was counted here with ``close()``, which shuts the fast path for all others, and
/// opens it again with ``open(as:)``. A success that meets it shut, or opened for another generation, takes
/// the lock instead.
struct CircuitBreakerFastPath: ~Copyable, Sendable {
  /// From the low end: how many have succeeded (32 bits), two flags, the generation.
  private let word = AtomicWord()
  /// When those who succeed have to move the window, in ticks.
  private let end = AtomicWord()

  private static let successes: UInt64 = 1 << 32 - 1
  private static let lettingThrough: UInt64 = 1 << 32
  private static let counting: UInt64 = 1 << 33
  private static let generationShift: UInt64 = 34
  /// Generations begin again at zero after this one.
  static let lastGeneration = 1 << 30 - 1

  /// What a call is let through with; `nil` if the machine is to be asked.
  @inline(__always)
  var permit: CircuitBreakerMachine.Permit? {
    let word = word.value
    guard word & Self.lettingThrough != 0 else { return nil }
    return .uncounted(generation: Int(word >> Self.generationShift))
  }

  /// Counts a success.
  ///
  /// - Parameter now: Looked at if not `nil`; if it is, time does not matter to the breaker.
  /// - Returns: Whether it is counted.
  @inline(__always)
  func count(_ permit: CircuitBreakerMachine.Permit, now: Duration?) -> Bool {
    guard permit.isUncounted else { return false }
    var word = word.value
    while word & Self.counting != 0, Int(word >> Self.generationShift) == permit.generation {
      guard let now else { return true }
      guard now.ticks < end.value, word & Self.successes < Self.successes else { return false }
      let before = self.word.compareExchange(word, word + 1)
      if before == word { return true }
      word = before
    }
    return false
  }

  /// Shuts the fast path; with the lock held.
  ///
  /// - Returns: How many were counted.
  func close() -> Int {
    guard word.value != 0 else { return 0 }
    return Int(word.exchange(0) & Self.successes)
  }

  /// Opens the fast path as far as the machine allows; with the lock held.
  func open(as machine: borrowing CircuitBreakerMachine) {
    guard machine.letsAllThrough else { return }
    var new = Self.lettingThrough | UInt64(machine.generation) << Self.generationShift
    if let windowEnd = machine.countsSuccessesUntil {
      end.set(windowEnd.ticks)
      new |= Self.counting
    }
    word.set(new)
  }
}

extension Duration {
  /// In units of about a nanosecond, rounded down; zero for what is negative.
  ///
  /// Cheaper than nanoseconds, which are a division.
  @inline(__always)
  fileprivate var ticks: UInt64 {
    guard _high >= 0 else { return 0 }
    // Bits 30 to 93 of the attoseconds.
    return _high >> 30 > 0 ? .max : UInt64(_high) << 34 | _low >> 30
  }
}
