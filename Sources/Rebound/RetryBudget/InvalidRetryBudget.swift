/// A retry budget that makes no sense, refused when it is made.
public enum InvalidRetryBudget: Error, Hashable, Sendable {
  /// The share of retries is below zero, or not a finite number.
  case ratioOutOfRange(Double)
  /// The window is zero or shorter.
  case windowNotPositive(Duration)
  /// The number of retries that are always allowed is below zero.
  case negativeFloor(Int)
  /// The number of tokens is not in `1...1000` for a throttle, or under 1 for a bucket.
  case tokensOutOfRange(Int)
  /// A retry costs nothing, or more than there is.
  case costOutOfRange(Int)
}

extension InvalidRetryBudget: CustomStringConvertible {
  /// What is wrong, with the number that is, and what to give instead.
  public var description: String {
    switch self {
    case .ratioOutOfRange(let ratio):
      return "Retry budget: the ratio is \(ratio). Give a finite number from 0; 0.2 is a retry for five requests."
    case .windowNotPositive(let window):
      return "Retry budget: the window is \(window). Give a positive duration."
    case .negativeFloor(let floor):
      return "Retry budget: the floor is \(floor). Give 0 for none, or how many retries are always allowed."
    case .tokensOutOfRange(let tokens):
      return "Retry budget: the number of tokens is \(tokens). Give 1 to 1000 for a throttle, at least 1 for a bucket."
    case .costOutOfRange(let cost):
      return "Retry budget: a retry costs \(cost). Give at least 1, and no more than the number of tokens."
    }
  }
}
