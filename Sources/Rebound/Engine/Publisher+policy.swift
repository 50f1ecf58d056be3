import Combine

extension Publisher {
  /// Puts a policy around a publisher.
  ///
  ///     request.protected(by: breaker) { .unavailable($0) }
  ///
  /// See ``Combine/Publishers/WithPolicy`` for demand, failure and threads.
  ///
  /// - Parameters:
  ///   - policy: One of this library, or one of your own.
  ///   - time: Measures time and waits.
  ///   - refusal: The failure for an error of the policy's own.
  @inlinable
  public func protected<Applied: Policy>(
    by policy: Applied,
    time: TimeSource = .current,
    refusingWith refusal: @escaping (any Error) -> Failure
  ) -> Publishers.WithPolicy<Self, PolicyForFailure<Applied, Failure>> where Applied.Failure == any Error {
    Publishers.WithPolicy(upstream: self, policy: PolicyForFailure(policy), time: time, refusal: refusal)
  }

  /// Puts a policy around a publisher whose failures have a place for its errors.
  ///
  /// See ``Combine/Publisher/protected(by:time:refusingWith:)``.
  ///
  /// - Parameters:
  ///   - policy: One of this library, or one of your own.
  ///   - time: Measures time and waits.
  @inlinable
  public func protected<Applied: Policy>(
    by policy: Applied,
    time: TimeSource = .current
  ) -> Publishers.WithPolicy<Self, PolicyForFailure<Applied, Failure>>
  where Applied.Failure == any Error, Failure: RefusalConvertible {
    protected(by: policy, time: time, refusingWith: Failure.init(refusal:))
  }

  /// Puts a policy around a publisher of the same failures.
  ///
  /// See ``Combine/Publisher/protected(by:time:refusingWith:)``.
  ///
  /// - Parameters:
  ///   - policy: One of this library, or one of your own.
  ///   - time: Measures time and waits.
  @inlinable
  public func protected<Applied: Policy>(
    by policy: Applied,
    time: TimeSource = .current
  ) -> Publishers.WithPolicy<Self, Applied> where Applied.Failure == Failure {
    Publishers.WithPolicy(upstream: self, policy: policy, time: time)
  }
}
