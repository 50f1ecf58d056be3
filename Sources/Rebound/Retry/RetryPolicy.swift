/// When to try again, how often and how late.
///
///     let policy = try RetryPolicy<NetworkFailure>(maxRetries: 3, backoff: .standard, deadline: .seconds(30))
///       .when(\.isTransient)
///       .onEvent { log.notice("\($0)") }
///
/// A policy is a plain value. It holds no state of any execution, so one policy serves any number of publishers at the
/// same time, each with its own count and back-off.
///
/// There are two ways to make one. ``init(maxRetries:backoff:maxHint:deadline:random:)`` refuses numbers that make no
/// sense; ``init(clamping:backoff:maxHint:deadline:random:)`` brings them into range and cannot fail, and is what the
/// one-line forms of `retry` use.
///
/// After a failure, in this order: the condition and the decision are asked, on every failure; retries are counted; a
/// hint that is too long ends it; the delay is computed and must end before the deadline; the event is told.
///
/// ``CircuitOpen`` is retried only if the policy has a deadline and the breaker may let a call through before that.
public struct RetryPolicy<Failure: Error>: Sendable {
  /// What is thrown when a policy makes no sense.
  public typealias Invalid = InvalidRetryPolicy

  /// How many attempts may follow the first, so `n` allows `n + 1` in all; `nil` means for ever.
  public let maxRetries: Int?
  /// How long to wait before each retry.
  public let backoff: Backoff
  /// The longest pause asked for by an error that is waited for, 120 s by default.
  ///
  /// After a longer one the error passes on, so that the user can be told when to come back.
  public let maxHint: Duration
  /// The time for all attempts and waits together, on the clock of the scheduler.
  ///
  /// An attempt that runs is not cut off, but no wait begins that would end after it; `nil` means no limit.
  public let deadline: Duration?
  /// Where jitter gets its randomness.
  public let random: RandomSource

  package private(set) var condition: @Sendable (Failure) -> Bool = { _ in true }
  /// Whether a condition, or a decision of its own, may keep it from retrying some failures.
  ///
  /// False for a policy that retries whatever has failed, as often as its numbers allow.
  public private(set) var isConditional = false

  package private(set) var decision: @Sendable (Failure, RetryContext) -> RetryDecision<Failure> = { _, _ in .retry() }
  package private(set) var hint: @Sendable (Failure) -> Duration? = { ($0 as? any RetryAfterProviding)?.retryAfter }
  package private(set) var observer: (@Sendable (RetryEvent) -> Void)?
  package private(set) var duplicates = RetryDuplicates.replay
  package private(set) var countsInARow = false
  package private(set) var budget: RetryBudget?
  package private(set) var callDeadline: Deadline?
  package private(set) var exhaustion: (kept: Int, error: @Sendable (RetryExhausted<Failure>) -> Failure)?

  /// Makes a policy, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - maxRetries: How many attempts may follow the first; `nil` means for ever.
  ///   - backoff: How long to wait before each retry.
  ///   - maxHint: The longest pause asked for by an error that is waited for.
  ///   - deadline: The time for all attempts and waits together; `nil` means no limit.
  ///   - random: Where jitter gets its randomness.
  /// - Throws: ``InvalidRetryPolicy``, with the number that makes no sense.
  public init(
    maxRetries: Int? = 2,
    backoff: Backoff = .standard,
    maxHint: Duration = .seconds(120),
    deadline: Duration? = nil,
    random: RandomSource = .system
  ) throws(InvalidRetryPolicy) {
    if let maxRetries, maxRetries < 0 { throw .negativeRetries(maxRetries) }
    try backoff.validate()
    if maxHint < .zero { throw .negativeMaxHint(maxHint) }
    if let deadline, deadline <= .zero { throw .deadlineNotPositive(deadline) }
    self.init(clamping: maxRetries, backoff: backoff, maxHint: maxHint, deadline: deadline, random: random)
  }

  /// Makes a policy, and brings numbers that make no sense into range.
  ///
  /// Negative retries, delays, hints and deadlines count as zero, a multiplier under 1 as 1, a jitter's ratio as the
  /// nearest in `0...1`; a cap below the first delay holds.
  ///
  /// - Parameters:
  ///   - maxRetries: How many attempts may follow the first; `nil` means for ever.
  ///   - backoff: How long to wait before each retry.
  ///   - maxHint: The longest pause asked for by an error that is waited for.
  ///   - deadline: The time for all attempts and waits together; `nil` means no limit.
  ///   - random: Where jitter gets its randomness.
  public init(
    clamping maxRetries: Int?,
    backoff: Backoff = .standard,
    maxHint: Duration = .seconds(120),
    deadline: Duration? = nil,
    random: RandomSource = .system
  ) {
    self.maxRetries = maxRetries.map { max($0, 0) }
    self.backoff = backoff
    self.maxHint = maxHint.clampedToDelay
    self.deadline = deadline?.clampedToDelay
    self.random = random
  }

