import Combine

extension Publishers {
  /// Publishes what an asynchronous function returns, and finishes.
  ///
  ///     Publishers.Asynchronous { try await archive.forecast(for: city) }
  ///
  /// The function runs once for each subscriber, in a task of its own, from the first request on: nothing is computed
  /// that nobody has asked for. Combine's `Future` runs at once, once for all, and knows no cancel. In the function,
  /// ``Deadline/current`` is that of the subscription, wherever the request comes from.
  ///
  /// - Demand: The function begins at the first request.
  /// - Failure: What the function throws.
  /// - Threads: On the global executor, or where the function's own isolation ends it.
  public struct Asynchronous<Output>: Publisher {
    /// What the function throws.
    public typealias Failure = any Error

    @usableFromInline let function: @Sendable () async throws -> Output

    /// Makes a publisher from an asynchronous function.
    ///
    /// - Parameter function: Called once for each subscriber that asks for a value. Its task is cancelled with the
    ///   subscription.
    @inlinable
    public init(_ function: @escaping @Sendable () async throws -> Output) {
      self.function = function
    }

    /// Gives the subscriber an execution of its own.
    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      SingleAnswer<Output, any Error>(name: "Asynchronous") { [function] answer in
        RunningTask(
          Task {
            do { answer(.success(try await function())) } catch { answer(.failure(error)) }
          }
        )
      }
      .receive(subscriber: subscriber)
    }
  }
}

/// A task, stopped by whoever no longer waits for it; one that is forgotten goes on.
@usableFromInline
struct RunningTask: Subscription {
  @usableFromInline let task: Task<Void, Never>
  @usableFromInline let combineIdentifier = CombineIdentifier()

  @inlinable
  init(_ task: Task<Void, Never>) {
    self.task = task
  }

  /// It runs, whatever is requested.
  @inlinable
  func request(_ demand: Subscribers.Demand) {}

  @inlinable
  func cancel() { task.cancel() }
}
