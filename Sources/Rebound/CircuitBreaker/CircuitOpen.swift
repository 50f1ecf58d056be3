import Foundation
import StreamSupport

/// A circuit breaker has refused a call, because the service behind it fails.
///
/// It is not worth a retry by itself: the breaker would refuse again. A ``RetryPolicy`` tries again after it only if it
/// has a deadline and the breaker may let a call through before that; it waits for as long as ``retryAfter`` says.
public struct CircuitOpen: RetryAfterProviding {
  /// What the breaker protects.
  public let name: String
  /// How long it takes at least until a call may be let through; `nil` if only a person can say.
  public let retryAfter: Duration?
  /// The call was refused.
  public var isRefusal: Bool { true }
  /// For how long the service has been out; `nil` if a person took it out.
  public let outFor: Duration?
  /// What the service failed with last.
  public let lastError: (any Error)?

  /// Describes a refusal.
  public init(name: String, retryAfter: Duration?, outFor: Duration? = nil, lastError: (any Error)? = nil) {
    self.name = name
    self.retryAfter = retryAfter
    self.outFor = outFor
    self.lastError = lastError
  }
}

extension CircuitOpen: CustomStringConvertible {
  /// What happened, and what to do next.
  public var description: String {
    let cause = lastError.map { " Last error: \("\($0)".sentence)" } ?? ""
    guard let retryAfter else { return "\(name) was taken out of service; try again later.\(cause)" }
    return "\(name) does not answer as it should; try again in \(retryAfter).\(cause)"
  }
}

extension CircuitOpen: LocalizedError {
  /// What happened, for people.
  public var errorDescription: String? { "The service does not answer as it should." }
  /// What the service failed with last, in that error's own words for people; `nil` if it has none.
  public var failureReason: String? { (lastError as? any LocalizedError)?.errorDescription }
  /// When to try again, for people.
  public var recoverySuggestion: String? { suggestionToTryAgain }
}
