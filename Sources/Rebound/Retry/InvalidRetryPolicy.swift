/// A retry policy that makes no sense, refused when it is made.
public enum InvalidRetryPolicy: Error, Hashable, Sendable {
  /// The number of retries is below zero.
  case negativeRetries(Int)
  /// A delay is below zero.
  case negativeDelay(Duration)
  /// A delay that is to grow starts at zero or below.
  case baseNotPositive(Duration)
  /// The factor by which delays grow is under 1, or not a finite number.
  case multiplierOutOfRange(Double)
  /// The longest delay is zero or below.
  case capNotPositive(Duration)
  /// The longest delay is shorter than the first.
  case capBelowBase(cap: Duration, base: Duration)
  /// The ratio of a jitter is not in `0...1`.
  case jitterRatioOutOfRange(Double)
  /// The longest hint to wait for is below zero.
  case negativeMaxHint(Duration)
  /// The time for all attempts together is zero or below.
  case deadlineNotPositive(Duration)
}

extension InvalidRetryPolicy: CustomStringConvertible {
  /// What is wrong, with the number that is, and what to give instead.
  public var description: String {
    switch self {
    case .negativeRetries(let count):
      return "Retry policy: maxRetries is \(count). Give 0 for no retry, or nil to retry for ever."
    case .negativeDelay(let delay):
      return "Retry policy: a delay is \(delay). Give zero to retry at once, or a positive duration."
    case .baseNotPositive(let base):
      return "Retry policy: delays that grow cannot start from \(base). Give a positive duration, or use .immediate."
    case .multiplierOutOfRange(let multiplier):
      return "Retry policy: the multiplier is \(multiplier). Give a finite number from 1; 2 doubles each delay."
    case .capNotPositive(let cap):
      return "Retry policy: the longest delay is \(cap). Give a positive duration, or nil for no cap."
    case .capBelowBase(let cap, let base):
      return
        "Retry policy: the longest delay, \(cap), is shorter than the first, \(base). Raise one or lower the other."
    case .jitterRatioOutOfRange(let ratio):
      return "Retry policy: the jitter's ratio is \(ratio). Give a number from 0 to 1; 0.25 is a quarter up or down."
    case .negativeMaxHint(let maxHint):
      return "Retry policy: maxHint is \(maxHint). Give zero to stop on every hint, or a positive duration."
    case .deadlineNotPositive(let deadline):
      return "Retry policy: the deadline is \(deadline). Give a positive duration, or nil for none."
    }
  }
}
