import Combine
import StreamSupport

/// Waits in an asynchronous function for an answer that comes by a closure.
///
/// Unchecked, because the lock guards the state, and whoever takes something out of it is the only one to have it.
package final class Answer<Value: Sendable>: @unchecked Sendable {
  private enum Phase {
    case open
    case waiting(CheckedContinuation<Value, any Error>)
    case answered(Result<Value, any Error>)
    case over
  }

  private let lock = Lock()
  private var phase = Phase.open
  private var waiter: (any Cancellable)?

  private init() {}

  /// Asks, and waits for the answer.
  ///
  /// - Parameters:
  ///   - isolation: The caller's.
  ///   - unwanted: Gets an answer that comes after the task was cancelled.
  ///   - ask: As in ``Admission/ask``.
  /// - Throws: The failure that was answered; `CancellationError` if the task is cancelled first.
  package static func wait<Failure: Error>(
    isolation: isolated (any Actor)? = #isolation,
    unwanted: @escaping (Value) -> Void = { _ in },
    _ ask: (_ answer: @escaping (Result<Value, Failure>) -> Void) -> (any Cancellable)?
  ) async throws -> Value {
    try Task.checkCancellation()
    let answer = Answer()
    if let waiter = ask({ result in
      if !answer.settle(result.mapError { $0 }), case .success(let value) = result { unwanted(value) }
    }) {
      answer.keep(waiter)
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { answer.resume($0) }
    } onCancel: {
      answer.cancel()
    }
  }

  private func keep(_ waiter: any Cancellable) {
    let isOpen = lock.withLock {
      switch phase {
      case .open, .waiting:
        self.waiter = waiter
        return true
      case .answered, .over:
        return false
      }
    }
    if !isOpen { waiter.cancel() }
  }

  private func resume(_ continuation: CheckedContinuation<Value, any Error>) {
    let result: Result<Value, any Error>? = lock.withLock {
      switch phase {
      case .answered(let result):
        phase = .over
        return result
      case .open, .waiting:
        phase = .waiting(continuation)
        return nil
      case .over:
        return .failure(CancellationError())
      }
    }
    if let result { continuation.resume(with: result) }
  }

  /// - Returns: Whether anybody still waits for it.
  private func settle(_ result: Result<Value, any Error>) -> Bool {
    let (isWanted, continuation): (Bool, CheckedContinuation<Value, any Error>?) = lock.withLock {
      switch phase {
      case .open:
        phase = .answered(result)
        return (true, nil)
      case .waiting(let continuation):
        phase = .over
        return (true, continuation)
      case .answered, .over:
        return (false, nil)
      }
    }
    continuation?.resume(with: result)
    return isWanted
  }

  private func cancel() {
    let waiter: (any Cancellable)? = lock.withLock {
      // An answer that has come is taken, whether or not the task was cancelled meanwhile.
      if case .answered = phase { return nil }
      let waiter = self.waiter
      self.waiter = nil
      return waiter
    }
    waiter?.cancel()
    _ = settle(.failure(CancellationError()))
  }
}