  /// Two retries, after about 0.5 s and 1 s, with full jitter, for every error.
  public static var standard: RetryPolicy { RetryPolicy(clamping: 2) }

  /// No retry.
  public static var never: RetryPolicy { RetryPolicy(clamping: 0) }

  /// The same policy for fewer errors: those for which this holds, and every condition before.
  ///
  /// - Parameter condition: Asked on every failure, the last included, on the thread of the failure.
  public func when(_ condition: @escaping @Sendable (Failure) -> Bool) -> RetryPolicy {
    var copy = self
    copy.condition = { [earlier = self.condition] in earlier($0) && condition($0) }
    copy.isConditional = true
    return copy
  }

  /// The same policy, with this decision in place of the one before.
  ///
  /// - Parameter decision: Asked on every failure for which the condition holds, on the thread of the failure.
  public func deciding(
    _ decision: @escaping @Sendable (Failure, RetryContext) -> RetryDecision<Failure>
  ) -> RetryPolicy {
    var copy = self
    copy.decision = decision
    copy.isConditional = true
    return copy
  }

  /// The same policy, for errors that say in their own way how long to wait, in place of ``RetryAfterProviding``.
  ///
  /// - Parameter hint: The pause that an error asks for. A negative one counts as zero.
  public func hinted(by hint: @escaping @Sendable (Failure) -> Duration?) -> RetryPolicy {
    var copy = self
    copy.hint = hint
    return copy
  }

  /// The same policy, told to one more observer.
  ///
  /// - Parameter observer: Gets every decision before it is acted on, on the thread of the failure, with no lock held.
  public func onEvent(_ observer: @escaping @Sendable (RetryEvent) -> Void) -> RetryPolicy {
    var copy = self
    copy.observer = { [earlier = self.observer] event in
      earlier?(event)
      observer(event)
    }
    return copy
  }

  /// The same policy, with this answer to values that were delivered before a failure, in place of the one before.
  ///
  /// An asynchronous function returns nothing before it fails, so it knows no duplicates.
  public func onDuplicates(_ duplicates: RetryDuplicates) -> RetryPolicy {
    var copy = self
    copy.duplicates = duplicates
    return copy
  }

  /// The same policy for streams that live long: an attempt that delivers a value starts count and back-off afresh.
  ///
  /// The number of the attempt in events and contexts counts on, and so does the time towards the deadline.
  public func countingInARow() -> RetryPolicy {
    var copy = self
    copy.countsInARow = true
    return copy
  }

  /// The same policy, with a budget that all who hold it share, in place of the one before.
  ///
  /// - Parameter budget: Asked last, when all else allows the retry.
  public func within(_ budget: RetryBudget) -> RetryPolicy {
    var copy = self
    copy.budget = budget
    return copy
  }

  /// The same policy for one call that is to be done by a moment; the nearer one holds if there was one before.
  ///
  ///     TimeoutPolicy.total(.seconds(30)).publisher(scheduler: queue, failingWith: { .timedOut($0.limit) }) { deadline in
  ///       Deferred { client.send(request) }.retry(policy.within(deadline), scheduler: queue)
  ///     }
  ///
  /// No wait begins that would end after it: the last error passes on at once, while there is time to do something about
  /// it. ``deadline``, in contrast, is a length of time, which begins anew with each execution.
  ///
  /// - Parameter deadline: The moment, of one call: such a policy is made anew for the next one.
  public func within(_ deadline: Deadline) -> RetryPolicy {
    var copy = self
    copy.callDeadline = deadline.nearer(callDeadline)
    return copy
  }

  /// The same policy, which fails with another error when the retries or the time are used up.
  ///
  ///     policy.onExhaustion { .gaveUp(after: $0.attempts, causes: $0.errors) }
  ///
  /// - Parameters:
  ///   - kept: How many errors to keep, the last ones; at least one.
  ///   - error: Makes the error; called with no lock held.
  public func onExhaustion(
    keeping kept: Int = 10,
    _ error: @escaping @Sendable (RetryExhausted<Failure>) -> Failure
  ) -> RetryPolicy {
    var copy = self
    copy.exhaustion = (max(kept, 1), error)
    return copy
  }
}
