import Combine
import Dispatch

extension Publisher {
  /// Subscribes once a rate limiter lets it begin, and tells it how it ends.
  ///
  ///     search.rateLimited(by: limiter) { .tooOften(retryAfter: $0.retryAfter) }
  ///
  /// - Parameters:
  ///   - limiter: Shared by everything that calls the same service.
  ///   - scheduler: Waits; `DispatchQueue.main` unless told otherwise.
  ///   - options: For the scheduler.
  ///   - refusal: The failure for a subscription that is refused.
  ///
  /// - Demand: Passes up, once it has begun; nothing is held while it waits.
  /// - Failure: The upstream's, or the one for a refusal.
  /// - Threads: Where the upstream sends. One who has waited is subscribed on the scheduler of the one whose turn came
  ///   first.
  public func rateLimited<Context: Scheduler>(
    by limiter: RateLimiter,
    scheduler: Context = DispatchQueue.main,
    options: Context.SchedulerOptions? = nil,
    refusingWith refusal: @escaping (RateLimited) -> Failure
  ) -> Publishers.RateLimited<Self, Context> {
    Publishers.RateLimited(upstream: self, limiter: limiter, scheduler: scheduler, options: options, refusal: refusal)
  }

  /// Subscribes once a rate limiter lets it begin, and fails with ``Rebound/RateLimited`` if it does not.
  ///
  /// See ``Combine/Publisher/rateLimited(by:scheduler:options:refusingWith:)``.
  ///
  /// - Parameters:
  ///   - limiter: Shared by everything that calls the same service.
  ///   - scheduler: Waits; `DispatchQueue.main` unless told otherwise.
  ///   - options: For the scheduler.
  public func rateLimited<Context: Scheduler>(
    by limiter: RateLimiter,
    scheduler: Context = DispatchQueue.main,
    options: Context.SchedulerOptions? = nil
  ) -> Publishers.RateLimited<Self, Context> where Failure == any Error {
    rateLimited(by: limiter, scheduler: scheduler, options: options, refusingWith: { $0 })
  }
}

extension Publishers {
  /// Subscribes once a rate limiter lets it begin.
  ///
  /// Made by ``Combine/Publisher/rateLimited(by:scheduler:options:refusingWith:)``.
  public struct RateLimited<Upstream: Publisher, Context: Scheduler>: Publisher {
    /// What the upstream publishes.
    public typealias Output = Upstream.Output
    /// What the upstream fails with.
    public typealias Failure = Upstream.Failure

    /// The publisher that waits for its turn.
    public let upstream: Upstream
    /// Shared by everything that calls the same service.
    public let limiter: RateLimiter
    /// Waits.
    public let scheduler: Context
    /// For the scheduler.
    public let options: Context.SchedulerOptions?
    /// The failure for a subscription that is refused.
    public let refusal: (Rebound.RateLimited) -> Failure

    /// Makes a publisher that waits for its turn.
    ///
    /// - Parameters:
    ///   - upstream: The publisher that waits for its turn.
    ///   - limiter: Shared by everything that calls the same service.
    ///   - scheduler: Waits.
    ///   - options: For the scheduler.
    ///   - refusal: The failure for a subscription that is refused.
    public init(
      upstream: Upstream,
      limiter: RateLimiter,
      scheduler: Context,
      options: Context.SchedulerOptions? = nil,
      refusal: @escaping (Rebound.RateLimited) -> Failure
    ) {
      self.upstream = upstream
      self.limiter = limiter
      self.scheduler = scheduler
      self.options = options
      self.refusal = refusal
    }

    /// Asks to begin, and then subscribes to the upstream or fails.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let (alarm, limiter, refusal) = (Alarm(scheduler, options: options), limiter, refusal)
      let admission = Admission<Duration, Upstream>(
        name: "RateLimited",
        ask: { answer in limiter.ask(alarm: alarm) { answer($0.mapError(refusal)) } },
        upstream: { _ in upstream },
        settle: { begun, end in limiter.settle(end, begun: begun) }
      )
      AdmissionExecution.begin(admission, downstream: subscriber)
    }
  }
}
