import Foundation
import StreamSupport

/// There is no credential to send a request with.
public struct TokenRefreshFailure: Error {
  /// Why there is none.
  ///
  /// Later versions may add reasons.
  public struct Reason: Hashable, Sendable, CustomStringConvertible {
    /// The reason in words.
    public let description: String

    private init(_ description: String) {
      self.description = description
    }

    /// Nobody is signed in, or the one who sent the request no longer is.
    public static let signedOut = Reason("signed out")
    /// The server will not renew the session.
    public static let rejected = Reason("session rejected")
    /// The server grants no credential for what a refresher obtains it with, such as an API key.
    public static let denied = Reason("no credential granted")
    /// The refresh failed for the moment.
    public static let failed = Reason("refresh failed")
    /// There were more refreshes than the policy allows.
    public static let tooManyRefreshes = Reason("too many refreshes")
  }

  /// Why there is none.
  public let reason: Reason
  /// What the refresh failed with; `nil` if there was none.
  public let underlying: (any Error)?
  /// How long until another refresh is tried; `nil` where waiting does not help.
  public let retryAfter: Duration?

  /// Describes why there is no credential.
  public init(reason: Reason, underlying: (any Error)? = nil, retryAfter: Duration? = nil) {
    self.reason = reason
    self.underlying = underlying
    self.retryAfter = retryAfter
  }

  /// Whether the user has to sign in before anything else helps.
  public var needsSignIn: Bool { reason == .signedOut || reason == .rejected }
}

extension TokenRefreshFailure: RetryAfterProviding {
  /// The pause is the session's, and says nothing about how often the service may be called.
  public var isRefusal: Bool { true }
}

extension TokenRefreshFailure: CustomStringConvertible {
  /// What happened, and what to do next.
  public var description: String {
    let cause = underlying.map { " Cause: \("\($0)".sentence)" } ?? ""
    let pause = retryAfter.map { "in \($0)" } ?? "later"
    switch reason {
    case .signedOut: return "Nobody is signed in; sign in and try again."
    case .rejected: return "The session is over; sign in again.\(cause)"
    case .denied: return "The service grants no access; check the key.\(cause)"
    case .tooManyRefreshes:
      return "The session was renewed too often in a short time; try again \(pause), or sign in again.\(cause)"
    default: return "The session could not be renewed; try again \(pause).\(cause)"
    }
  }
}

extension TokenRefreshFailure: LocalizedError {
  /// What happened, for people.
  public var errorDescription: String? {
    switch reason {
    case .signedOut: "You are not signed in."
    case .rejected: "Your session is over."
    case .denied: "The service grants no access."
    case .tooManyRefreshes: "Your session was renewed too often in a short time."
    default: "Your session could not be renewed."
    }
  }
  /// What the refresh failed with, in that error's own words for people; `nil` if it has none.
  public var failureReason: String? { (underlying as? any LocalizedError)?.errorDescription }
  /// What to do next, for people.
  public var recoverySuggestion: String? {
    switch reason {
    case .signedOut: "Sign in, and try again."
    case .rejected: "Sign in again."
    case .denied: "Check the key."
    default: suggestionToTryAgain
    }
  }
}

/// A publisher that should have renewed a credential finished without one.
public struct RefreshWithoutCredential: Error, Hashable, CustomStringConvertible {
  /// Makes the error.
  public init() {}

  /// What happened, and what to do about it.
  public var description: String {
    "The refresh finished without a credential; let its publisher send one, or fail."
  }
}

extension RefreshWithoutCredential: LocalizedError {
  /// That it is the program's fault, for people; the description says which.
  public var errorDescription: String? { ProgramMistake.words }
  /// What to do next, for people.
  public var recoverySuggestion: String? { ProgramMistake.suggestion }
}
