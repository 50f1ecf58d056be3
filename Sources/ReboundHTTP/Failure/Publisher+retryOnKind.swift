import Combine
import Rebound

extension Publisher where Failure == NetworkFailure {
  /// Tries again after a failure of one kind, each time after another publisher has done its work.
  ///
  ///     client.publisher(for: request)
  ///       .retry(on: .unauthorised, times: 1) { _ in session.refresh() }
  ///
  /// See `retry(on:times:after:failingWith:)` of Rebound for demand, failure and threads. For a credential that requests
  /// share, ``Authenticating`` renews it once for all of them.
  ///
  /// - Parameters:
  ///   - kind: The kind of failure; all others pass on.
  ///   - times: How many attempts may follow the first.
  ///   - chained: Made after each such failure; its first value, or its finish, lets the next attempt begin.
  public func retry<Chained: Publisher>(
    on kind: NetworkFailure.Kind,
    times: Int,
    after chained: @escaping (NetworkFailure) -> Chained
  ) -> Publishers.WithPolicy<Self, RetryOnPolicy<Chained>> where Chained.Failure == NetworkFailure {
    retry(on: { (failure: NetworkFailure) in failure.kind == kind }, times: times, after: chained)
  }

  /// Goes on with another publisher after failures of one kind, and passes the others on.
  ///
  ///     client.publisher(for: request)
  ///       .recover(from: .notFound) { _ in Just(.empty).setFailureType(to: NetworkFailure.self) }
  ///
  /// See `recover(_:)` of Rebound for demand, failure and threads.
  ///
  /// - Parameters:
  ///   - kind: The kind of failure to recover from; all others pass on.
  ///   - handler: Gets the failure, and makes what to go on with.
  public func recover<Replacement: Publisher>(
    from kind: NetworkFailure.Kind,
    _ handler: @escaping (NetworkFailure) -> Replacement
  ) -> Publishers.Recover<Self, Replacement>
  where Replacement.Output == Output, Replacement.Failure == NetworkFailure {
    recover { (failure: NetworkFailure) in failure.kind == kind ? handler(failure) : nil }
  }
}
