import Combine
import StreamSupport

/// Publishes what an asynchronous function returns, once for each subscriber.
///
/// The function starts in a task of its own upon the first request, and the task is cancelled with the subscription.
package struct AsyncCall<Output: Sendable>: Publisher {
  package typealias Failure = any Error

  package let operation: @Sendable () async throws -> Output

  package init(operation: @escaping @Sendable () async throws -> Output) {
    self.operation = operation
  }

  package func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == any Error {
    let subscription = AsyncCallSubscription(operation) { result in
      switch result {
      case .success(let value):
        _ = subscriber.receive(value)
        subscriber.receive(completion: .finished)
      case .failure(let error):
        subscriber.receive(completion: .failure(error))
      }
    }
    subscriber.receive(subscription: subscription)
  }
}

/// Unchecked, because the lock guards the phase, and whoever takes the closure out of it is the only one to have it.
private final class AsyncCallSubscription<Output: Sendable>: Subscription, CustomStringConvertible, @unchecked Sendable
{
  private typealias Deliver = (Result<Output, any Error>) -> Void

  private enum Phase {
    case ready(Deliver)
    case running(Deliver, Task<Void, Never>?)
    case over
  }

  private let operation: @Sendable () async throws -> Output
  private let lock = Lock()
  private var phase: Phase

  init(
    _ operation: @escaping @Sendable () async throws -> Output,
    deliver: @escaping (Result<Output, any Error>) -> Void
  ) {
    self.operation = operation
    phase = .ready(deliver)
  }

  var description: String { "AsyncCall" }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let starts = lock.withLock {
      guard case .ready(let deliver) = phase else { return false }
      phase = .running(deliver, nil)
      return true
    }
    guard starts else { return }
    let task = Task {
      do {
        let value = try await operation()
        deliver(.success(value))
      } catch {
        deliver(.failure(error))
      }
    }
    let isRunning = lock.withLock {
      guard case .running(let deliver, _) = phase else { return false }
      phase = .running(deliver, task)
      return true
    }
    // Cancelled meanwhile, or done, to which a cancel does nothing.
    if !isRunning { task.cancel() }
  }

  func cancel() {
    if case .running(_, let task) = end() { task?.cancel() }
  }

  private func deliver(_ result: Result<Output, any Error>) {
    if case .running(let deliver, _) = end() { deliver(result) }
  }

  private func end() -> Phase {
    lock.withLock {
      let before = phase
      phase = .over
      return before
    }
  }
}
