import Foundation
import WebServer

/// Runs blocking work on threads of its own: at most `width` pieces at once, with at most `backlog` waiting.
///
/// Blocking work would otherwise hold up Swift's few shared threads, and without an end to the waiting, a rush of
/// sign-ups would hold up everybody for minutes.
final class WorkQueue: Sendable {
  /// Too much work is waiting.
  struct Full: Error {}

  private let queue = OperationQueue()
  private let limit: Int
  private let pending = Locked(0)

  init(name: String, width: Int, backlog: Int) {
    queue.name = name
    queue.maxConcurrentOperationCount = width
    limit = width + backlog
  }

  /// Runs work and returns its result.
  ///
  /// - Throws: ``Full`` if too much is waiting; else what `work` throws.
  func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    let hasRoom = pending.withLock { pending in
      guard pending < limit else { return false }
      pending += 1
      return true
    }
    guard hasRoom else { throw Full() }
    return try await withCheckedThrowingContinuation { continuation in
      queue.addOperation {
        let result = Swift.Result { try work() }
        self.pending.withLock { $0 -= 1 }
        continuation.resume(with: result)
      }
    }
  }
}
