import StreamSupport

/// The failures of a call's attempts, of which the last ten are kept.
struct FailureHistory: ~Copyable, Sendable {
  private static let limit = 10

  private let failures = Locked<[NetworkFailure]>([])

  /// Oldest first.
  var all: [NetworkFailure] { failures.withLock { $0 } }

  func append(_ failure: NetworkFailure) {
    let before = failures.withLock { failures in
      let before = failures
      failures = failures.suffix(FailureHistory.limit - 1) + [failure]
      return before
    }
    withExtendedLifetime(before) {}
  }
}
