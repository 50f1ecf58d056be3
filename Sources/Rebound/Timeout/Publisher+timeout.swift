import Combine
import Dispatch

extension Publisher {
  /// Fails when a limit of time is reached.
  ///
  ///     request
  ///       .timeout(.attempt(.seconds(10)), scheduler: queue) { .timedOut($0.limit) }
  ///       .retry(.standard, scheduler: queue)
  ///       .timeout(.total(.seconds(30)), scheduler: queue) { .timedOut($0.limit) }
  ///
  /// When a limit is reached, the upstream is cancelled and then the failure delivered. It is always a failure: Combine's
  /// own `timeout` finishes unless it is given an error, and a stream that was cut off looks like one that was complete.
  /// If a value or the end and the timer come at the same moment, the one that comes first counts.
  ///
  /// - Parameters:
  ///   - policy: The limits.
  ///   - scheduler: Measures time and waits; `DispatchQueue.main` unless told otherwise. A program that
  ///     blocks its main thread must name another one.
  ///   - options: For the scheduler.
  ///   - failure: The failure for a timeout.
  ///
  /// - Demand: Passes up; values beyond the demand are dropped. The limits for the first value and between values only
  ///   run while a value is owed.
  /// - Failure: The upstream's, or the one for a timeout. A failure that comes after the timeout goes to
  ///   ``DroppedErrors``.
  /// - Threads: Values and completion arrive where the upstream sends them, a timeout on the scheduler.
  public func timeout<Context: Scheduler>(
    _ policy: TimeoutPolicy,
    scheduler: Context = DispatchQueue.main,
    options: Context.SchedulerOptions? = nil,
    failingWith failure: @escaping (TimedOut) -> Failure
  ) -> Publishers.TimeoutWithPolicy<Self, Context> {
    policy.publisher(scheduler: scheduler, options: options, failingWith: failure) { _ in self }
  }

  /// Fails with ``TimedOut`` when a limit of time is reached.
  ///
  /// See ``Combine/Publisher/timeout(_:scheduler:options:failingWith:)``.
  ///
  /// - Parameters:
  ///   - policy: The limits.
  ///   - scheduler: Measures time and waits.
  ///   - options: For the scheduler.
  public func timeout<Context: Scheduler>(
    _ policy: TimeoutPolicy,
    scheduler: Context = DispatchQueue.main,
    options: Context.SchedulerOptions? = nil
  ) -> Publishers.TimeoutWithPolicy<Self, Context> where Failure == any Error {
    timeout(policy, scheduler: scheduler, options: options, failingWith: { $0 })
  }

  /// Fails with ``TimedOut`` when a limit of time is reached, and with nothing else.
  ///
  /// See ``Combine/Publisher/timeout(_:scheduler:options:failingWith:)``.
  ///
  /// - Parameters:
  ///   - policy: The limits.
  ///   - scheduler: Measures time and waits.
  ///   - options: For the scheduler.
  public func timeout<Context: Scheduler>(
    _ policy: TimeoutPolicy,
    scheduler: Context = DispatchQueue.main,
    options: Context.SchedulerOptions? = nil
  ) -> Publishers.TimeoutWithPolicy<Publishers.SetFailureType<Self, TimedOut>, Context> where Failure == Never {
    setFailureType(to: TimedOut.self).timeout(policy, scheduler: scheduler, options: options, failingWith: { $0 })
  }
}

extension TimeoutPolicy {
  /// Makes a publisher for each subscriber, which is told how much time it has.
  ///
  ///     try TimeoutPolicy(total: .seconds(30)).publisher(scheduler: queue) { deadline in
  ///       Deferred { client.send(request, timeout: deadline.limiting(.seconds(10))) }
  ///         .retry(.standard, scheduler: queue)
  ///     }
  ///
  /// See ``Combine/Publisher/timeout(_:scheduler:options:failingWith:)`` for demand, failure and threads.
  ///
  /// - Parameters:
  ///   - scheduler: Measures time and waits.
  ///   - options: For the scheduler.
  ///   - failure: The failure for a timeout.
  ///   - make: Makes the publisher; called once for each subscriber. The deadline is that of ``total`` and ``attempt``.
  public func publisher<Upstream: Publisher, Context: Scheduler>(
    scheduler: Context = DispatchQueue.main,
    options: Context.SchedulerOptions? = nil,
    failingWith failure: @escaping (TimedOut) -> Upstream.Failure,
    _ make: @escaping (Deadline) -> Upstream
  ) -> Publishers.TimeoutWithPolicy<Upstream, Context> {
    Publishers.TimeoutWithPolicy(policy: self, scheduler: scheduler, options: options, failure: failure, make: make)
  }

  /// Makes a publisher for each subscriber, which is told how much time it has, and fails with ``TimedOut`` after that.
  ///
  /// See ``publisher(scheduler:options:failingWith:_:)``.
  ///
  /// - Parameters:
  ///   - scheduler: Measures time and waits.
  ///   - options: For the scheduler.
  ///   - make: Makes the publisher; called once for each subscriber.
  public func publisher<Upstream: Publisher, Context: Scheduler>(
    scheduler: Context = DispatchQueue.main,
    options: Context.SchedulerOptions? = nil,
    _ make: @escaping (Deadline) -> Upstream
  ) -> Publishers.TimeoutWithPolicy<Upstream, Context> where Upstream.Failure == any Error {
    publisher(scheduler: scheduler, options: options, failingWith: { $0 }, make)
  }

  /// The time for the whole, and which limit that is; `nil` if only values are waited for.
  var whole: (kind: TimedOut.Kind, limit: Duration)? {
    switch (total, attempt) {
    case (let total?, let attempt?): attempt < total ? (.attempt, attempt) : (.total, total)
    case (let total?, nil): (.total, total)
    case (nil, let attempt?): (.attempt, attempt)
    case (nil, nil): nil
    }
  }
}

extension Publishers {
  /// Fails when a limit of time is reached.
  ///
  /// Made by ``Combine/Publisher/timeout(_:scheduler:options:failingWith:)``.
  public struct TimeoutWithPolicy<Upstream: Publisher, Context: Scheduler>: Publisher {
    /// What the upstream publishes.
    public typealias Output = Upstream.Output
    /// What the upstream fails with.
    public typealias Failure = Upstream.Failure

    /// The limits.
    public let policy: TimeoutPolicy
    /// Measures time and waits.
    public let scheduler: Context
    /// For the scheduler.
    public let options: Context.SchedulerOptions?
    /// The failure for a timeout.
    public let failure: (TimedOut) -> Upstream.Failure
    /// Makes the publisher that has this much time.
    public let make: (Deadline) -> Upstream

    /// Makes a publisher that fails when a limit of time is reached.
    ///
    /// - Parameters:
    ///   - policy: The limits.
    ///   - scheduler: Measures time and waits.
    ///   - options: For the scheduler.
    ///   - failure: The failure for a timeout.
    ///   - make: Makes the publisher that has this much time; called once for each subscriber.
    public init(
      policy: TimeoutPolicy,
      scheduler: Context,
      options: Context.SchedulerOptions? = nil,
      failure: @escaping (TimedOut) -> Upstream.Failure,
      make: @escaping (Deadline) -> Upstream
    ) {
      self.policy = policy
      self.scheduler = scheduler
      self.options = options
      self.failure = failure
      self.make = make
    }

    /// Starts the time of this subscriber, and subscribes to the upstream.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let execution = TimeoutExecution(self, downstream: subscriber)
      subscriber.receive(subscription: execution)
      execution.begin()
    }
  }
}
