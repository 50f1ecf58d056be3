import Combine

extension Publisher {
  /// Fails when a limit of time is reached.
  ///
  ///     request
  ///       .timeout(.attempt(.seconds(10))) { .timedOut($0.limit) }
  ///       .retry(.standard)
  ///       .timeout(.total(.seconds(30))) { .timedOut($0.limit) }
  ///
  /// When a limit is reached, the upstream is cancelled and then the failure delivered. It is always a failure: Combine's
  /// own `timeout` finishes unless it is given an error, and a stream that was cut off looks like one that was complete.
  /// If a value or the end and the timer come at the same moment, the one that comes first counts.
  ///
  /// While the upstream is subscribed to, ``Deadline/current`` is by when it has to be done.
  ///
  /// - Parameters:
  ///   - policy: The limits.
  ///   - time: Measures time.
  ///   - failure: The failure for a timeout.
  ///
  /// - Demand: Passes up; values beyond the demand are dropped. The limits for the first value and between values only
  ///   run while a value is owed.
  /// - Failure: The upstream's, or the one for a timeout. A failure that comes after the timeout goes to
  ///   ``DroppedErrors``.
  /// - Threads: Values and completion arrive where the upstream sends them, a timeout on a thread of the time source.
  @inlinable
  public func timeout(
    _ policy: TimeoutPolicy,
    time: TimeSource = .current,
    failingWith failure: @escaping (TimedOut) -> Failure
  ) -> Publishers.WithPolicy<Self, PolicyForFailure<TimeoutPolicy, Failure>> {
    Publishers.WithPolicy(upstream: self, policy: PolicyForFailure(policy), time: time) { error in
      // A timeout refuses with nothing else.
      failure(error as? TimedOut ?? TimedOut(.total, limit: .zero))
    }
  }

  /// Fails with ``TimedOut`` when a limit of time is reached.
  ///
  /// See ``Combine/Publisher/timeout(_:time:failingWith:)``.
  ///
  /// - Parameters:
  ///   - policy: The limits.
  ///   - time: Measures time.
  @inlinable
  public func timeout(
    _ policy: TimeoutPolicy,
    time: TimeSource = .current
  ) -> Publishers.WithPolicy<Self, TimeoutPolicy> where Failure == any Error {
    Publishers.WithPolicy(upstream: self, policy: policy, time: time)
  }

  /// Fails when a limit of time is reached, with failures that have a place for ``TimedOut``.
  ///
  /// See ``Combine/Publisher/timeout(_:time:failingWith:)``.
  ///
  /// - Parameters:
  ///   - policy: The limits.
  ///   - time: Measures time.
  @inlinable
  public func timeout(
    _ policy: TimeoutPolicy,
    time: TimeSource = .current
  ) -> Publishers.WithPolicy<Self, PolicyForFailure<TimeoutPolicy, Failure>> where Failure: RefusalConvertible {
    timeout(policy, time: time, failingWith: Failure.init(refusal:))
  }

  /// Fails with ``TimedOut`` when a limit of time is reached, and with nothing else.
  ///
  /// See ``Combine/Publisher/timeout(_:time:failingWith:)``.
  ///
  /// - Parameters:
  ///   - policy: The limits.
  ///   - time: Measures time.
  @inlinable
  public func timeout(
    _ policy: TimeoutPolicy,
    time: TimeSource = .current
  ) -> Publishers.WithPolicy<Publishers.SetFailureType<Self, TimedOut>, PolicyForFailure<TimeoutPolicy, TimedOut>>
  where Failure == Never {
    setFailureType(to: TimedOut.self).timeout(policy, time: time, failingWith: { $0 })
  }
}
