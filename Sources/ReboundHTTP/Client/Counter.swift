import StreamSupport

/// Counts the attempts of one execution.
struct Counter: ~Copyable, Sendable {
  private let last = Locked(0)

  /// How many have begun.
  var count: Int { last.withLock { $0 } }

  func next() -> Int {
    last.withLock { last in
      last += 1
      return last
    }
  }
}
