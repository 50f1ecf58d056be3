/// One decision of one policy, with when and where it was taken.
public struct PolicyEvent: Sendable {
  /// How much a decision matters to whoever reads a log.
  public enum Severity: Int, Comparable, Hashable, Sendable {
    /// All is well.
    case info
    /// Something went wrong, and a policy does something about it.
    case warning
    /// Something went wrong for good, or a service is out.
    case error

    /// Whether one matters less than another.
    public static func < (left: Severity, right: Severity) -> Bool { left.rawValue < right.rawValue }
  }

  /// What was decided, by which kind of policy.
  ///
  /// Keys of caches and coalescers are told in words.
  public enum Decision: Sendable {
    /// A retry has.
    case retry(RetryEvent)
    /// A timeout has.
    case timeout(TimeoutEvent)
    /// A hedge has.
    case hedge(HedgeEvent)
    /// A fallback has.
    case fallback(FallbackEvent)
    /// A circuit breaker has.
    case circuitBreaker(CircuitBreakerEvent)
    /// A bulkhead has.
    case bulkhead(BulkheadEvent)
    /// A rate limiter has.
    case rateLimiter(RateLimiterEvent)
    /// A cache has.
    case cache(CacheEvent<String>)
    /// A coalescer has.
    case coalescing(CoalescingEvent<String>)
    /// A shared credential has.
    case tokenRefresh(TokenRefreshEvent)
    /// A chaos has.
    case chaos(ChaosEvent)
    /// A pipeline has refused a publisher.
    case misuse(UnrepeatableUpstream)
  }

  /// When it was told, on the time of the ``PolicyEvents``.
  public let time: Duration
  /// The name of the pipeline; of the shared object itself, if it has a name.
  public let source: String
  /// What was decided.
  public let decision: Decision
  /// How much it matters.
  public var severity: Severity
  /// What stands for the decision in a log; the decision's own words unless changed.
  public var text: String {
    // Only made when somebody reads it, which most of the time nobody does.
    get { otherText ?? decision.description }
    set { otherText = newValue }
  }
  private var otherText: String?

  /// Describes a decision.
  ///
  /// - Parameters:
  ///   - decision: What was decided.
  ///   - source: The name of the pipeline or the shared object.
  ///   - time: When it was told.
  ///   - severity: How much it matters; ``Decision/severity`` unless told otherwise.
  public init(_ decision: Decision, source: String, time: Duration, severity: Severity? = nil) {
    self.decision = decision
    self.source = source
    self.time = time
    self.severity = severity ?? decision.severity
  }
}

extension PolicyEvent: CustomStringConvertible {
  /// One line for a log: "weather: retry: attempt 1 failed (timedOut); retrying in 1.0 seconds (computed)".
  public var description: String { "\(source): \(text)" }
}

extension PolicyEvent.Decision: CustomStringConvertible {
  /// One line, with the kind of the policy.
  public var description: String {
    switch self {
    case .retry(let event): "retry: \(event)"
    case .timeout(let event): "timeout: \(event)"
    case .hedge(let event): "hedge: \(event)"
    case .fallback(let event): "fallback: \(event)"
    // Its name is that of the source.
    case .circuitBreaker(let event): "circuit breaker: \(event.description.dropFirst(event.name.count + 2))"
    case .bulkhead(let event): "bulkhead: \(event)"
    case .rateLimiter(let event): "rate limiter: \(event)"
    case .cache(let event): "cache: \(event)"
    case .coalescing(let event): "coalescing: \(event)"
    case .tokenRefresh(let event): "authentication: \(event)"
    case .chaos(let event): "\(event)"
    case .misuse(let event): "misuse: \(event)"
    }
  }
}
