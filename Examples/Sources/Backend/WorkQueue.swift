import Foundation
import WebServer

/// Runs blocking work on threads of its own: at most `width` pieces at once, with at most `backlog` waiting.
///
/// On one of the few threads that Swift's tasks and Dispatch share, such work would hold up everybody; and without an end to
/// the waiting, a rush of sign-ups would hold up people for minutes.
final class WorkQueue: Sendable {
  /// Too much work is waiting.
  struct Full: Error {}

  /// Work that waits for a thread.
  private final class Backlog: Sendable {
    private let pieces = Locked<[@Sendable () -> Void]>([])
    // Given once for each piece; and when there will be no more, once for each thread.
    private let piece = DispatchSemaphore(value: 0)

    func add(_ work: @escaping @Sendable () -> Void) {
      pieces.withLock { $0.append(work) }
      piece.signal()
    }

    func close(threads: Int) {
      for _ in 0..<threads { piece.signal() }
    }

    /// Waits for the next piece; nil if there will be none.
    func next() -> (@Sendable () -> Void)? {
      piece.wait()
      return pieces.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
  }

  private let backlog = Backlog()
  private let width: Int
  private let limit: Int
  /// How much is waiting or being done.
  private let pending = Locked(0)

  init(name: String, width: Int, backlog: Int) {
    self.width = width
    limit = width + backlog
    for _ in 0..<width {
      // Holds the backlog, not the queue, which ends it when it goes.
      let thread = Thread { [backlog = self.backlog] in
        while let work = backlog.next() { work() }
      }
      thread.name = name
      thread.start()
    }
  }

  deinit {
    backlog.close(threads: width)
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
      backlog.add {
        let result = Swift.Result { try work() }
        self.pending.withLock { $0 -= 1 }
        continuation.resume(with: result)
      }
    }
  }
}
