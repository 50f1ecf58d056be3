import Combine

extension PolicyEvents {
  /// Reports what is decided from now on, until the result is cancelled.
  ///
  /// - `rebound_decisions`, a counter with the labels `source`, `policy` and `decision`: "weather", "retry", "retrying".
  /// - `rebound_retry_delay_seconds`, a histogram with the labels `source` and `from` (what named the delay).
  /// - `rebound_retry_elapsed_seconds`, a histogram with the labels `source` and `reason`: how long executions took that
  ///   were given up.
  /// - `rebound_queue_wait_seconds`, a histogram with the label `source`: what a rate limiter lets calls wait.
  ///
  /// What an event is revised to by the stream does not matter here; one that is left out is not counted.
  ///
  /// - Parameter sink: Gets the measurements, on the threads of those who decide.
  public func report(to sink: some MetricsSink) -> AnyCancellable {
    sink.describe("rebound_decisions", as: "Decisions of policies.")
    sink.describe("rebound_retry_delay_seconds", as: "Pauses before retries.")
    sink.describe("rebound_retry_elapsed_seconds", as: "How long executions took that were given up.")
    sink.describe("rebound_queue_wait_seconds", as: "What rate limiters let calls wait.")
    return self.sink { event in event.report(to: sink) }
  }
}

extension PolicyEvent {
  fileprivate func report(to sink: some MetricsSink) {
    let source = Metric.Label("source", source)
    let (policy, word) = decision.words
    sink.add(1, to: Metric("rebound_decisions", source, .init("policy", policy), .init("decision", word)))
    switch decision {
    case .retry(let event):
      if let delay = event.delay, let origin = event.delaySource {
        sink.record(
          delay.inSeconds,
          in: Metric("rebound_retry_delay_seconds", source, .init("from", origin.description.asLabel))
        )
      }
      if case .stopped(let reason) = event.outcome {
        sink.record(
          event.elapsed.inSeconds,
          in: Metric("rebound_retry_elapsed_seconds", source, .init("reason", reason.description.asLabel))
        )
      }
    case .rateLimiter(.queued(let wait, _)):
      sink.record(wait.inSeconds, in: Metric("rebound_queue_wait_seconds", source))
    default:
      break
    }
  }
}

extension PolicyEvent.Decision {
  /// The kind of the policy and of the decision, for labels.
  fileprivate var words: (policy: String, decision: String) {
    switch self {
    case .retry(let event):
      switch event.outcome {
      case .retrying: ("retry", "retrying")
      case .stopped(let reason): ("retry", reason.description.asLabel)
      }
    case .timeout(.timedOut(let error)):
      ("timeout", "\(error.kind)".asLabel)
    case .hedge(let event): ("hedge", event.word)
    case .fallback(let event): ("fallback", event.word)
    case .circuitBreaker(let event): ("circuit_breaker", event.word)
    case .bulkhead(let event): ("bulkhead", event.word)
    case .rateLimiter(let event): ("rate_limiter", event.word)
    case .cache(let event): ("cache", event.word)
    case .coalescing(let event): ("coalescing", event.word)
    case .tokenRefresh(let event): ("authentication", event.word)
    case .chaos: ("chaos", "injected")
    case .misuse: ("pipeline", "misuse")
    }
  }
}

extension HedgeEvent {
  fileprivate var word: String {
    switch self {
    case .begins: "begins"
    case .refused(.budgetExhausted, _): "budget_exhausted"
    case .refused(.hint, _): "asked_to_wait"
    case .failed: "failed"
    case .won(hedge: 0, _, _): "first_won"
    case .won: "hedge_won"
    case .exhausted: "exhausted"
    }
  }
}

extension FallbackEvent {
  fileprivate var word: String {
    switch self {
    case .fallingBack: "falling_back"
    case .passingOn: "passing_on"
    case .failed: "failed"
    }
  }
}

extension CircuitBreakerEvent {
  fileprivate var word: String {
    switch kind {
    case .changed(_, let state, _): "\(state)".asLabel
    case .refused: "refused"
    }
  }
}

extension BulkheadEvent {
  fileprivate var word: String {
    switch self {
    case .admitted: "admitted"
    case .queued: "queued"
    case .rejected: "rejected"
    case .timedOut: "timed_out"
    case .abandoned: "abandoned"
    case .released: "released"
    case .limitChanged: "limit_changed"
    }
  }
}

extension RateLimiterEvent {
  fileprivate var word: String {
    switch self {
    case .admitted: "admitted"
    case .queued: "queued"
    case .admittedAfterWait: "admitted_after_wait"
    case .rejected: "rejected"
    case .abandoned: "abandoned"
    case .throttled: "throttled"
    case .recovered: "recovered"
    }
  }
}

extension CacheEvent {
  fileprivate var word: String {
    switch self {
    case .hit: "hit"
    case .revalidates: "revalidates"
    case .staleIfError: "stale_if_error"
    case .hitFailure: "hit_failure"
    case .missed: "missed"
    case .stored: "stored"
    case .tooCostly: "too_costly"
    case .storedFailure: "stored_failure"
    case .revalidationFailed: "revalidation_failed"
    case .evicted: "evicted"
    }
  }
}

extension CoalescingEvent {
  fileprivate var word: String {
    switch self {
    case .started: "started"
    case .joined: "joined"
    case .ended: "ended"
    }
  }
}

extension TokenRefreshEvent {
  fileprivate var word: String {
    switch self {
    case .signedIn: "signed_in"
    case .refreshBegins: "refresh_begins"
    case .refreshed: "refreshed"
    case .rejected: "rejected"
    case .failed: "failed"
    case .notStored: "not_stored"
    case .tooManyRefreshes: "too_many_refreshes"
    case .signedOut: "signed_out"
    case .lateResultDropped: "late_result_dropped"
    }
  }
}

extension String {
  /// As labels are written: "budget exhausted" and "budgetExhausted" become "budget_exhausted".
  fileprivate var asLabel: String {
    reduce(into: "") { label, character in
      if character.isUppercase, let last = label.last, last != "_" { label.append("_") }
      label += character == " " ? "_" : character.lowercased()
    }
  }
}
