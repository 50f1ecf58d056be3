/// How the number of calls that run at the same time follows from how a service answers.
///
///     let bulkhead = Bulkhead(
///       "search",
///       policy: try BulkheadPolicy(maxConcurrent: 10, maxQueue: 50),
///       adapting: try .gradient(),
///       overloadedWhen: { $0 is TimedOut || ($0 as? any RetryAfterProviding)?.retryAfter != nil }
///     )
public struct AdaptiveLimitPolicy: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case aimd(decrease: Double, slow: Duration?)
    case gradient(tolerance: Double, smoothing: Double, headroom: Int)
  }

  package let kind: Kind
  /// How few and how many calls may run.
  public let range: ClosedRange<Int>

  /// One more after each good call, a share fewer after each that overloads: as TCP does.
  ///
  /// The number grows only while at least half of it is in use, since otherwise nothing is learned about more.
  ///
  /// - Parameters:
  ///   - range: How few and how many calls may run.
  ///   - decrease: What the number is multiplied by after an overload.
  ///   - slow: From which duration on a call counts as an overload; `nil` goes by errors alone.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  ///
  /// Source: additive increase, multiplicative decrease: Chiu and Jain, 1989.
  public static func aimd(
    in range: ClosedRange<Int> = 1...200,
    decrease: Double = 0.9,
    slow: Duration? = nil
  ) throws(InvalidPolicy) -> AdaptiveLimitPolicy {
    let advice = "Give a number between 0 and 1; 0.9 takes a tenth away."
    try kind.require("decrease", decrease, advice) { $0 > 0 && $0 < 1 }
    try kind.require("slow", slow, "Give a positive duration, or nil.") { $0 > .zero }
    return AdaptiveLimitPolicy(kind: .aimd(decrease: decrease, slow: slow), range: try valid(range))
  }

  /// As many as keep the service as quick as it is without a queue of its own: as TCP Vegas does.
  ///
  /// The new number is `limit · gradient + headroom`, where the gradient is the long-term duration, times the tolerance,
  /// by that of the present call, in 0.5…1; an overload counts as 0.5. A share of the way is gone at each call.
  ///
  /// - Parameters:
  ///   - range: How few and how many calls may run.
  ///   - tolerance: How much longer than usual a call may take before the number goes down.
  ///   - smoothing: The share of the way to the new number that is gone at each call.
  ///   - headroom: How many more are tried while all is well.
  /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
  ///
  /// Source: the gradient of durations in Netflix's "Performance Under Load" (2018), a descendant of TCP Vegas
  /// (Brakmo and Peterson, 1995).
  public static func gradient(
    in range: ClosedRange<Int> = 1...200,
    tolerance: Double = 1.5,
    smoothing: Double = 0.2,
    headroom: Int = 4
  ) throws(InvalidPolicy) -> AdaptiveLimitPolicy {
    let advice = "Give a finite number from 1; 1.5 allows half as long again."
    try kind.require("tolerance", tolerance, advice) { $0 >= 1 && $0.isFinite }
    try kind.require("smoothing", smoothing, "Give a number above 0, at most 1.") { $0 > 0 && $0 <= 1 }
    try kind.require("headroom", headroom, "Give at least 1.") { $0 >= 1 }
    let gradient = Kind.gradient(tolerance: tolerance, smoothing: smoothing, headroom: headroom)
    return AdaptiveLimitPolicy(kind: gradient, range: try valid(range))
  }

  private static func valid(_ range: ClosedRange<Int>) throws(InvalidPolicy) -> ClosedRange<Int> {
    try kind.require("range", range, "Give a range that begins at 1 or above.") { $0.lowerBound >= 1 }
    // No service bears more, and a number this high is a whole one in floating point, too.
    return range.clamped(to: 1...1_000_000_000)
  }

  private static let kind = PolicyKind("adaptive limit")
}
