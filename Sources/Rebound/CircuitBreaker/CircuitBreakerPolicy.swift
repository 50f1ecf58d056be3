/// When a circuit breaker opens, for how long, and what lets it close again.
///
///     try .consecutive(5, openFor: .seconds(30))
///     try .ratio(0.5, minimumCalls: 20, window: .time(.seconds(60)), openFor: .seconds(30))
///     try CircuitBreakerPolicy(failureRatio: 0.5, consecutiveFailures: 5, openJitter: 0.1)
///
/// There are three rules: a share of failed calls, failures in a row, a share of slow calls. Those that are named count, and
/// no others; where none is named, half of the calls is the rule.
public struct CircuitBreakerPolicy: Hashable, Sendable {
  /// Which calls are looked at.
  public enum Window: Hashable, Sendable {
    /// The last calls, as many as this.
    case calls(Int)
    /// The calls that ended within this time; it moves on a tenth at a time.
    case time(Duration)
  }

  /// When calls are too slow, even if they succeed.
  public struct Slowness: Hashable, Sendable {
    /// From which duration on a call is slow.
    public let duration: Duration
    /// From which share of slow calls on the breaker opens, in `0...1`, not zero.
    public let ratio: Double

    /// Describes when calls are too slow.
    public init(duration: Duration, ratio: Double) {
      self.duration = duration
      self.ratio = ratio
    }
  }

  /// From which share of failed calls on the breaker opens; `nil` does not look at it.
  public let failureRatio: Double?
  /// After how many failures without a success between them the breaker opens, however few calls there were.
  public let consecutiveFailures: Int?
  /// When calls are too slow; `nil` does not look at it.
  public let slowness: Slowness?
  /// How many calls there must be before a share counts.
  public let minimumCalls: Int
  /// Which calls are looked at.
  public let window: Window
  /// How long the breaker stays open the first time, and the lease of a probe.
  public let openTime: Duration
  /// What the open time is multiplied by each time the breaker opens again without having closed.
  public let openGrowth: Double
  /// How far chance moves the open time, up or down, as a share of it; so that clients that were refused together do not
  /// come back together.
  public let openJitter: Double
  /// The longest open time, jitter included; a hint of the service may be longer.
  public let maxOpenTime: Duration
  /// The longest open time that the service may ask for; a longer hint counts as this.
  public let maxHint: Duration
  /// How many calls are let through to find out whether the service is well again.
  public let probes: Int
  /// From which share of failed probes on the breaker opens again.
  public let probeFailureRatio: Double

