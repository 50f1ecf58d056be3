import Combine

extension Publisher {
  /// Subscribes only if a circuit breaker lets it through.
  ///
  ///     request
  ///       .protected(by: breaker) { .unavailable(until: $0.retryAfter) }
  ///       .retry(.standard.when(\.isTransient))
  ///
  /// The breaker is asked for each subscription, and told how it ends. A cancel counts as a success after a value, and
  /// has no vote before.
  ///
  /// - Parameters:
  ///   - breaker: Shared by everything that calls the same service.
  ///   - success: When to count it as a success.
  ///   - time: Measures windows, open times and leases.
  ///   - refusal: The failure for a subscription that is refused.
  ///
  /// - Demand: Passes up, unchanged.
  /// - Failure: The upstream's, or the one for a refusal.
  /// - Threads: Where the upstream sends; a refusal comes at once.
  @inlinable
  public func protected(
    by breaker: CircuitBreaker,
    succeedingOn success: StreamSuccess = .finish,
    time: TimeSource = .current,
    refusingWith refusal: @escaping (CircuitOpen) -> Failure
  ) -> Publishers.WithPolicy<Self, PolicyForFailure<CircuitBreakerForStreams, Failure>> {
    protected(by: breaker.succeeding(on: success), time: time) { error in
      // A breaker refuses with nothing else.
      refusal(error as? CircuitOpen ?? CircuitOpen(name: breaker.name, retryAfter: nil))
    }
  }

  /// Subscribes only if a circuit breaker lets it through, and fails with ``CircuitOpen`` if not.
  ///
  /// See ``Combine/Publisher/protected(by:succeedingOn:time:refusingWith:)``.
  ///
  /// - Parameters:
  ///   - breaker: Shared by everything that calls the same service.
  ///   - success: When to count it as a success.
  ///   - time: Measures windows, open times and leases.
  @inlinable
  public func protected(
    by breaker: CircuitBreaker,
    succeedingOn success: StreamSuccess,
    time: TimeSource = .current
  ) -> Publishers.WithPolicy<Self, CircuitBreakerForStreams> where Failure == any Error {
    protected(by: breaker.succeeding(on: success), time: time)
  }
}
