import Combine
import StreamSupport

/// Waits in an asynchronous function for an answer that comes by a closure.
@usableFromInline
package final class Answer<Value: Sendable>: Sendable {
  @usableFromInline enum Phase {
    case open(waiter: (any Cancellable)?)
    case waiting(UnsafeContinuation<Value, any Error>, waiter: (any Cancellable)?)
    case answered(Result<Value, any Error>)
    case over
  }

  @usableFromInline let phase = Locked(Phase.open(waiter: nil))

  @inlinable
  init() {}

  /// Asks, and waits for the answer.
  ///
  /// - Parameters:
  ///   - deadline: When nobody waits any longer; `nil` for a wait that is as long as it takes.
  ///   - ask: Called at once; has the answer come at most once, now or later, on any thread. Returns what to cancel if
  ///     nobody waits for the answer any more; `nil` if there is nothing to cancel.
  /// - Throws: The failure that was answered; ``TimedOut`` if the deadline comes first; `CancellationError` if the task is
  ///   cancelled first.
  @inlinable
  package static nonisolated(nonsending) func wait<Failure: Error>(
    until deadline: Deadline? = nil,
    _ ask: (_ answer: @escaping @Sendable (Result<Value, Failure>) -> Void) -> (any Cancellable)?
  ) async throws -> Value {
    try Task.checkCancellation()
    let answer = Answer()
    if let waiter = ask({ answer.settle($0.mapError { $0 }) }) { answer.keep(waiter) }
    let timer = deadline.flatMap { answer.expire(at: $0) }
    defer { timer?.cancel() }
    return try await withTaskCancellationHandler {
      // Whoever takes it out of the phase resumes it, once.
      try await withUnsafeThrowingContinuation { answer.resume($0) }
    } onCancel: {
      answer.abandon(throwing: CancellationError())
    }
  }

  @inlinable
  func keep(_ waiter: any Cancellable) {
    let isOpen = phase.withLock { phase in
      guard case .open = phase else { return false }
      phase = .open(waiter: waiter)
      return true
    }
    if !isOpen { waiter.cancel() }
  }

  @inlinable
  func resume(_ continuation: UnsafeContinuation<Value, any Error>) {
    let result: Result<Value, any Error>? = phase.withLock { phase in
      switch phase {
      case .open(let waiter):
        phase = .waiting(continuation, waiter: waiter)
        return nil
      case .answered(let result):
        phase = .over
        return result
      case .waiting, .over:
        return .failure(CancellationError())
      }
    }
    if let result { continuation.resume(with: result) }
  }

  @inlinable
  func settle(_ result: Result<Value, any Error>) {
    let before = phase.withLock { phase in
      let before = phase
      switch before {
      case .open: phase = .answered(result)
      case .waiting: phase = .over
      case .answered, .over: break
      }
      return before
    }
    if case .waiting(let continuation, _) = before { continuation.resume(with: result) }
  }

  /// Has nobody wait any longer when a deadline is over.
  ///
  /// - Returns: The timer; `nil` if the answer is known already.
  @usableFromInline
  func expire(at deadline: Deadline) -> (any Cancellable)? {
    guard phase.withLock({ if case .open = $0 { true } else { false } }) else { return nil }
    let limit = deadline.remaining
    return deadline.time.after(limit) { self.abandon(throwing: TimedOut(waitingUntil: deadline, limit: limit)) }
  }

  /// Nobody waits any longer.
  @usableFromInline
  func abandon(throwing error: any Error) {
    switch phase.withLock({ $0 }) {
    case .open(let waiter), .waiting(_, let waiter): waiter?.cancel()
    // An answer that has come is taken, whether or not the task was cancelled meanwhile.
    case .answered, .over: break
    }
    settle(.failure(error))
  }
}
