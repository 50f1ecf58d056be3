import Combine
import Foundation
import Rebound
import StreamSupport

/// Answers requests: a client, or whatever a test puts in its place.
public protocol RequestExecutor: Sendable {
  /// The response of a request, or the failure to get one.
  ///
  /// - Demand: Nothing is sent before a value is requested.
  /// - Failure: Everything that can go wrong, also with the making of the request.
  /// - Threads: Up to the executor; ``WebAPIClient`` uses the main queue unless told otherwise.
  func publisher<R: Request>(for request: R) -> AnyPublisher<R.Response, NetworkFailure>
}

extension Request {
  /// The response of this request, or the failure to get one.
  ///
  ///     Forecast(city: "Rome").publisher(via: client)
  public func publisher(via executor: some RequestExecutor) -> AnyPublisher<Response, NetworkFailure> {
    executor.publisher(for: self)
  }
}

extension RequestExecutor {
  /// The response of a request.
  ///
  ///     let place = try await client.value(of: Forecast(city: "Rome"))
  ///
  /// - Throws: The failure to get one; ``NetworkFailure/Kind-swift.enum/cancelled`` if the task is cancelled, which stops
  ///   the request.
  public func value<R: Request>(of request: R) async throws(NetworkFailure) -> R.Response {
    try await firstValue(of: publisher(for: request), operation: request.operation)
  }
}

/// Waits for the first value of a publisher, and cancels it with the task.
func firstValue<Value: Sendable>(
  of publisher: AnyPublisher<Value, NetworkFailure>,
  operation: String
) async throws(NetworkFailure) -> Value {
  let wait = Wait<Value>(operation: operation)
  return try await withTaskCancellationHandler {
    await withCheckedContinuation { continuation in wait.begin(publisher, continuation) }
  } onCancel: {
    wait.cancel()
  }.get()
}

/// One task that waits for one value.
private final class Wait<Value: Sendable>: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Result<Value, NetworkFailure>, Never>?
    var subscription: AnyCancellable?
    var isOver = false
  }

  private let state = Locked(State())
  private let operation: String

  init(operation: String) {
    self.operation = operation
  }

  func begin(
    _ publisher: AnyPublisher<Value, NetworkFailure>,
    _ continuation: CheckedContinuation<Result<Value, NetworkFailure>, Never>
  ) {
    let isOver = state.withLock { state in
      if !state.isOver { state.continuation = continuation }
      return state.isOver
    }
    guard !isOver else { return continuation.resume(returning: .failure(cancelled)) }
    let subscription = publisher.sink { completion in
      switch completion {
      case .failure(let failure): self.end(.failure(failure))
      case .finished: self.end(.failure(NetworkFailure(.noData, call: .init(operation: self.operation))))
      }
    } receiveValue: { value in
      self.end(.success(value))
    }
    let isLate = state.withLock { state in
      if !state.isOver { state.subscription = subscription }
      return state.isOver
    }
    if isLate { subscription.cancel() }
  }

  func cancel() {
    end(.failure(cancelled))
  }

  private var cancelled: NetworkFailure { NetworkFailure(.cancelled, call: .init(operation: operation)) }

  private func end(_ result: Result<Value, NetworkFailure>) {
    let (continuation, subscription) = state.withLock { state in
      let rest = (state.continuation, state.subscription)
      state.isOver = true
      state.continuation = nil
      state.subscription = nil
      return rest
    }
    // Stopped before the task goes on, so that what it sees is over.
    if case .failure = result { subscription?.cancel() }
    continuation?.resume(returning: result)
    withExtendedLifetime(subscription) {}
  }
}
