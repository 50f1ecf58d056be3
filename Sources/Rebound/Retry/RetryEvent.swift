/// One decision of a retry policy: an attempt failed, and this is what comes of it.
public struct RetryEvent: Sendable {
  /// What comes of a failure.
  public enum Outcome: Hashable, Sendable {
    /// Another attempt follows, after ``RetryEvent/delay``.
    case retrying
    /// No other attempt follows, and the error passes on.
    case stopped(Reason)
  }

  /// Why there is no other attempt.
  ///
  /// Later versions may add reasons.
  public struct Reason: Hashable, Sendable, CustomStringConvertible {
    /// The reason in words.
    public let description: String

    private init(_ description: String) {
      self.description = description
    }

    /// The policy's condition does not hold for the error.
    public static let notRetryable = Reason("not retryable")
    /// Another attempt would be worth while, but what was sent can be read once only, and is gone.
    public static let notReplayable = Reason("not replayable")
    /// The policy's own decision was to stop.
    public static let decided = Reason("decided to stop")
    /// All retries are used up.
    public static let attemptsExhausted = Reason("attempts exhausted")
    /// The time for all attempts together is over, or would be after the delay.
    public static let deadlineExceeded = Reason("deadline exceeded")
    /// The error asks for a pause that is longer than the policy waits.
    public static let hintTooLong = Reason("hint too long")
    /// Values were delivered before the failure, and the policy does not retry then.
    public static let valuesDelivered = Reason("values delivered")
    /// A circuit breaker refuses all calls for longer than there is time, or nobody has said how much time there is.
    public static let circuitOpen = Reason("circuit open")
    /// The budget that this execution shares with others grants no retry now.
    public static let budgetExhausted = Reason("budget exhausted")
  }

  /// Where a delay comes from.
  ///
  /// Later versions may add sources.
  public struct DelaySource: Hashable, Sendable, CustomStringConvertible {
    /// The source in words.
    public let description: String

    private init(_ description: String) {
      self.description = description
    }

    /// The back-off computed it.
    public static let computed = DelaySource("computed")
    /// The error asked for it, and for longer than the policy would have waited.
    public static let hint = DelaySource("hint")
    /// The policy's own decision named it.
    public static let decided = DelaySource("decided")
  }

  /// The number of the attempt that failed, from 1.
  public let attempt: Int
  /// What it failed with.
  public let error: any Error
  /// How long the execution has run, waits included, on the clock of its scheduler.
  public let elapsed: Duration
  /// The pause that the error asked for.
  public let hint: Duration?
  /// How long to wait before the next attempt; `nil` if there is none.
  public let delay: Duration?
  /// Where the delay comes from; `nil` if there is none.
  public let delaySource: DelaySource?
  /// What comes of the failure.
  public let outcome: Outcome

  /// Describes one decision.
  public init(
    attempt: Int,
    error: any Error,
    elapsed: Duration = .zero,
    hint: Duration? = nil,
    delay: Duration? = nil,
    delaySource: DelaySource? = nil,
    outcome: Outcome
  ) {
    self.attempt = attempt
    self.error = error
    self.elapsed = elapsed
    self.hint = hint
    self.delay = delay
    self.delaySource = delaySource
    self.outcome = outcome
  }
}

extension RetryEvent: CustomStringConvertible {
  /// One line for a log: "attempt 2 failed (timedOut); retrying in 1.0 seconds (computed)".
  public var description: String {
    let failure = "attempt \(attempt) failed (\(error))"
    switch outcome {
    case .retrying:
      return "\(failure); retrying in \(delay ?? .zero) (\(delaySource ?? .computed))"
    case .stopped(let reason):
      return "\(failure); stopped: \(reason)"
    }
  }
}

extension RetryEvent: PolicyDecision {
  /// That of retries.
  public static var kind: PolicyKind { .retry }

  /// A warning if another attempt follows, an error otherwise.
  public var severity: PolicyEvent.Severity { outcome == .retrying ? .warning : .error }

  /// "retrying", or why there is no other attempt: "attempts_exhausted".
  public var word: String {
    switch outcome {
    case .retrying: "retrying"
    case .stopped(let reason): reason.description.asLabel
    }
  }

  /// `attempt` and `elapsed`; `hint`, `delay` and `from` (what named the delay), if there are any.
  public var details: [EventField] {
    var fields = [EventField("attempt", attempt), EventField("elapsed", elapsed)]
    fields += EventField.known("hint", hint) + EventField.known("delay", delay)
    if let delaySource { fields.append(EventField("from", delaySource.description.asLabel)) }
    return fields
  }

  /// The pause before the next attempt, or how long an execution took that is given up.
  public var measurements: [PolicyMeasurement] {
    var measurements: [PolicyMeasurement] = []
    if let delay, let delaySource {
      let labels = [Metric.Label("from", delaySource.description.asLabel)]
      measurements += [.init("rebound_retry_delay_seconds", delay.inSeconds, "Pauses before retries.", labels: labels)]
    }
    if case .stopped = outcome {
      let meaning = "How long executions took that were given up."
      let labels = [Metric.Label("reason", word)]
      measurements += [.init("rebound_retry_elapsed_seconds", elapsed.inSeconds, meaning, labels: labels)]
    }
    return measurements
  }
}

extension PolicyKind {
  /// That of a ``RetryPolicy``.
  public static let retry = PolicyKind("retry")
}
