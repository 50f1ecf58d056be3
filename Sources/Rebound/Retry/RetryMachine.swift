/// Decides what comes of each failure of one execution.
///
/// It has no clock, no lock and no stream; its owner tells it the time. It calls the policy's closures, so it must not
/// be asked under a lock.
package struct RetryMachine<Failure: Error>: Sendable {
  /// What to do now.
  package enum Action: Sendable {
    /// Try again after this long.
    case retry(after: Duration)
    /// Ask the budget, whose account is elsewhere, with ``ask(at:_:)``; its answer is for ``answered(_:telling:)``.
    case ask
    /// Pass this error on.
    case stop(with: Failure)
  }

  /// An object, so that whoever lets go of a machine needs not know the type of its failures.
  private final class Asked: Sendable {
    let error: Failure
    let context: RetryContext
    let verdict: Verdict

    init(_ error: Failure, _ context: RetryContext, _ verdict: Verdict) {
      self.error = error
      self.context = context
      self.verdict = verdict
    }
  }

  /// The object, whose fields are read where they lie: a copy of all settings costs more than most of what is decided.
  private let policy: RetryPolicy<Failure>.Storage
  private var delays: Backoff.Delays
  /// In all, or since the last value for a policy that counts in a row.
  private var retries = 0
  private var attempts = 0
  private var hasDelivered = false
  private var errors: [Failure] = []
  /// The retry that was granted last, and whether there was an end that the budget was told of.
  private var granted: RetryBudget.Retry?
  private var hasEnded = false
  /// The present, and the time until the deadline of the call, at the failure that is being judged.
  private var now = Duration.zero
  private var callLeft: Duration?
  /// The failure that the budget is asked about.
  private var asked: Asked?

  package init(_ policy: RetryPolicy<Failure>, now: Duration = .zero) {
    self.policy = policy.inOnePiece.storage
    let settings = self.policy.settings
    delays = settings.backoff.delays(random: settings.random)
    settings.budget?.begin(at: now)
  }

  /// An attempt failed.
  ///
  /// - Parameters:
  ///   - error: What it failed with.
  ///   - elapsed: How long the execution has run.
  ///   - now: The present, on the time of the execution.
  ///   - left: The time until the deadline of the call.
  ///   - delivered: How many values it had delivered.
  ///   - tell: Gets the event, besides the policy's own observer.
  package mutating func failed(
    with error: Failure,
    elapsed: Duration,
    now: Duration? = nil,
    left: Duration? = nil,
    delivered: Int = 0,
    telling tell: ((RetryEvent) -> Void)? = nil
  ) -> Action {
    (self.now, callLeft) = (now ?? elapsed, left ?? policy.settings.callDeadline?.remaining)
    attempts += 1
    if delivered > 0 {
      hasDelivered = true
      if policy.settings.countsInARow {
        retries = 0
        delays = policy.settings.backoff.delays(random: policy.settings.random)
      }
    }
    if let kept = policy.settings.exhaustion?.kept {
      errors.append(error)
      if errors.count > kept { errors.removeFirst(errors.count - kept) }
    }
    let hint = policy.settings.hint(error)?.clampedToDelay
    let context = RetryContext(attempt: attempts, elapsed: elapsed, hint: hint)
    return conclude(judge(error, context), error, context, telling: tell)
  }

  /// Asks the budget for the retry.
  package func ask(at now: Duration, _ answer: @escaping @Sendable (RetryBudget.Retry?) -> Void) {
    policy.settings.budget?.account.ask(at: now, answer)
  }

  /// The budget has answered.
  ///
  /// - Parameters:
  ///   - retry: What it has granted; `nil` if it denies the retry.
  ///   - tell: Gets the event, besides the policy's own observer.
  package mutating func answered(_ retry: RetryBudget.Retry?, telling tell: ((RetryEvent) -> Void)? = nil) -> Action? {
    guard let asked else { return nil }
    self.asked = nil
    granted = retry
    let verdict = retry == nil ? .stop(.budgetExhausted, with: nil) : asked.verdict
    return conclude(verdict, asked.error, asked.context, telling: tell)
  }

  private mutating func conclude(
    _ verdict: Verdict,
    _ error: Failure,
    _ context: RetryContext,
    telling tell: ((RetryEvent) -> Void)?
  ) -> Action {
    if case .retry(let delay, let source, asks: true) = verdict {
      asked = Asked(error, context, .retry(after: delay, source, asks: false))
      return .ask
    }
    if policy.settings.observer != nil || tell != nil {
      let event = RetryEvent(context, error: error, verdict: verdict)
      policy.settings.observer?(event)
      tell?(event)
    }
    switch verdict {
    case .retry(let delay, _, _):
      retries += 1
      return .retry(after: delay)
    case .stop(let reason, let other):
      return .stop(with: other ?? exhausted(reason, error, context.elapsed) ?? error)
    }
  }

  /// The policy's own, besides the one that executions bring.
  var callDeadline: Deadline? { policy.settings.callDeadline }

  /// Whether the next attempt is to be told to the budget.
  package var hasGrant: Bool { granted != nil }

  /// The wait is over and the next attempt begins.
  package func retryBegins(now: Duration = .zero) {
    granted?.begin(at: now)
  }

  /// The execution is over, or was cancelled.
  package mutating func end(succeeded: Bool, now: Duration = .zero) {
    guard !hasEnded else { return }
    hasEnded = true
    granted?.giveBack(at: now)
    if succeeded { policy.settings.budget?.succeed(after: granted) }
    granted = nil
  }

  private func exhausted(_ reason: RetryEvent.Reason, _ error: Failure, _ elapsed: Duration) -> Failure? {
    guard let exhaustion = policy.settings.exhaustion, reason == .attemptsExhausted || reason == .deadlineExceeded
    else {
      return nil
    }
    let all = RetryExhausted(attempts: attempts, elapsed: elapsed, errors: errors, underlying: error)
    return exhaustion.error(all)
  }

  fileprivate enum Verdict: Sendable {
    /// If it asks, only when the budget grants it.
    case retry(after: Duration, RetryEvent.DelaySource, asks: Bool)
    case stop(RetryEvent.Reason, with: Failure?)
  }

  private mutating func judge(_ error: Failure, _ context: RetryContext) -> Verdict {
    guard policy.settings.condition(error) else {
      return .stop(policy.settings.refusal(error), with: nil)
    }
    let decision = policy.settings.decision?(error, context) ?? .retry()
    // An open breaker refuses again until its time is over, and without a deadline nobody has said that to wait is fine.
    if isExactly(error, CircuitOpen.self) || isExactly(error, TracedError.self),
      let open = error.withoutTrace as? CircuitOpen
    {
      guard policy.settings.deadline != nil, let pause = open.retryAfter, let left = timeLeft(context), pause < left
      else {
        if case .stop(let other) = decision.kind { return .stop(.decided, with: other) }
        return .stop(.circuitOpen, with: nil)
      }
    }
    let limit: Int?
    let decided: Duration?
    switch decision.kind {
    case .stop(let other): return .stop(.decided, with: other)
    case .retry(let ownLimit, let delay): (limit, decided) = (ownLimit, delay?.clampedToDelay)
    }
    // Of a failure that is worth a retry, also where there will be none, and of no other: as in gRPC.
    policy.settings.budget?.fail()

    if policy.settings.duplicates == .failIfEmitted, hasDelivered { return .stop(.valuesDelivered, with: nil) }
    if let maxRetries = policy.settings.maxRetries, retries >= maxRetries {
      return .stop(.attemptsExhausted, with: nil)
    }
    if let limit, retries >= limit { return .stop(.attemptsExhausted, with: nil) }

    let left = timeLeft(context)
    if let left, left <= .zero { return .stop(.deadlineExceeded, with: nil) }
    // Measured before chance lengthens it: the server's word is what the limit is about.
    if let hint = context.hint, hint > policy.settings.maxHint { return .stop(.hintTooLong, with: nil) }

    let (delay, source) = nextDelay(decided: decided, hint: context.hint)
    // To sleep into certain failure would only keep the error from the user.
    if let left, delay >= left { return .stop(.deadlineExceeded, with: nil) }
    // Last, since a retry that is granted counts from here on.
    if let budget = policy.settings.budget {
      if budget.account.answersLater { return .retry(after: delay, source, asks: true) }
      guard let retry = budget.grant(at: now) else { return .stop(.budgetExhausted, with: nil) }
      granted = retry
    }
    return .retry(after: delay, source, asks: false)
  }

  /// The time until the nearer of the policy's deadline and that of the call; `nil` if there is neither.
  private func timeLeft(_ context: RetryContext) -> Duration? {
    let own = policy.settings.deadline.map { $0 - context.elapsed }
    guard let callLeft else { return own }
    return own.map { min($0, callLeft) } ?? callLeft
  }

  /// The longer of what was computed and what was asked for.
  private mutating func nextDelay(decided: Duration?, hint: Duration?) -> (Duration, RetryEvent.DelaySource) {
    let step = delays.nextStep()
    let own = decided ?? step.delay
    guard let hint, hint > own else { return (own, decided == nil ? .computed : .decided) }
    // All clients were told the same moment, so chance has to spread them; upward only, since none may come too early.
    guard decided == nil else { return (hint, .hint) }
    let spread = Duration(saturatingSeconds: step.width.inSeconds * policy.settings.random.next())
    return ((hint + spread).clampedToDelay, .hint)
  }
}

extension RetryEvent {
  fileprivate init<Failure>(_ context: RetryContext, error: Failure, verdict: RetryMachine<Failure>.Verdict) {
    let (delay, source, outcome): (Duration?, DelaySource?, Outcome)
    switch verdict {
    case .retry(let after, let from, _): (delay, source, outcome) = (after, from, .retrying)
    case .stop(let reason, _): (delay, source, outcome) = (nil, nil, .stopped(reason))
    }
    self.init(
      attempt: context.attempt,
      error: error,
      elapsed: context.elapsed,
      hint: context.hint,
      delay: delay,
      delaySource: source,
      outcome: outcome
    )
  }
}
