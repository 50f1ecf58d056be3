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

  /// The response of a request, for an asynchronous function.
  ///
  ///     let place = try await client.value(of: Forecast(city: "Rome"))
  ///
  /// The first value of the publisher, if nothing else is said. ``WebAPIClient`` waits for no queue: whatever its publishers
  /// are delivered on, the function goes on where it was.
  ///
  /// - Throws: The failure to get one; ``NetworkFailure/Kind-swift.enum/cancelled`` if the task is cancelled, which stops
  ///   the request.
  nonisolated(nonsending) func value<R: Request>(of request: R) async throws(NetworkFailure) -> R.Response
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
  /// The response of a request: the first value of its publisher.
  public nonisolated(nonsending) func value<R: Request>(of request: R) async throws(NetworkFailure) -> R.Response {
    try await firstValue(from: publisher(for: request), of: request.operation)
  }
}

/// Waits for the first value of a publisher, and cancels it with the task.
nonisolated(nonsending) func firstValue<Calls: Publisher>(
  from calls: Calls,
  of operation: String
) async throws(NetworkFailure) -> Calls.Output where Calls.Output: Sendable, Calls.Failure == NetworkFailure {
  do {
    if let response = try await calls.firstValueIfAny() { return response }
    throw NetworkFailure(.noData, call: .init(operation: operation))
  } catch let failure as NetworkFailure {
    throw failure
  } catch {
    // All else that is thrown is the cancel of the task.
    throw NetworkFailure(.cancelled, call: .init(operation: operation))
  }
}
