import Combine

extension Publisher {
  /// Subscribes once a rate limiter lets it begin, and tells it how it ends.
  ///
  ///     search.rateLimited(by: limiter) { .tooOften(retryAfter: $0.retryAfter) }
  ///
  /// - Parameters:
  ///   - limiter: Shared by everything that calls the same service.
  ///   - time: Measures time and waits.
  ///   - refusal: The failure for a subscription that is refused.
  ///
  /// - Demand: Passes up, once it has begun; nothing is held while it waits.
  /// - Failure: The upstream's, or the one for a refusal.
  /// - Threads: Where the upstream sends. One who has waited is subscribed on the time of the one whose turn came
  ///   first.
  public func rateLimited(
    by limiter: RateLimiter,
    time: TimeSource = .current,
    refusingWith refusal: @escaping (RateLimited) -> Failure
  ) -> Publishers.WithPolicy<Self, PolicyForFailure<RateLimiter, Failure>> {
    protected(by: limiter, time: time) { error in
      // A limiter refuses with nothing else.
      refusal(error as? RateLimited ?? RateLimited(name: limiter.name, retryAfter: .zero, queued: 0))
    }
  }

  /// Subscribes once a rate limiter lets it begin, and fails with ``Rebound/RateLimited`` if it does not.
  ///
  /// See ``Combine/Publisher/rateLimited(by:time:refusingWith:)``.
  ///
  /// - Parameters:
  ///   - limiter: Shared by everything that calls the same service.
  ///   - time: Measures time and waits.
  public func rateLimited(
    by limiter: RateLimiter,
    time: TimeSource = .current
  ) -> Publishers.WithPolicy<Self, RateLimiter> where Failure == any Error {
    protected(by: limiter, time: time)
  }

  /// Subscribes once a rate limiter lets it begin, with failures that have a place for its refusal.
  ///
  /// See ``Combine/Publisher/rateLimited(by:time:refusingWith:)``.
  ///
  /// - Parameters:
  ///   - limiter: Shared by everything that calls the same service.
  ///   - time: Measures time and waits.
  public func rateLimited(
    by limiter: RateLimiter,
    time: TimeSource = .current
  ) -> Publishers.WithPolicy<Self, PolicyForFailure<RateLimiter, Failure>> where Failure: RefusalConvertible {
    protected(by: limiter, time: time)
  }
}
