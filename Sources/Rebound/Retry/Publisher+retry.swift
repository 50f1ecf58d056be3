import Combine

extension Publisher {
  /// Tries again after a failure, as a policy says.
  ///
  ///     request
  ///       .retry(.standard.when(\.isTransient))
  ///
  /// - Parameters:
  ///   - policy: When to try again, how often and how late.
  ///   - time: Measures time and waits.
  ///
  /// - Demand: Passes up; what is still owed when an attempt fails is requested from the next. Values beyond the demand
  ///   are dropped.
  /// - Failure: The error of the last attempt, unchanged, unless the policy names another. Values that earlier attempts
  ///   delivered are not taken back: the next attempt delivers its own after them.
  /// - Threads: Values and completion arrive where the upstream sends them. The time source runs only the next
  ///   subscription, and not even that when the delay is zero; so nothing is reordered or lost on a concurrent queue.
  /// - Note: Every retry subscribes to the upstream anew. An upstream that shares one execution (`share()`, `Future`)
  ///   only repeats its error; wrap the making of it in `Deferred`.
  @inlinable
  public func retry(
    _ policy: RetryPolicy<Failure>,
    time: TimeSource = .current
  ) -> Publishers.WithPolicy<Self, RetryPolicy<Failure>> {
    Publishers.WithPolicy(upstream: self, policy: policy, time: time)
  }

  /// Tries again after a failure, or after a value that counts as one, as a policy says.
  ///
  ///     poll.retry(.standard, rejecting: { $0.status == .busy ? .busy : nil })
  ///
  /// A rejected value is dropped, its attempt cancelled, and the policy asked about the failure that it stands for. See
  /// ``Combine/Publisher/retry(_:time:)`` for demand, failure and threads.
  ///
  /// - Parameters:
  ///   - policy: When to try again, how often and how late.
  ///   - rejection: The failure that a value stands for; `nil` accepts the value. Asked on every value that is owed.
  ///   - lastValue: What comes of a value that is rejected and not retried.
  ///   - time: Measures time and waits.
  public func retry(
    _ policy: RetryPolicy<Failure>,
    rejecting rejection: @escaping (Output) -> Failure?,
    whenExhausted lastValue: RejectedValue = .fails,
    time: TimeSource = .current
  ) -> Publishers.WithPolicy<Self, RetryPolicy<Failure>> {
    var publisher = Publishers.WithPolicy(upstream: self, policy: policy, time: time)
    publisher.judgement = ValueJudgement(rejection: rejection, lastValue: lastValue)
    return publisher
  }

  /// Tries again up to that many times, with this back-off, if the condition holds.
  ///
  ///     request
  ///       .retry(.exponential(from: .milliseconds(500), upTo: .seconds(20)), times: 2, when: \.isTransient)
  ///
  /// Numbers that make no sense are brought into range; ``RetryPolicy/init(maxRetries:backoff:maxHint:deadline:random:)``
  /// refuses them instead. See ``Combine/Publisher/retry(_:time:)`` for demand, failure and threads.
  ///
  /// - Parameters:
  ///   - backoff: How long to wait before each retry.
  ///   - times: How many attempts may follow the first; `nil` means for ever.
  ///   - condition: Asked on every failure.
  ///   - time: Measures time and waits.
  public func retry(
    _ backoff: Backoff,
    times: Int?,
    when condition: @escaping @Sendable (Failure) -> Bool = { _ in true },
    time: TimeSource = .current
  ) -> Publishers.WithPolicy<Self, RetryPolicy<Failure>> {
    retry(RetryPolicy(clamping: times, backoff: backoff).when(condition), time: time)
  }

  /// Tries again up to that many times, each time after the same delay, if the condition holds.
  ///
  ///     request.retry(2, after: .seconds(1), when: \.isTransient)
  ///
  /// An error that asks for a longer pause (``RetryAfterProviding``) gets it. See
  /// ``Combine/Publisher/retry(_:time:)`` for demand, failure and threads.
  ///
  /// - Parameters:
  ///   - retries: How many attempts may follow the first. A negative number counts as none.
  ///   - delay: A negative one counts as zero, which tries again at once.
  ///   - condition: Asked on every failure.
  ///   - time: Measures time and waits.
  public func retry(
    _ retries: Int,
    after delay: Duration,
    when condition: @escaping @Sendable (Failure) -> Bool = { _ in true },
    time: TimeSource = .current
  ) -> Publishers.WithPolicy<Self, RetryPolicy<Failure>> {
    retry(.constant(delay), times: retries, when: condition, time: time)
  }

  /// Tries again up to that many times, each time after the delay that the error calls for.
  ///
  ///     request.retry(2, after: { $0.isTransient ? .seconds(1) : nil })
  ///
  /// See ``Combine/Publisher/retry(_:time:)`` for demand, failure and threads.
  ///
  /// - Parameters:
  ///   - retries: How many attempts may follow the first. A negative number counts as none.
  ///   - delay: Asked on every failure; `nil` means not to try again. An error that asks for a longer pause
  ///     (``RetryAfterProviding``) gets it.
  ///   - time: Measures time and waits.
  public func retry(
    _ retries: Int,
    after delay: @escaping @Sendable (Failure) -> Duration?,
    time: TimeSource = .current
  ) -> Publishers.WithPolicy<Self, RetryPolicy<Failure>> {
    let policy = RetryPolicy<Failure>(clamping: retries).deciding { error, _ in
      delay(error).map { .retry(after: $0) } ?? .stop
    }
    return retry(policy, time: time)
  }

  /// Tries again as a strategy says for each error.
  ///
  ///     request.retry { error in
  ///       switch error.kind {
  ///       case .server: .retry(retries: 3, delay: .seconds(1))
  ///       case .timeout: .retry(retries: 1)
  ///       default: .skip
  ///       }
  ///     }
  ///
  /// See ``Combine/Publisher/retry(_:time:)`` for demand, failure and threads.
  ///
  /// - Parameters:
  ///   - backoff: How long to wait where the strategy names no delay.
  ///   - time: Measures time and waits.
  ///   - strategy: Asked on every failure. A `.retry` without a number of retries means for ever.
  public func retry(
    _ backoff: Backoff = .standard,
    time: TimeSource = .current,
    strategy: @escaping @Sendable (Failure) -> RetryDecision<Failure>
  ) -> Publishers.WithPolicy<Self, RetryPolicy<Failure>> {
    let policy = RetryPolicy<Failure>(clamping: nil, backoff: backoff).deciding { error, _ in strategy(error) }
    return retry(policy, time: time)
  }
}

/// What comes of a value that is rejected and not retried.
public enum RejectedValue: Hashable, Sendable {
  /// It is dropped, and the failure that it stands for passes on; the default.
  case fails
  /// It is delivered after all, as the last value.
  case isDelivered
}
