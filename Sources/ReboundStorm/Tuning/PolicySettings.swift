import Rebound

/// The numbers of a pipeline, as a search varies them and a prediction reads them.
///
/// Lengths of time are seconds.
public struct PolicySettings: Codable, Hashable, Sendable {
  /// How chance spreads the delays of retries.
  public enum Spread: String, Codable, Hashable, Sendable, CaseIterable {
    /// Not at all.
    case none
    /// Half of the delay for certain.
    case equal
    /// Anything up to the delay.
    case full
  }

  /// The numbers of a circuit breaker.
  public struct Breaker: Codable, Hashable, Sendable {
    /// From which share of failed calls on it opens.
    public var failureRatio = 0.5
    /// How many calls there must be before.
    public var minimumCalls = 10
    /// Over how many seconds they are counted.
    public var window = 10.0
    /// How long it stays open the first time.
    public var openTime = 5.0
    /// By what that grows each time.
    public var openGrowth = 1.5
    /// How long it stays open at most.
    public var maxOpenTime = 15.0
    /// How many calls find out whether the service is well again.
    public var probes = 3

    /// The breaker of the table.
    public init() {}
  }

  /// The numbers of an adaptive throttle.
  public struct Throttle: Codable, Hashable, Sendable {
    /// How many times as many calls as are accepted may be made.
    public var factor: Double
    /// Over how many seconds they are counted.
    public var window: Double

    /// Describes a throttle.
    ///
    /// - Parameters:
    ///   - factor: How many times as many calls as are accepted may be made.
    ///   - window: Over how many seconds they are counted.
    public init(factor: Double = 2, window: Double = 120) {
      self.factor = factor
      self.window = window
    }
  }

  /// The numbers of a metastability detector.
  public struct Detector: Codable, Hashable, Sendable {
    /// Whether it refuses retries while its alarm is on.
    public var refusesRetries: Bool

    /// Describes a detector.
    ///
    /// - Parameter refusesRetries: Whether it refuses retries while its alarm is on.
    public init(refusesRetries: Bool = true) {
      self.refusesRetries = refusesRetries
    }
  }

  /// How many attempts may follow the first.
  public var maxRetries: Int
  /// How long the first retry waits; 0 for all at once.
  public var firstDelay: Double
  /// By what the delays grow.
  public var multiplier: Double
  /// How long a retry waits at most.
  public var longestDelay: Double
  /// How chance spreads the delays.
  public var spread: Spread
  /// How long all attempts and waits may take, `nil` for any time.
  ///
  /// With one, an open breaker is waited for.
  public var deadline: Double?
  /// How many retries there may be for each request of a process, over two seconds; `nil` for any number.
  public var budgetRatio: Double?
  /// When a process stops calling; `nil` for never.
  public var breaker: Breaker?
  /// When a process calls less; `nil` for never.
  public var throttle: Throttle?
  /// What watches for a loop that feeds itself; `nil` for nobody.
  public var detector: Detector?
  /// How many attempts a second a process begins; `nil` for any number.
  ///
  /// Others wait for their turn, in the order in which they came, for two minutes at most.
  public var rateLimit: Int?
  /// How long an attempt may take; `nil` for any time.
  public var attemptTimeout: Double?
  /// After how long a second request is made beside one that has no answer yet; `nil` for never.
  ///
  /// One that fails has its second at once, however long this is. The budget is for it, too.
  public var hedgeDelay: Double?

  /// Describes a retry.
  ///
  /// - Parameters:
  ///   - maxRetries: How many attempts may follow the first.
  ///   - firstDelay: How long the first retry waits; 0 for all at once.
  ///   - multiplier: By what the delays grow; 1 for not at all.
  ///   - longestDelay: How long a retry waits at most.
  ///   - spread: How chance spreads the delays.
  ///   - budgetRatio: How many retries there may be for each request of a process.
  public init(
    maxRetries: Int = 0,
    firstDelay: Double = 0,
    multiplier: Double = 1,
    longestDelay: Double = 20,
    spread: Spread = .none,
    budgetRatio: Double? = nil
  ) {
    self.maxRetries = maxRetries
    self.firstDelay = firstDelay
    self.multiplier = multiplier
    self.longestDelay = longestDelay
    self.spread = spread
    self.budgetRatio = budgetRatio
  }

