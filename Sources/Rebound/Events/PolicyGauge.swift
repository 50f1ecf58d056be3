/// What a shared object holds at one moment.
public struct PolicyGauge: Hashable, Sendable {
  /// What was read, by the kind of the object.
  public enum Reading: Hashable, Sendable {
    /// Of a ``CircuitBreaker``.
    case circuitBreaker(CircuitBreakerMetrics)
    /// Of a ``RetryBudget``.
    case budget(RetryBudget.Snapshot)
    /// Of a ``Bulkhead``.
    case bulkhead(Bulkhead.Snapshot)
    /// Of a ``RateLimiter``: how many wait, and the share of the full rate that holds.
    case rateLimiter(queued: Int, share: Double)
  }

  /// The name of the object; that of the first pipeline that holds it, if it has none itself.
  public let name: String
  /// What was read.
  public let reading: Reading

  /// Describes what was read.
  ///
  /// - Parameters:
  ///   - name: The name of the object.
  ///   - reading: What was read.
  public init(name: String, reading: Reading) {
    self.name = name
    self.reading = reading
  }
}

extension PolicyGauge: CustomStringConvertible {
  /// One line for a log: "weather: bulkhead: 3 of 10 run, 0 wait".
  public var description: String {
    switch reading {
    case .circuitBreaker(let metrics):
      "\(name): circuit breaker: \(metrics.state), \(metrics.failures) of \(metrics.calls) calls failed"
    case .budget(let budget):
      "\(name): budget: \(budget.available) left, \(budget.granted) granted, \(budget.denied) denied"
    case .bulkhead(let bulkhead):
      "\(name): bulkhead: \(bulkhead.running) of \(bulkhead.limit) run, \(bulkhead.queued) wait"
    case .rateLimiter(let queued, let share):
      "\(name): rate limiter: \(queued) wait, \(share) of the full rate"
    }
  }
}
