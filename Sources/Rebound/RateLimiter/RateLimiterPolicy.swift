/// How many calls may begin in a time.
public struct RateLimiterPolicy: Hashable, Sendable {
  package enum Meter: Hashable, Sendable {
    case bucket(capacity: Int)
    case fixedWindow
    case slidingWindow
  }

  package let meter: Meter
  /// How many calls may begin within ``period``.
  public let permits: Int
  /// The time that ``permits`` are for.
  public let period: Duration
  /// How long a call waits at most; zero refuses at once.
  public private(set) var maxWait: Duration = .zero
  /// How many calls wait at most.
  public private(set) var maxQueue = 1_000
  /// How the rate goes down and up again after the service has said that there were too many calls.
  public private(set) var feedback = Feedback.standard

  /// How the rate goes down after the service has refused a call for its rate, and up again after calls that succeed.
  ///
  /// After a refusal the rate is multiplied by ``decrease``. From there it follows a cubic curve that is flat where the
  /// rate was when the refusal came, so that it comes near to it fast, stays there for a while, and goes beyond it later.
  ///
  /// Source: CUBIC (RFC 9438), as the adaptive retry mode of the AWS SDKs uses it, with 0.7 and 0.4.
  public struct Feedback: Hashable, Sendable {
    /// What the rate is multiplied by; 1 leaves it.
    public let decrease: Double
    /// How steep the curve is.
    public let scale: Double
    /// The share of the full rate under which it does not go.
    public let floor: Double
    /// The longest pause that the service may ask for; a longer one counts as this.
    public let maxHint: Duration

    /// Describes how the rate goes down and up, and refuses numbers that make no sense.
    ///
    /// - Parameters:
    ///   - decrease: What the rate is multiplied by, in `0.01...1`.
    ///   - scale: How steep the curve is, in permits per second, by the third power of seconds.
    ///   - floor: The share of the full rate under which it does not go, in `0.001...1`.
    ///   - maxHint: The longest pause that the service may ask for; zero takes no notice of hints.
    /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
    public init(
      decrease: Double = 0.7,
      scale: Double = 0.4,
      floor: Double = 0.01,
      maxHint: Duration = .seconds(3_600)
    ) throws(InvalidPolicy) {
      let kind = PolicyKind.rateLimiter
      try kind.require("decrease", decrease, "Give a number from 0.01 to 1; 1 leaves the rate.") {
        (0.01...1).contains($0)
      }
      try kind.require("scale", scale, "Give a number from 0 to 1,000,000,000.") { (0...1e9).contains($0) }
      try kind.require("floor", floor, "Give a number from 0.001 to 1; 0.01 is a hundredth of the rate.") {
        (0.001...1).contains($0)
      }
      try kind.require("maxHint", maxHint, "Give zero to take no notice of hints, or a positive duration.") {
        $0 >= .zero
      }
      self.init(clamping: decrease, scale: scale, floor: floor, maxHint: maxHint)
    }

    /// Describes how the rate goes down and up, and brings numbers that make no sense into range.
    ///
    /// - Parameters:
    ///   - decrease: What the rate is multiplied by, in `0.01...1`.
    ///   - scale: How steep the curve is, in permits per second, by the third power of seconds.
    ///   - floor: The share of the full rate under which it does not go, in `0.001...1`.
    ///   - maxHint: The longest pause that the service may ask for; zero takes no notice of hints.
    public init(
      clamping decrease: Double,
      scale: Double = 0.4,
      floor: Double = 0.01,
      maxHint: Duration = .seconds(3_600)
    ) {
      self.decrease = decrease >= 0.01 ? min(decrease, 1) : 0.01
      self.scale = scale > 0 ? min(scale, 1e9) : 0
      self.floor = floor >= 0.001 ? min(floor, 1) : 0.001
      self.maxHint = maxHint.clampedToDelay
    }

    /// The pause that is kept when the service asks for this one; `nil` for none.
    package func bounded(_ pause: Duration?) -> Duration? {
      guard let pause = pause.map({ min($0, maxHint) }), pause > .zero else { return nil }
      return pause
    }

    /// 0.7 down, 0.4 up, not under a hundredth.
    public static let standard = valid { () throws(InvalidPolicy) in try Feedback() }
    /// Leaves the rate; pauses that the service asks for are kept all the same.
    public static let pausesOnly = Feedback(clamping: 1)
  }

  /// Up to here, no sum of times is longer than a `Duration` holds.
  private static let counts = 1...1_000_000

  private init(_ meter: Meter, _ permits: Int, per period: Duration) throws(InvalidPolicy) {
    let limiter = PolicyKind.rateLimiter
    try limiter.require("permits", permits, "Give 1 … 1,000,000.", Self.counts.contains)
    try limiter.require("period", period, "Give 1 µs … 1,000,000,000 s.") {
      (.microseconds(1) ... .longestDelay).contains($0)
    }
    self.meter = meter
    self.permits = permits
    self.period = period
  }

  /// A bucket of tokens: one for each call, and refilled evenly; a full one lets a burst through.
  ///
  /// - Parameters:
  ///   - permits: How many tokens come back within the period.
  ///   - period: The time for that.
  ///   - burst: How many tokens the bucket holds; as many as come back within a period unless told otherwise.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public static func tokenBucket(
    _ permits: Int,
    per period: Duration,
    burst: Int? = nil
  ) throws(InvalidPolicy) -> RateLimiterPolicy {
    try PolicyKind.rateLimiter.require("burst", burst, "Give 1 … 1,000,000.", counts.contains)
    return try RateLimiterPolicy(.bucket(capacity: burst ?? permits), permits, per: period)
  }

  /// So many calls in each period, one period after the other, from the limiter's first moment on.
  ///
  /// Around the border of two periods twice as many may begin in a short time.
  ///
  /// - Parameters:
  ///   - permits: How many calls.
  ///   - period: How long a period is.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public static func fixedWindow(
    _ permits: Int,
    per period: Duration
  ) throws(InvalidPolicy) -> RateLimiterPolicy {
    try RateLimiterPolicy(.fixedWindow, permits, per: period)
  }

  /// So many calls in any period, wherever it begins.
  ///
  /// - Parameters:
  ///   - permits: How many calls; as many moments are remembered.
  ///   - period: How long a period is.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public static func slidingWindow(
    _ permits: Int,
    per period: Duration
  ) throws(InvalidPolicy) -> RateLimiterPolicy {
    try RateLimiterPolicy(.slidingWindow, permits, per: period)
  }

  /// The same policy, with calls that wait for their turn.
  ///
  /// - Parameters:
  ///   - maxWait: How long a call waits at most; one whose turn would come later is refused at once.
  ///   - maxQueue: How many wait at most.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public func waiting(
    atMost maxWait: Duration,
    maxQueue: Int = 1_000
  ) throws(InvalidPolicy) -> RateLimiterPolicy {
    let advice = "Give zero to refuse at once, or more."
    try PolicyKind.rateLimiter.require("maxWait", maxWait, advice) { $0 >= .zero }
    try PolicyKind.rateLimiter.require("maxQueue", maxQueue, advice) { $0 >= 0 }
    return changed(self) {
      $0.maxWait = maxWait.clampedToDelay
      $0.maxQueue = maxQueue
    }
  }

  /// The same policy, with another answer to a service that says that there were too many calls.
  public func answering(_ feedback: Feedback) -> RateLimiterPolicy {
    changed(self) { $0.feedback = feedback }
  }
}
