import Combine

extension Publisher {
  /// Goes on with another publisher after some failures, and passes the others on.
  ///
  ///     request.recover { failure in
  ///       if case .notFound = failure { Just(Forecast.empty).setFailureType(to: NetworkFailure.self) } else { nil }
  ///     }
  ///
  /// Combine's own `catch` has to recover from all failures, or to fail again in another way.
  ///
  /// - Parameter handler: Gets the failure, and makes what to go on with; `nil` passes the failure on, unchanged.
  ///
  /// - Demand: Passes up; what is still owed after the failure is requested from the other publisher.
  /// - Failure: The upstream's, where the handler has nothing to go on with, or that of the other publisher, which is
  ///   final.
  /// - Threads: Where the upstream sends, then where the other publisher does.
  public func recover<Replacement: Publisher>(
    _ handler: @escaping (Failure) -> Replacement?
  ) -> Publishers.Recover<Self, Replacement> where Replacement.Output == Output, Replacement.Failure == Failure {
    Publishers.Recover(upstream: self, handler: handler)
  }

  /// Goes on with another publisher after failures of one type, and passes the others on.
  ///
  ///     request.recover(from: CircuitOpen.self) { open in mirror.forecast(for: city) }
  ///
  /// See ``Combine/Publisher/recover(_:)``.
  ///
  /// - Parameters:
  ///   - type: The type of the failures to recover from.
  ///   - handler: Gets the failure, and makes what to go on with.
  public func recover<Matched: Error, Replacement: Publisher>(
    from type: Matched.Type,
    _ handler: @escaping (Matched) -> Replacement
  ) -> Publishers.Recover<Self, Replacement> where Replacement.Output == Output, Replacement.Failure == Failure {
    recover { ($0 as? Matched).map(handler) }
  }

  /// Goes on with another publisher after one certain failure, and passes the others on.
  ///
  ///     request.recover(from: .notFound) { Just(.empty).setFailureType(to: NetworkFailure.self) }
  ///
  /// See ``Combine/Publisher/recover(_:)``.
  ///
  /// - Parameters:
  ///   - failure: The failure to recover from.
  ///   - handler: Makes what to go on with.
  public func recover<Replacement: Publisher>(
    from failure: Failure,
    _ handler: @escaping () -> Replacement
  ) -> Publishers.Recover<Self, Replacement>
  where Replacement.Output == Output, Replacement.Failure == Failure, Failure: Equatable {
    recover { $0 == failure ? handler() : nil }
  }

  /// Finishes in place of every failure.
  ///
  /// What was delivered until then looks complete to who stands below, so this is for streams of which any part will do.
  ///
  /// - Demand: Passes up.
  /// - Failure: Never.
  /// - Threads: Where the upstream sends.
  public func onErrorComplete() -> Publishers.Catch<Self, Empty<Output, Never>> {
    self.catch { _ in Empty() }
  }

  /// Finishes in place of the failures for which a condition holds.
  ///
  ///     notifications.onErrorComplete { $0 == .loggedOut }
  ///
  /// - Parameter condition: Asked on every failure.
  ///
  /// - Demand: Passes up.
  /// - Failure: The upstream's, where the condition does not hold.
  /// - Threads: Where the upstream sends.
  public func onErrorComplete(
    when condition: @escaping (Failure) -> Bool
  ) -> Publishers.Recover<Self, Empty<Output, Failure>> {
    recover { condition($0) ? Empty() : nil }
  }

  /// Tells somebody of a failure, and goes on with another publisher.
  ///
  ///     request.catchAndReport(to: log.write) { _ in Just(.empty) }
  ///
  /// - Parameters:
  ///   - report: Gets the failure before the other publisher is made; with no lock held.
  ///   - handler: Makes what to go on with.
  ///
  /// - Demand: Passes up; what is still owed after the failure is requested from the other publisher.
  /// - Failure: That of the other publisher.
  /// - Threads: Where the upstream sends, then where the other publisher does.
  public func catchAndReport<Replacement: Publisher>(
    to report: @escaping (Failure) -> Void,
    _ handler: @escaping (Failure) -> Replacement
  ) -> Publishers.Catch<Self, Replacement> where Replacement.Output == Output {
    self.catch { failure in
      report(failure)
      return handler(failure)
    }
  }

  /// Tells somebody of a failure, and delivers a value in its place.
  ///
  ///     request.catchAndReport(to: log.write, with: .empty)
  ///
  /// - Parameters:
  ///   - report: Gets the failure before the value is delivered; with no lock held.
  ///   - value: What to deliver in place of the failure, when it is requested.
  public func catchAndReport(
    to report: @escaping (Failure) -> Void,
    with value: Output
  ) -> Publishers.Catch<Self, Just<Output>> {
    catchAndReport(to: report) { _ in Just(value) }
  }
}

extension Publishers {
  /// Goes on with another publisher after some failures.
  ///
  /// Made by ``Combine/Publisher/recover(_:)``.
  public struct Recover<Upstream: Publisher, Replacement: Publisher>: Publisher
  where Replacement.Output == Upstream.Output, Replacement.Failure == Upstream.Failure {
    /// What both publish.
    public typealias Output = Upstream.Output
    /// What both fail with.
    public typealias Failure = Upstream.Failure

    /// The publisher whose failures are recovered from.
    public let upstream: Upstream
    /// Makes what to go on with; `nil` passes the failure on.
    public let handler: (Failure) -> Replacement?

    /// Makes a publisher that recovers from some failures.
    public init(upstream: Upstream, handler: @escaping (Failure) -> Replacement?) {
      self.upstream = upstream
      self.handler = handler
    }

    /// Subscribes to the upstream on behalf of this subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      // That of the upstream may be another one, and over.
      let deadline = Deadline.current
      upstream.catch { failure in
        let replacement = Deadline.replaced(by: deadline) { handler(failure) }
        return replacement.map { .replacement($0, deadline) } ?? ReplacementOrFailure.failure(failure)
      }
      .receive(subscriber: subscriber)
    }
  }
}

/// What follows a failure: another publisher, or the failure.
private enum ReplacementOrFailure<Replacement: Publisher>: Publisher {
  typealias Output = Replacement.Output
  typealias Failure = Replacement.Failure

  case replacement(Replacement, Deadline?)
  case failure(Failure)

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    switch self {
    case .replacement(let replacement, let deadline):
      Deadline.replaced(by: deadline) { replacement.receive(subscriber: subscriber) }
    case .failure(let failure): Fail<Output, Failure>(error: failure).receive(subscriber: subscriber)
    }
  }
}
