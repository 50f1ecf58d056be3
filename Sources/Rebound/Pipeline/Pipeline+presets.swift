extension Pipeline {
  /// For a server that calls other servers.
  ///
  /// | stage, outermost first | numbers |
  /// |---|---|
  /// | bulkhead | 1,000 calls at a time, no queue |
  /// | total timeout | 30 s |
  /// | retry | 3, exponential from 2 s, up to 20 s, full jitter; a fifth of the requests of the last 10 s, 3 at least |
  /// | circuit breaker | 10 % of at least 100 calls within 30 s; open for 5 s |
  /// | attempt timeout | 10 s |
  ///
  /// Source: the standard handler of .NET's `Microsoft.Extensions.Http.Resilience`; the budget is Finagle's.
  ///
  /// - Parameters:
  ///   - name: What it protects.
  ///   - repetition: Whether the calls may be made twice.
  ///   - events: Where its decisions are told.
  ///   - time: Measures time and waits; `nil` for ``TimeSource/current`` at each call.
  ///   - random: Where jitter gets its randomness.
  ///   - isTransient: Which errors are worth a retry, and speak against the service. Of calls that must not be made twice,
  ///     only those that prove that nothing was done. A limit of time that is reached always speaks against the service,
  ///     and is worth a retry where that is harmless.
  public static func http(
    _ name: String,
    repetition: CallRepetition = .harmless,
    events: PolicyEvents? = nil,
    time: TimeSource? = nil,
    random: RandomSource = .system,
    transient isTransient: @escaping @Sendable (any Error) -> Bool
  ) throws -> Pipeline {
    let figures = PresetFigures(
      bulkhead: try BulkheadPolicy(maxConcurrent: 1_000, maxQueue: 0),
      total: .seconds(30),
      retries: 3,
      backoff: .exponential(from: .seconds(2), upTo: .seconds(20)),
      budget: try .ratio(0.2),
      breaker: try CircuitBreakerPolicy(
        failureRatio: 0.1,
        minimumCalls: 100,
        window: .time(.seconds(30)),
        openTime: .seconds(5)
      ),
      attempt: .seconds(10)
    )
    return try preset(name, figures, repetition, events, time, random, isTransient)
  }

  /// For an app in front of a person, on a network that comes and goes.
  ///
  /// | stage, outermost first | numbers |
  /// |---|---|
  /// | total timeout | 20 s |
  /// | retry | 2, exponential from 0.5 s, up to 5 s, full jitter; a fifth of the requests of the last 10 s, 3 at least |
  /// | circuit breaker | 5 failures in a row; open for 15 s |
  /// | attempt timeout | 8 s |
  ///
  /// See ``http(_:repetition:events:time:random:transient:)`` for the parameters.
  public static func mobile(
    _ name: String,
    repetition: CallRepetition = .harmless,
    events: PolicyEvents? = nil,
    time: TimeSource? = nil,
    random: RandomSource = .system,
    transient isTransient: @escaping @Sendable (any Error) -> Bool
  ) throws -> Pipeline {
    let figures = PresetFigures(
      total: .seconds(20),
      retries: 2,
      backoff: .exponential(from: .milliseconds(500), upTo: .seconds(5)),
      budget: try .ratio(0.2),
      breaker: try CircuitBreakerPolicy(failureRatio: nil, consecutiveFailures: 5, openTime: .seconds(15)),
      attempt: .seconds(8)
    )
    return try preset(name, figures, repetition, events, time, random, isTransient)
  }

  /// For work that nobody waits for: uploads, synchronisation.
  ///
  /// | stage, outermost first | numbers |
  /// |---|---|
  /// | bulkhead | 2 calls at a time, 100 wait |
  /// | total timeout | 10 min |
  /// | retry | 5, exponential from 5 s, up to 2 min, full jitter; a tenth of the requests of the last 60 s, 3 at least |
  /// | circuit breaker | 5 failures in a row; open for 60 s |
  /// | attempt timeout | 60 s |
  ///
  /// See ``http(_:repetition:events:time:random:transient:)`` for the parameters.
  public static func background(
    _ name: String,
    repetition: CallRepetition = .harmless,
    events: PolicyEvents? = nil,
    time: TimeSource? = nil,
    random: RandomSource = .system,
    transient isTransient: @escaping @Sendable (any Error) -> Bool
  ) throws -> Pipeline {
    let figures = PresetFigures(
      bulkhead: try BulkheadPolicy(maxConcurrent: 2, maxQueue: 100),
      total: .seconds(600),
      retries: 5,
      backoff: .exponential(from: .seconds(5), upTo: .seconds(120)),
      budget: try .ratio(0.1, window: .seconds(60)),
      breaker: try CircuitBreakerPolicy(failureRatio: nil, consecutiveFailures: 5, openTime: .seconds(60)),
      attempt: .seconds(60)
    )
    return try preset(name, figures, repetition, events, time, random, isTransient)
  }

  private static func preset(
    _ name: String,
    _ figures: PresetFigures,
    _ repetition: CallRepetition,
    _ events: PolicyEvents?,
    _ time: TimeSource?,
    _ random: RandomSource,
    _ isTransient: @escaping @Sendable (any Error) -> Bool
  ) throws -> Pipeline {
    // The limits of time are the pipeline's own, so its caller need not think of their errors.
    let isSickness: @Sendable (any Error) -> Bool = { $0 is TimedOut || isTransient($0) }
    let breaker = CircuitBreaker(
      name,
      policy: figures.breaker,
      random: random,
      failingWhen: isSickness
    )
    let retry = try RetryPolicy<any Error>(maxRetries: figures.retries, backoff: figures.backoff, random: random)
    return try Pipeline(name, repetition: repetition, events: events, time: time) {
      if let bulkhead = figures.bulkhead { Bulkhead(name, policy: bulkhead) }
      Timeout(total: figures.total)
      Retry(retry, when: repetition == .harmless ? isSickness : isTransient, budget: figures.budget)
      breaker
      Timeout(attempt: figures.attempt)
    }
  }
}

/// What the presets differ in.
private struct PresetFigures {
  /// `nil` for none.
  var bulkhead: BulkheadPolicy?
  var total: Duration
  var retries: Int
  var backoff: Backoff
  var budget: RetryBudget
  var breaker: CircuitBreakerPolicy
  var attempt: Duration
}