  /// Makes a policy, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - failureRatio: From which share of failed calls on the breaker opens; where no rule at all is named, a half.
  ///   - consecutiveFailures: After how many failures in a row the breaker opens.
  ///   - slowness: When calls are too slow.
  ///   - minimumCalls: How many calls there must be before a share counts.
  ///   - window: Which calls a share is of.
  ///   - openTime: How long the breaker stays open the first time.
  ///   - openGrowth: What the open time is multiplied by each time the breaker opens again without having closed.
  ///   - openJitter: How far chance moves the open time, as a share of it.
  ///   - maxOpenTime: The longest open time.
  ///   - maxHint: The longest open time that the service may ask for; zero takes no notice of hints.
  ///   - probes: How many calls are let through to find out whether the service is well again.
  ///   - probeFailureRatio: From which share of failed probes on the breaker opens again.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public init(
    failureRatio: Double? = nil,
    consecutiveFailures: Int? = nil,
    slowness: Slowness? = nil,
    minimumCalls: Int = 10,
    window: Window = .time(.seconds(30)),
    openTime: Duration = .seconds(30),
    openGrowth: Double = 2,
    openJitter: Double = 0,
    maxOpenTime: Duration = .seconds(300),
    maxHint: Duration = .seconds(3_600),
    probes: Int = 1,
    probeFailureRatio: Double = 0.5
  ) throws(InvalidPolicy) {
    let kind = PolicyKind.circuitBreaker
    let ratios: KeyValuePairs<String, Double?> = [
      "failureRatio": failureRatio, "slowness.ratio": slowness?.ratio, "probeFailureRatio": probeFailureRatio,
    ]
    for (name, ratio) in ratios {
      try kind.require(name, ratio, "Give a number above 0, at most 1; 0.5 is half of the calls.") { $0 > 0 && $0 <= 1 }
    }
    let counts: KeyValuePairs<String, Int?> = [
      "consecutiveFailures": consecutiveFailures, "minimumCalls": minimumCalls, "probes": probes,
    ]
    for (name, count) in counts { try kind.require(name, count, "Give at least 1.") { $0 >= 1 } }
    var durations = [("slowness.duration", slowness?.duration), ("openTime", openTime)]
    switch window {
    case .calls(let count):
      let advice = "Give at least minimumCalls, which is \(minimumCalls)."
      try kind.require("window", "\(count) calls", advice) { _ in count >= minimumCalls }
    case .time(let time): durations.append(("window", time))
    }
    for (name, duration) in durations { try kind.require(name, duration, "Give a positive duration.") { $0 > .zero } }
    try kind.require("openGrowth", openGrowth, "Give a finite number from 1; 1 keeps the open time.") {
      $0 >= 1 && $0.isFinite
    }
    try kind.require("openJitter", openJitter, "Give a number from 0 to 1; 0.1 is a tenth up or down.") {
      (0...1).contains($0)
    }
    try kind.require("maxOpenTime", maxOpenTime, "Give at least openTime, which is \(openTime).") { $0 >= openTime }
    try kind.require("maxHint", maxHint, "Give zero to take no notice of hints, or a positive duration.") {
      $0 >= .zero
    }
    let hasRule = failureRatio != nil || consecutiveFailures != nil || slowness != nil
    self.failureRatio = hasRule ? failureRatio : 0.5
    self.consecutiveFailures = consecutiveFailures
    self.slowness = slowness
    self.minimumCalls = minimumCalls
    self.window = window
    self.openTime = openTime.clampedToDelay
    self.openGrowth = openGrowth
    self.openJitter = openJitter
    self.maxOpenTime = maxOpenTime.clampedToDelay
    self.maxHint = maxHint.clampedToDelay
    self.probes = probes
    self.probeFailureRatio = probeFailureRatio
  }
}

extension CircuitBreakerPolicy {
  /// Whether it matters when a call has succeeded, and how long it took.
  var countsCalls: Bool { failureRatio != nil || slowness != nil }
}

extension CircuitBreakerPolicy {
  /// Opens after failures without a success between them, and for nothing else.
  ///
  /// - Parameters:
  ///   - failures: After how many.
  ///   - openTime: How long it stays open, each time; longer only if the service asks for it.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public static func consecutive(
    _ failures: Int,
    openFor openTime: Duration = .seconds(30)
  ) throws(InvalidPolicy) -> CircuitBreakerPolicy {
    try CircuitBreakerPolicy(
      consecutiveFailures: failures,
      openTime: openTime,
      openGrowth: 1,
      maxOpenTime: openTime
    )
  }

  /// Opens when a share of the calls have failed, and for nothing else.
  ///
  /// - Parameters:
  ///   - failures: From which share of failed calls on, in `0...1`, not zero.
  ///   - minimumCalls: How many calls there must be before the share counts.
  ///   - window: Which calls the share is of.
  ///   - openTime: How long it stays open, each time; longer only if the service asks for it.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public static func ratio(
    _ failures: Double,
    minimumCalls: Int = 10,
    window: Window = .time(.seconds(30)),
    openFor openTime: Duration = .seconds(30)
  ) throws(InvalidPolicy) -> CircuitBreakerPolicy {
    try CircuitBreakerPolicy(
      failureRatio: failures,
      minimumCalls: minimumCalls,
      window: window,
      openTime: openTime,
      openGrowth: 1,
      maxOpenTime: openTime
    )
  }
}