  /// The pipeline with these numbers, for the clients of a process.
  ///
  /// - Parameters:
  ///   - name: What it protects.
  ///   - process: Where its chance comes from.
  /// - Throws: What a policy is refused with, if a number in it makes no sense.
  public func pipeline(_ name: String, in process: ClientProcess) throws -> Pipeline<Void> {
    let random = process.random
    let budget = try budgetRatio.map { try RetryBudget.ratio($0, window: .seconds(2), floor: 1) }
    let retry = try RetryPolicy<any Error>(
      maxRetries: maxRetries,
      backoff: backoff,
      deadline: deadline.map(Duration.length),
      random: random
    )
    let breaker = try breaker.map { CircuitBreaker(name, policy: try $0.policy, random: random) }
    let throttle = try throttle.map { AdaptiveThrottle(name, policy: try $0.policy, random: random) }
    let limiter = try rateLimit.map { rate in
      let bucket = try RateLimiterPolicy.tokenBucket(rate, per: .seconds(1), burst: Self.burst(of: rate))
      return RateLimiter(name, policy: try bucket.waiting(atMost: Self.longestTurn, maxQueue: Self.mostTurns))
    }
    let detector = try detector.map { MetastabilityDetector(name, policy: try $0.policy) }
    let hedge = try hedgeDelay.map { try HedgePolicy<any Error>(delay: .after(.length($0))) }
    let timeout = try attemptTimeout.map { Timeout(try TimeoutPolicy(attempt: .length($0))) }
    return try Pipeline(name) {
      if let detector { detector.requests }
      Retry(retry, budget: budget)
      if let detector { detector }
      if let hedge { Hedge(hedge, budget: budget) }
      if let limiter { limiter }
      if let breaker { breaker }
      if let throttle { throttle }
      if let timeout { timeout }
    }
  }

  private static let longestTurn = Duration.seconds(120)
  private static let mostTurns = 1_000_000

  /// A tenth of a second's: so few that a second gets no more than the rate, and a tenth.
  private static func burst(of rate: Int) -> Int { max(rate / 10, 1) }

  var backoff: Backoff {
    guard firstDelay > 0 else { return .immediate }
    let plain: Backoff =
      multiplier > 1
      ? .exponential(
        from: .length(firstDelay),
        multiplier: multiplier,
        upTo: .length(max(longestDelay, firstDelay)),
        jitter: .none
      )
      : .constant(.length(firstDelay))
    switch spread {
    case .none: return plain
    case .equal: return plain.jittered(.equal)
    case .full: return plain.jittered(.full)
    }
  }

  /// The pipeline with these numbers as Swift, to be copied into a program.
  ///
  /// What is shared stands in a constant of its own, to be made once.
  public var swiftSource: String {
    var shared: [String] = []
    var retry = ["maxRetries: \(maxRetries)", "backoff: \(backoffSource)"]
    if let deadline { retry.append("deadline: .seconds(\(deadline.asLength))") }
    var stages = ["Retry(try RetryPolicy(\(retry.joined(separator: ", "))))"]
    if let budgetRatio {
      shared.append("let budget = try RetryBudget.ratio(\(budgetRatio), window: .seconds(2), floor: 1)")
      stages = ["Retry(try RetryPolicy(\(retry.joined(separator: ", "))), budget: budget)"]
    }
    if let detector {
      shared.append(
        """
        let detector = MetastabilityDetector(
          "service",
          policy: try MetastabilityPolicy(refusesRetries: \(detector.refusesRetries))
        )
        """
      )
      stages = ["detector.requests"] + stages + ["detector"]
    }
    if let hedgeDelay {
      let hedge = "try HedgePolicy(delay: .after(.seconds(\(hedgeDelay.asLength))))"
      stages.append("Hedge(\(hedge)\(budgetRatio == nil ? "" : ", budget: budget"))")
    }
    if let rateLimit {
      shared.append(
        """
        let limiter = RateLimiter(
          "service",
          policy: try .tokenBucket(\(rateLimit), per: .seconds(1), burst: \(Self.burst(of: rateLimit)))
            .waiting(atMost: .seconds(\(Self.longestTurn.components.seconds)), maxQueue: \(Self.mostTurns))
        )
        """
      )
      stages.append("limiter")
    }
    if let breaker {
      shared.append(
        """
        let breaker = CircuitBreaker(
          "service",
          policy: try CircuitBreakerPolicy(
            failureRatio: \(breaker.failureRatio),
            minimumCalls: \(breaker.minimumCalls),
            window: .time(.seconds(\(breaker.window.asLength))),
            openTime: .seconds(\(breaker.openTime.asLength)),
            openGrowth: \(breaker.openGrowth),
            maxOpenTime: .seconds(\(breaker.longestOpenTime.asLength)),
            probes: \(breaker.probes)
          )
        )
        """
      )
      stages.append("breaker")
    }
    if let throttle {
      shared.append(
        """
        let throttle = AdaptiveThrottle(
          "service",
          policy: try AdaptiveThrottlePolicy(factor: \(throttle.factor), window: .seconds(\(throttle.window.asLength)))
        )
        """
      )
      stages.append("throttle")
    }
    if let attemptTimeout { stages.append("Timeout(attempt: .seconds(\(attemptTimeout.asLength)))") }
    let pipeline = """
      let pipeline = try Pipeline<Answer>("service") {
      \(stages.map { "  \($0)" }.joined(separator: "\n"))
      }
      """
    return (shared + [pipeline]).joined(separator: "\n")
  }

