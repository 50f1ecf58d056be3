import StreamSupport

/// The failures of a call's attempts, of which the last ten are kept, or the last nine and the last one before them after which
/// a server may have acted.
struct FailureHistory: ~Copyable, Sendable {
  private static let limit = 10

  private let failures = Locked<[NetworkFailure]>([])

  /// Oldest first.
  var all: [NetworkFailure] { failures.withLock { $0 } }

  func append(_ failure: NetworkFailure) {
    let before = failures.withLock { failures in
      let before = failures
      failures.append(failure)
      guard failures.count > FailureHistory.limit else { return before }
      // Those that prove that nothing was done say so of themselves alone.
      let rest = failures.dropFirst()
      let isLastDoubt = !failures[0].provesNothingWasDone && rest.allSatisfy(\.provesNothingWasDone)
      failures.remove(at: isLastDoubt ? 1 : 0)
      return before
    }
    withExtendedLifetime(before) {}
  }
}
