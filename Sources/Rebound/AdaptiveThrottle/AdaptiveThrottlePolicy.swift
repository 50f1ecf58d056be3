/// When an ``AdaptiveThrottle`` refuses.
public struct AdaptiveThrottlePolicy: Hashable, Sendable {
  /// How many times as many calls as are accepted may be made.
  public let factor: Double
  /// How long calls count; it moves on a tenth at a time.
  public let window: Duration

  /// Twice as many calls as are accepted, over two minutes: the figures of the source.
  public static let standard = valid { () throws(InvalidPolicy) in try AdaptiveThrottlePolicy() }

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
    self.factor = factor
    self.window = window.clampedToDelay
  }
}

/// Counts calls over a window, and says how likely the next one is to be refused.
///
/// It has no clock and no lock.
struct AdaptiveThrottleMachine: Sendable {
  private struct Calls: Summable {
    var requests = 0
    var accepts = 0

    mutating func add(_ other: Calls, times: Int) {
      requests += other.requests * times
      accepts += other.accepts * times
    }
  }

  private let factor: Double
  private var calls: RecentCounts<Calls>

  init(_ policy: AdaptiveThrottlePolicy) {
    factor = policy.factor
    calls = RecentCounts(window: policy.window)
  }

  var requests: Int { calls.total.requests }
  var accepts: Int { calls.total.accepts }

  /// Not so near to 1 that hardly any call finds out whether the service is well again.
  var refusalProbability: Double {
    min(max(0, (Double(requests) - factor * Double(accepts)) / Double(requests + 1)), 0.9)
  }

  mutating func refusalProbability(at now: Duration) -> Double {
    move(to: now)
    return refusalProbability
  }

  /// Counts a call that has ended, or was refused here: one under way says nothing yet.
  mutating func count(isAccepted: Bool, at now: Duration) {
    move(to: now)
    calls.add(Calls(requests: 1, accepts: isAccepted ? 1 : 0))
  }

  mutating func move(to now: Duration) { calls.move(to: now) }
}
