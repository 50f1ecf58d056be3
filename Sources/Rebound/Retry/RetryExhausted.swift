/// All that led to giving up, for ``RetryPolicy/onExhaustion(keeping:_:)``.
public struct RetryExhausted<Failure: Error>: Error {
  /// How many attempts were made.
  public let attempts: Int
  /// How long the execution has run, waits included.
  public let elapsed: Duration
  /// What the attempts failed with, in order; only the last ones if there were more than were to be kept.
  public let errors: [Failure]
  /// What the last attempt failed with.
  public let underlying: Failure
}

extension RetryExhausted: CustomStringConvertible {
  /// What happened, and with which errors.
  public var description: String {
    let causes = errors.map { "\($0)" }.joined(separator: "; ")
    let left = attempts > errors.count ? " (the last \(errors.count) of \(attempts))" : ""
    return "Gave up after \(attempts) attempts in \(elapsed). Errors\(left): \(causes)"
  }
}
