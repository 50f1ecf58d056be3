extension PolicyEvent.Decision {
  /// How much a decision matters, unless somebody says otherwise.
  ///
  /// An attempt that is followed by another is a warning, the last one an error; so are a breaker that opens and a limit
  /// for the whole that is reached.
  public var severity: PolicyEvent.Severity {
    switch self {
    case .retry(let event): event.outcome == .retrying ? .warning : .error
    case .timeout(.timedOut(let error)): error.kind == .total ? .error : .warning
    case .hedge(let event): event.severity
    case .fallback(let event): event.severity
    case .circuitBreaker(let event): event.severity
    case .bulkhead(let event): event.severity
    case .rateLimiter(let event): event.severity
    case .cache(let event): event.severity
    case .coalescing: .info
    case .tokenRefresh(let event): event.severity
    case .chaos: .warning
    case .misuse: .error
    }
  }
}

extension HedgeEvent {
  fileprivate var severity: PolicyEvent.Severity {
    switch self {
    case .begins, .won: .info
    case .failed(_, _, let isFatal, _): isFatal ? .error : .warning
    case .refused: .warning
    case .exhausted: .error
    }
  }
}

extension FallbackEvent {
  fileprivate var severity: PolicyEvent.Severity {
    switch self {
    case .fallingBack: .warning
    case .passingOn, .failed: .error
    }
  }
}

extension CircuitBreakerEvent {
  fileprivate var severity: PolicyEvent.Severity {
    switch kind {
    case .changed(_, .open, _): .error
    case .changed(_, .closed, _): .info
    case .changed, .refused: .warning
    }
  }
}

extension BulkheadEvent {
  fileprivate var severity: PolicyEvent.Severity {
    switch self {
    case .rejected, .timedOut: .warning
    case .admitted, .queued, .abandoned, .released, .limitChanged: .info
    }
  }
}

extension RateLimiterEvent {
  fileprivate var severity: PolicyEvent.Severity {
    switch self {
    case .rejected, .throttled: .warning
    case .admitted, .queued, .admittedAfterWait, .abandoned, .recovered: .info
    }
  }
}

extension CacheEvent {
  fileprivate var severity: PolicyEvent.Severity {
    switch self {
    case .staleIfError, .hitFailure, .storedFailure, .revalidationFailed, .tooCostly: .warning
    case .hit, .revalidates, .missed, .stored, .evicted: .info
    }
  }
}

extension TokenRefreshEvent {
  fileprivate var severity: PolicyEvent.Severity {
    switch self {
    case .rejected: .error
    case .failed, .notStored, .tooManyRefreshes: .warning
    case .signedIn, .refreshBegins, .refreshed, .signedOut, .lateResultDropped: .info
    }
  }
}