  private var backoffSource: String {
    guard firstDelay > 0 else { return ".immediate" }
    let jitter = spread == .none ? "" : ".jittered(.\(spread.rawValue))"
    guard multiplier > 1 else { return ".constant(.seconds(\(firstDelay.asLength)))\(jitter)" }
    return ".exponential(from: .seconds(\(firstDelay.asLength)), multiplier: \(multiplier), "
      + "upTo: .seconds(\(max(longestDelay, firstDelay).asLength)), jitter: .\(spread.rawValue))"
  }
}

extension Double {
  /// So many seconds as policies take them: what is beyond all durations is as long as can be, and what is no number is less than
  /// none, which policies refuse.
  fileprivate var asLength: Double {
    guard !isNaN else { return -1 }
    let most = Duration.longestDelay.inSeconds
    return Swift.min(Swift.max(self, -most), most)
  }
}

extension Duration {
  fileprivate static func length(_ seconds: Double) -> Duration { .seconds(seconds.asLength) }
}

extension PolicySettings.Breaker {
  /// No shorter than the first time, which policies refuse.
  fileprivate var longestOpenTime: Double { max(maxOpenTime, openTime) }

  fileprivate var policy: CircuitBreakerPolicy {
    get throws {
      try CircuitBreakerPolicy(
        failureRatio: failureRatio,
        minimumCalls: minimumCalls,
        window: .time(.length(window)),
        openTime: .length(openTime),
        openGrowth: openGrowth,
        maxOpenTime: .length(longestOpenTime),
        probes: probes
      )
    }
  }
}

extension PolicySettings.Detector {
  fileprivate var policy: MetastabilityPolicy {
    get throws { try MetastabilityPolicy(refusesRetries: refusesRetries) }
  }
}

extension PolicySettings.Throttle {
  fileprivate var policy: AdaptiveThrottlePolicy {
    get throws { try AdaptiveThrottlePolicy(factor: factor, window: .length(window)) }
  }
}

extension PolicySettings {
  /// Plays a scenario with the pipeline of these numbers.
  ///
  /// - Parameters:
  ///   - scenario: What happens.
  ///   - name: What reports call it.
  /// - Throws: What a policy is refused with, or ``InvalidScenario``.
  public func play(_ scenario: Scenario, name: String = "service") throws -> Storm {
    try Storm.play(scenario, name: name) { try pipeline("service", in: $0) }
  }
}

/// A policy with a name, as a row of a table.
public struct NamedPolicy: Hashable, Sendable {
  /// What the table calls it.
  public let name: String
  /// Its numbers.
  public let settings: PolicySettings

  /// Names a policy.
  ///
  /// - Parameters:
  ///   - name: What the table calls it.
  ///   - settings: Its numbers.
  public init(_ name: String, _ settings: PolicySettings) {
    self.name = name
    self.settings = settings
  }

  /// From no retry at all to a breaker with a timeout, each a step further than the one before; then an adaptive throttle, and a
  /// detector of metastability.
  public static var ladder: [NamedPolicy] {
    let plain = PolicySettings(maxRetries: 10, firstDelay: 0.5, multiplier: 2, longestDelay: 20)
    var spread = plain
    spread.spread = .full
    var bounded = spread
    bounded.budgetRatio = 0.1
    var broken = bounded
    broken.breaker = PolicySettings.Breaker()
    var timed = broken
    timed.attemptTimeout = 1
    var throttled = spread
    // So short that a service which was out is soon found well: what is refused here counts, too.
    throttled.throttle = PolicySettings.Throttle(factor: 2, window: 2)
    var detected = PolicySettings(maxRetries: 10, firstDelay: 1)
    detected.detector = PolicySettings.Detector()
    return [
      NamedPolicy("no retry", PolicySettings()),
      NamedPolicy("10 retries, at once", PolicySettings(maxRetries: 10)),
      NamedPolicy("10 retries, after 1 s", PolicySettings(maxRetries: 10, firstDelay: 1)),
      NamedPolicy("exponential, 0.5 s to 20 s", plain),
      NamedPolicy("… with full jitter", spread),
      NamedPolicy("… and a budget of 10 %", bounded),
      NamedPolicy("… and a circuit breaker", broken),
      NamedPolicy("… and 1 s for each attempt", timed),
      NamedPolicy("full jitter, adaptive throttle", throttled),
      NamedPolicy("10 retries, after 1 s, detector", detected),
    ]
  }
}
