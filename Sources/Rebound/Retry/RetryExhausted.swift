import Foundation

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

extension RetryExhausted: LocalizedError {
  /// What happened, in the words for people of the last failure; `nil` if it has none.
  public var errorDescription: String? { (underlying as? any LocalizedError)?.errorDescription }
  /// Why, in those words.
  public var failureReason: String? { (underlying as? any LocalizedError)?.failureReason }
  /// What to do next, in those words.
  public var recoverySuggestion: String? { (underlying as? any LocalizedError)?.recoverySuggestion }
}
