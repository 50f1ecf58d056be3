/// When an ``AdaptiveThrottle`` refuses.
public struct AdaptiveThrottlePolicy: Hashable, Sendable {
  /// How many times as many calls as are accepted may be made.
  public let factor: Double
  /// How long calls count; it moves on a tenth at a time.
  public let window: Duration

  /// Twice as many calls as are accepted, over two minutes: the figures of the source.
  public static let standard = AdaptiveThrottlePolicy(inRange: 2, .seconds(120))

  /// Makes a policy, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - factor: How many times as many calls as are accepted may be made. The nearer to 1, the fewer calls are made in vain,
  ///     and the more are refused that would have been accepted.
  ///   - window: How long calls count.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  public init(factor: Double = 2, window: Duration = .seconds(120)) throws(InvalidPolicy) {
    let kind = PolicyKind.adaptiveThrottle
    try kind.require("factor", factor, "Give a finite number from 1; 2 lets twice as many through as are accepted.") {
      $0 >= 1 && $0.isFinite
    }
    try kind.require("window", window, "Give at least a millisecond.") { $0 >= .milliseconds(1) }
    self.init(inRange: factor, window.clampedToDelay)
  }

  private init(inRange factor: Double, _ window: Duration) {
    self.factor = factor
    self.window = window
  }
}

/// Counts calls over a window, in tenths of it.
///
/// It has no clock and no lock.
struct AdaptiveThrottleMachine: Sendable {
  private static let slotCount = 10

  private let factor: Double
  private let slotLength: Duration
  private var slots: [(requests: Int, accepts: Int)]
  private var current = 0
  /// When the slot at hand ends.
  private var slotEnd: Duration?
  private(set) var requests = 0
  private(set) var accepts = 0

  init(_ policy: AdaptiveThrottlePolicy) {
    factor = policy.factor
    slotLength = policy.window / Self.slotCount
    slots = Array(repeating: (0, 0), count: Self.slotCount)
  }

  var refusalProbability: Double {
    max(0, (Double(requests) - factor * Double(accepts)) / Double(requests + 1))
  }

  /// Counts a call, refused or not.
  ///
  /// - Returns: How likely it is to be refused.
  mutating func request(at now: Duration) -> Double {
    move(to: now)
    defer {
      requests += 1
      slots[current].requests += 1
    }
    return refusalProbability
  }

  mutating func accept(at now: Duration) {
    move(to: now)
    accepts += 1
    slots[current].accepts += 1
  }

  /// Lets what is too old count no more; a step back counts as no time at all.
  mutating func move(to now: Duration) {
    guard let end = slotEnd else {
      slotEnd = now + slotLength
      return
    }
    guard now >= end else { return }
    let passed = Int(min((now - end) / slotLength, Double(Self.slotCount)).rounded(.down)) + 1
    for _ in 0..<min(passed, Self.slotCount) {
      current = (current + 1) % Self.slotCount
      requests -= slots[current].requests
      accepts -= slots[current].accepts
      slots[current] = (0, 0)
    }
    slotEnd = passed > Self.slotCount ? now + slotLength : end + slotLength * passed
  }
}
