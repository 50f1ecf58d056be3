// What the decisions and gauges of the package tell programs: numbers and words, never an error, an address or a key, so
// that a stream may change an event's text without more of it being seen here.

extension RetryEvent {
  /// `attempt` and `elapsed`; `hint`, `delay` and `from` (what named the delay), if there are any.
  public var details: [EventField] {
    var fields = [EventField("attempt", attempt), EventField("elapsed", elapsed)]
    if let hint { fields.append(EventField("hint", hint)) }
    if let delay { fields.append(EventField("delay", delay)) }
    if let delaySource { fields.append(EventField("from", delaySource.description.asLabel)) }
    return fields
  }
}

extension CircuitBreakerEvent {
  /// `before` and `open_for` of a change; `retry_after` of a refusal.
  public var details: [EventField] {
    switch kind {
    case .changed(let before, _, let openTime):
      [EventField("before", "\(before)".asLabel)] + (openTime.map { [EventField("open_for", $0)] } ?? [])
    case .refused(let refusal):
      refusal.retryAfter.map { [EventField("retry_after", $0)] } ?? []
    }
  }
}

extension CircuitBreakerMetrics {
  /// `state` in a word, `failures_in_a_row`, `refused`; `retry_after` if it is open.
  public var details: [EventField] {
    let fields = [
      EventField("state", "\(state)".asLabel), EventField("failures_in_a_row", failuresInARow),
      EventField("refused", refused),
    ]
    return fields + (retryAfter.map { [EventField("retry_after", $0)] } ?? [])
  }
}

extension RateLimiterEvent {
  /// `wait` and `queued`, or `retry_after`, or `share` and `pause`.
  public var details: [EventField] {
    switch self {
    case .admitted: []
    case .queued(let wait, let queued): [EventField("wait", wait), EventField("queued", queued)]
    case .admittedAfterWait(let queued), .abandoned(let queued): [EventField("queued", queued)]
    case .rejected(let retryAfter): [EventField("retry_after", retryAfter)]
    case .throttled(let share, let pause):
      [EventField("share", share)] + (pause.map { [EventField("pause", $0)] } ?? [])
    case .recovered(let share): [EventField("share", share)]
    }
  }
}

extension RateLimiter.Snapshot {
  /// `queued` and `share`.
  public var details: [EventField] { [EventField("queued", queued), EventField("share", share)] }
}

extension BulkheadEvent {
  /// `running`, `limit` and `queued`, as far as they are known.
  public var details: [EventField] {
    switch self {
    case .admitted(let running, let limit): [EventField("running", running), EventField("limit", limit)]
    case .queued(let count): [EventField("queued", count)]
    case .rejected(let queued, let limit): [EventField("limit", limit), EventField("queued", queued)]
    case .timedOut(let queued), .abandoned(let queued): [EventField("queued", queued)]
    case .released(let running): [EventField("running", running)]
    case .limitChanged(let limit): [EventField("limit", limit)]
    }
  }
}

extension Bulkhead.Snapshot {
  /// `running`, `limit` and `queued`.
  public var details: [EventField] {
    [EventField("running", running), EventField("limit", limit), EventField("queued", queued)]
  }
}

extension TokenRefreshEvent {
  /// `version` of the credential; `cause`, `waiters` and `retry_after`, as far as they are known.
  public var details: [EventField] {
    switch self {
    case .signedIn(let version), .notStored(let version, _): [EventField("version", version)]
    case .refreshBegins(let version, let cause): [EventField("version", version), EventField("cause", "\(cause)")]
    case .refreshed(let version, let waiters), .rejected(let version, _, let waiters):
      [EventField("version", version), EventField("waiters", waiters)]
    case .failed(let version, _, let cooldown, let waiters):
      [EventField("version", version), EventField("retry_after", cooldown), EventField("waiters", waiters)]
    case .tooManyRefreshes(let version, let retryAfter):
      [EventField("version", version), EventField("retry_after", retryAfter)]
    case .signedOut(let waiters): [EventField("waiters", waiters)]
    case .lateResultDropped: []
    }
  }
}

extension HedgeEvent {
  /// `elapsed`; `hedge`, `cancelled`, `retry_after` and `attempts`, as far as they are known.
  public var details: [EventField] {
    switch self {
    case .begins(let hedge, _, let elapsed): [EventField("hedge", hedge), EventField("elapsed", elapsed)]
    case .refused(.budgetExhausted, let elapsed): [EventField("elapsed", elapsed)]
    case .refused(.hint(let pause), let elapsed): [EventField("retry_after", pause), EventField("elapsed", elapsed)]
    case .failed(let hedge, _, let isFatal, let elapsed):
      [EventField("hedge", hedge), EventField("fatal", isFatal), EventField("elapsed", elapsed)]
    case .won(let hedge, let cancelled, let elapsed):
      [EventField("hedge", hedge), EventField("cancelled", cancelled.count), EventField("elapsed", elapsed)]
    case .exhausted(let attempts, let elapsed):
      [EventField("attempts", attempts), EventField("elapsed", elapsed)]
    }
  }
}

extension RetryBudget.Snapshot {
  /// `available`, `waiting`, `granted` and `denied`.
  public var details: [EventField] {
    [
      EventField("available", available), EventField("waiting", waiting), EventField("granted", granted),
      EventField("denied", denied),
    ]
  }
}
