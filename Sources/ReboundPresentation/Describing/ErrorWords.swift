import Foundation

/// The words that an error has for people.
public struct ErrorWords: Hashable, Sendable {
  /// What happened.
  public let description: String
  /// Why; `nil` if the error does not say.
  public let reason: String?
  /// What to do next; `nil` if the error does not say.
  public let suggestion: String?

  /// Takes the words of a `LocalizedError`; others get general words, since what is made for developers helps nobody.
  public init(of error: any Error) {
    let localized = error as? any LocalizedError
    description = localized?.errorDescription ?? "Something went wrong."
    reason = localized?.failureReason
    suggestion = localized?.recoverySuggestion
  }

  /// What happened and why.
  public var text: String {
    guard let reason, reason != description else { return description }
    return "\(description) \(reason)"
  }
}
