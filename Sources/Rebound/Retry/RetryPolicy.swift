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
  /// What a policy consists of.
  struct Settings: Sendable {
    var maxRetries: Int?
    var backoff: Backoff
    var maxHint: Duration
    var deadline: Duration?
    var random: RandomSource
    var condition: @Sendable (Failure) -> Bool = { _ in true }
    var isConditional = false
    /// Why not, where the condition does not hold.
    var refusal: @Sendable (Failure) -> RetryEvent.Reason = { _ in .notRetryable }
    /// `nil` to retry with the back-off's delay.
    var decision: (@Sendable (Failure, RetryContext) -> RetryDecision<Failure>)?
    var hint: @Sendable (Failure) -> Duration? = { pause(askedBy: $0) }
    var observer: (@Sendable (RetryEvent) -> Void)?
    var duplicates = RetryDuplicates.replay
    var countsInARow = false
    var budget: RetryBudget?
    var callDeadline: Deadline?
    var exhaustion: (kept: Int, error: @Sendable (RetryExhausted<Failure>) -> Failure)?

    /// Whether anything has to be known before the first failure: when it began, or that it has.
    var hasBeginning: Bool {
      deadline != nil || decision != nil || observer != nil || budget != nil || exhaustion != nil
    }
  }

  /// Kept in one object, so that a copy of a policy costs one reference.
  @usableFromInline
  final class Storage: Sendable {
    let settings: Settings
    @usableFromInline let hasBeginning: Bool
    @usableFromInline let hasBudget: Bool
    @usableFromInline let skipsDelivered: Bool

    init(_ settings: Settings) {
      self.settings = settings
      hasBeginning = settings.hasBeginning
      hasBudget = settings.budget != nil
      skipsDelivered = settings.duplicates == .skipDelivered
    }
  }

  @usableFromInline let storage: Storage
  @usableFromInline let call: RetryCall?

  var settings: Settings {
    guard let call else { return storage.settings }
    return changed(storage.settings) {
      if let deadline = call.deadline { $0.callDeadline = deadline.nearer($0.callDeadline) }
      $0.observer = both($0.observer, call.observer)
    }
  }

  /// How many attempts may follow the first, so `n` allows `n + 1` in all; `nil` means for ever.
  public var maxRetries: Int? { settings.maxRetries }
  /// How long to wait before each retry.
  public var backoff: Backoff { settings.backoff }
  /// The longest pause asked for by an error that is waited for, 120 s by default.
  ///
  /// After a longer one the error passes on, so that the user can be told when to come back; so zero stops on every pause that
  /// is asked for.
  public var maxHint: Duration { settings.maxHint }
  /// The time for all attempts and waits together.
  ///
  /// An attempt that runs is not cut off, but no wait begins that would end after it; `nil` means no limit.
  public var deadline: Duration? { settings.deadline }
  /// Where jitter gets its randomness.
  public var random: RandomSource { settings.random }
  /// Whether a condition, or a decision of its own, may keep it from retrying some failures.
  ///
  /// False for a policy that retries whatever has failed, as often as its numbers allow. The type of its failures is no condition.
  public var isConditional: Bool { settings.isConditional }

  package var decision: @Sendable (Failure, RetryContext) -> RetryDecision<Failure> {
    settings.decision ?? { _, _ in .retry() }
  }
  package var budget: RetryBudget? { settings.budget }

  /// The same policy with some settings changed.
  private func changing(_ change: (inout Settings) -> Void) -> RetryPolicy {
    var settings = settings
    change(&settings)
    return RetryPolicy(settings)
  }

  /// The same policy, for whoever looks at its settings more than once.
  @inlinable var inOnePiece: RetryPolicy { call == nil ? self : putTogether() }

  @usableFromInline
  func putTogether() -> RetryPolicy { RetryPolicy(settings) }

  private init(_ settings: Settings) {
    self.init(Storage(settings), call: nil)
  }

  @inlinable
  init(_ storage: Storage, call: RetryCall?) {
    (self.storage, self.call) = (storage, call)
  }

  /// Makes a policy, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - maxRetries: How many attempts may follow the first; `nil` means for ever.
  ///   - backoff: How long to wait before each retry.
  ///   - maxHint: The longest pause asked for by an error that is waited for.
  ///   - deadline: The time for all attempts and waits together; `nil` means no limit.
  ///   - random: Where jitter gets its randomness.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public init(
    maxRetries: Int? = 2,
    backoff: Backoff = .standard,
    maxHint: Duration = .seconds(120),
    deadline: Duration? = nil,
    random: RandomSource = .system
  ) throws(InvalidPolicy) {
    let kind = PolicyKind.retry
    try kind.require("maxRetries", maxRetries, "Give 0 for no retry, or nil to retry for ever.") { $0 >= 0 }
    try backoff.validate(for: kind)
    try kind.require("maxHint", maxHint, "Give zero to stop on every hint, or a positive duration.") { $0 >= .zero }
    try kind.require("deadline", deadline, "Give a positive duration, or nil for none.") { $0 > .zero }
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
    self.init(
      Settings(
        maxRetries: maxRetries.map { max($0, 0) },
        backoff: backoff,
        maxHint: maxHint.clampedToDelay,
        deadline: deadline?.clampedToDelay,
        random: random
      )
    )
  }

  /// The same policy for calls that fail with anything.
  ///
  ///     let policy = RetryPolicy<any Error>(RetryPolicy<NetworkFailure>.standard)
  ///
  /// An error of another type is judged as the failure that it becomes, where the type of failures is ``RefusalConvertible``;
  /// else it is not retried. Checkpoints that were noted in an error do not matter.
  ///
  /// - Parameter typed: A policy for one type of failures.
  public init<Typed: Error>(_ typed: RetryPolicy<Typed>) where Failure == any Error {
    let settings = typed.settings
    let own = { @Sendable (error: any Error) in Typed(known: error) }
    var wide = Settings(
      maxRetries: settings.maxRetries,
      backoff: settings.backoff,
      maxHint: settings.maxHint,
      deadline: settings.deadline,
      random: settings.random,
      condition: { own($0).map(settings.condition) ?? false },
      // Of calls that fail with this type alone, all failures are retried.
      isConditional: settings.isConditional,
      refusal: { own($0).map(settings.refusal) ?? .notRetryable },
      hint: { error in
        if let typed = error.withoutTrace as? Typed { return settings.hint(typed) }
        return own(error).flatMap(settings.hint) ?? pause(askedBy: error)
      },
      observer: settings.observer,
      duplicates: settings.duplicates,
      countsInARow: settings.countsInARow,
      budget: settings.budget,
      callDeadline: settings.callDeadline
    )
    if let decision = settings.decision {
      wide.decision = { error, context in
        guard let error = own(error) else { return .stop }
        return RetryDecision(decision(error, context))
      }
    }
    if let exhaustion = settings.exhaustion {
      wide.exhaustion = (
        exhaustion.kept,
        { all in
          guard let last = own(all.underlying) else { return all.underlying }
          return exhaustion.error(
            RetryExhausted(
              attempts: all.attempts,
              elapsed: all.elapsed,
              errors: all.errors.compactMap(own),
              underlying: last
            )
          )
        }
      )
    }
    self.init(wide)
  }

  /// Two retries, after at most 0.5 s and 1 s, by full jitter, for every error.
  public static var standard: RetryPolicy { RetryPolicy(clamping: 2) }

  /// No retry.
  public static var never: RetryPolicy { RetryPolicy(clamping: 0) }

  /// The same policy for fewer errors: those for which this holds, and every condition before.
  ///
  /// - Parameter condition: Asked on every failure, the last included, on the thread of the failure.
  public func when(_ condition: @escaping @Sendable (Failure) -> Bool) -> RetryPolicy {
    changing { settings in
      settings.condition = { [earlier = settings.condition] in earlier($0) && condition($0) }
      settings.isConditional = true
    }
  }

  /// What holds for the errors that it retries.
  package var condition: @Sendable (Failure) -> Bool { settings.condition }

  /// The same policy, which has this reason for what its condition does not hold for.
  package func refusing(for reason: @escaping @Sendable (Failure) -> RetryEvent.Reason) -> RetryPolicy {
    changing { $0.refusal = reason }
  }

  /// The same policy, with this decision in place of the one before.
  ///
  /// - Parameter decision: Asked on every failure for which the condition holds, on the thread of the failure.
  public func deciding(
    _ decision: @escaping @Sendable (Failure, RetryContext) -> RetryDecision<Failure>
  ) -> RetryPolicy {
    changing { settings in
      settings.decision = decision
      settings.isConditional = true
    }
  }

  /// The same policy, for errors that say in their own way how long to wait, in place of ``RetryAfterProviding``.
  ///
  /// - Parameter hint: The pause that an error asks for; `nil` for none, which leaves it to the back-off. A negative one counts
  ///   as zero. Asked once on every failure, the last and those that are not retried included, on the thread of the failure;
  ///   not on a finish, with or without a value, nor on a cancel.
  public func hinted(by hint: @escaping @Sendable (Failure) -> Duration?) -> RetryPolicy {
    changing { $0.hint = hint }
  }

  /// The same policy, told to one more observer.
  ///
  /// - Parameter observer: Gets every decision before it is acted on, on the thread of the failure, with no lock held.
  public func onEvent(_ observer: @escaping @Sendable (RetryEvent) -> Void) -> RetryPolicy {
    changing { $0.observer = both($0.observer, observer) }
  }

  /// The same policy, with this answer to values that were delivered before a failure, in place of the one before.
  ///
  /// An asynchronous function returns nothing before it fails, so it knows no duplicates.
  public func onDuplicates(_ duplicates: RetryDuplicates) -> RetryPolicy {
    changing { $0.duplicates = duplicates }
  }

  /// The same policy for streams that live long: an attempt that delivers a value starts count and back-off afresh.
  ///
  /// The number of the attempt in events and contexts counts on, and so does the time towards the deadline.
  public func countingInARow() -> RetryPolicy {
    changing { $0.countsInARow = true }
  }

  /// The same policy, with a budget that all who hold it share, in place of the one before.
  ///
  /// - Parameter budget: Asked last, when all else allows the retry.
  public func within(_ budget: RetryBudget) -> RetryPolicy {
    changing { $0.budget = budget }
  }

  /// The same policy for one call that is to be done by a moment; the nearer one holds if there was one before.
  ///
  ///     let forecast = try await policy.within(Deadline(in: .seconds(30)))
  ///       .run { () throws(NetworkFailure) in try await client.forecast(for: city) }
  ///
  /// A ``TimeoutPolicy`` outside of the retry has said so already: see ``Deadline/current``.
  /// No wait begins that would end after it: the last error passes on at once, while there is time to do something about
  /// it. ``deadline``, in contrast, is a length of time, which begins anew with each execution.
  ///
  /// - Parameter deadline: The moment, of one call: such a policy is made anew for the next one.
  public func within(_ deadline: Deadline) -> RetryPolicy {
    changing { $0.callDeadline = deadline.nearer($0.callDeadline) }
  }

  /// The policy of one call, within its deadline, and with one more observer.
  ///
  /// Each call makes one, and few calls fail: so it is put together at the first failure.
  @inlinable
  package func ofCall(
    within deadline: Deadline?,
    onEvent observer: @escaping @Sendable (RetryEvent) -> Void
  ) -> RetryPolicy {
    RetryPolicy(inOnePiece.storage, call: RetryCall(deadline, observer))
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
    changing { $0.exhaustion = (max(kept, 1), error) }
  }
}

extension Error {
  /// The error itself where it is of this type, or what it becomes as one; `nil` where it has no place there.
  fileprivate init?(known error: any Error) {
    let error = error.withoutTrace
    if let own = error as? Self {
      self = own
    } else if let convertible = Self.self as? any RefusalConvertible.Type,
      let converted = convertible.init(refusal: error) as? Self
    {
      self = converted
    } else {
      return nil
    }
  }
}

/// What one call adds to a policy.
@usableFromInline
final class RetryCall: Sendable {
  let deadline: Deadline?
  let observer: @Sendable (RetryEvent) -> Void

  @usableFromInline
  init(_ deadline: Deadline?, _ observer: @escaping @Sendable (RetryEvent) -> Void) {
    (self.deadline, self.observer) = (deadline, observer)
  }
}
