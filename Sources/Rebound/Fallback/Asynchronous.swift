import Combine
import StreamSupport

extension Publishers {
  /// Publishes what an asynchronous function returns, and finishes.
  ///
  ///     Publishers.Asynchronous { try await archive.forecast(for: city) }
  ///
  /// The function runs once for each subscriber, in a task of its own, from the first request on: nothing is computed
  /// that nobody has asked for. Combine's `Future` runs at once, once for all, and knows no cancel.
  ///
  /// - Demand: The function begins at the first request.
  /// - Failure: What the function throws.
  /// - Threads: On the global executor, or where the function's own isolation ends it.
  public struct Asynchronous<Output>: Publisher {
    /// What the function throws.
    public typealias Failure = any Error

    private let function: @Sendable () async throws -> Output

    /// Makes a publisher from an asynchronous function.
    ///
    /// - Parameter function: Called once for each subscriber that asks for a value. Its task is cancelled with the
    ///   subscription.
    public init(_ function: @escaping @Sendable () async throws -> Output) {
      self.function = function
    }

    /// Gives the subscriber an execution of its own.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      subscriber.receive(subscription: AsynchronousExecution(function, downstream: AnySubscriber(subscriber)))
    }
  }
}

/// One call of the function, and the subscriber that waits for it.
///
/// The downstream is called by one thread, that of the task.
private final class AsynchronousExecution<Output>: Subscription, CustomStringConvertible, Sendable {
  typealias Function = @Sendable () async throws -> Output
  typealias Downstream = AnySubscriber<Output, any Error>

  private enum Phase {
    case ready(Function, Downstream)
    /// The task is `nil` for the moment between the request and its begin.
    case running(Downstream, Task<Void, Never>?)
    case over
  }

  private let phase: Locked<Phase>

  init(_ function: @escaping Function, downstream: Downstream) {
    phase = Locked(.ready(function, downstream))
  }

  var description: String { "Asynchronous" }

  func request(_ demand: Subscribers.Demand) {
    guard demand > .none else { return }
    let function: Function? = phase.withLock { phase in
      guard case .ready(let function, let downstream) = phase else { return nil }
      phase = .running(downstream, nil)
      return function
    }
    guard let function else { return }
    let task = Task {
      do {
        let value = try await function()
        self.finish { downstream in
          _ = downstream.receive(value)
          return .finished
        }
      } catch {
        self.finish { _ in .failure(error) }
      }
    }
    let isWanted = phase.withLock { phase in
      guard case .running(let downstream, _) = phase else { return false }
      phase = .running(downstream, task)
      return true
    }
    // Cancelled meanwhile, or already over.
    if !isWanted { task.cancel() }
  }

  func cancel() {
    let before = end()
    if case .running(_, let task?) = before { task.cancel() }
    withExtendedLifetime(before) {}
  }

  private func finish(_ deliver: (Downstream) -> Subscribers.Completion<any Error>) {
    guard case .running(let downstream, _) = phase.withLock({ $0 }) else { return }
    let completion = deliver(downstream)
    // The downstream may have cancelled from inside the value.
    guard case .running = end() else { return }
    downstream.receive(completion: completion)
  }

  private func end() -> Phase {
    phase.withLock { phase in
      let before = phase
      phase = .over
      return before
    }
  }
}
