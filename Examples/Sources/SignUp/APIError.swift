import Foundation
import Rebound
import ReboundHTTP

/// What can go wrong between the sign-up form and the server, each with words for the person in front of it.
public enum APIError: Error {
  /// The request could not be made, so none was sent; the reason is for developers.
  case invalidRequest(String)
  /// The server was not reached, or the connection broke.
  case transport(any Error)
  /// The answer did not speak HTTP.
  case invalidResponse
  /// The server refused what was sent, for the reason that it gave.
  case validation(String)
  /// The answer was not what this version of the app understands.
  case decoding(any Error)
  /// The network answered with a page of its own in place of the server.
  case captivePortal
  /// The server failed. With `retryAfter` it said when to come back.
  case server(status: Int, reason: String?, retryAfter: Duration?)

  /// Sorts what the network layer says into what this app can do about it.
  public init(_ failure: NetworkFailure) {
    switch (failure.kind, failure.status) {
    case (.captivePortal, _): self = .captivePortal
    case (.invalidRequest, _): self = .invalidRequest(failure.invalidRequest.map { "\($0.reason)" } ?? "\(failure)")
    case (.decoding, _), (.noData, _): self = .decoding(failure)
    case (.transport(.protocol), _): self = .invalidResponse
    case (.transport, _), (_, nil): self = .transport(failure)
    case (_, 400?), (_, 409?), (_, 413?), (_, 415?), (_, 422?):
      self = .validation(failure.serverMessage ?? "The server refused this input.")
    case (_, let status?):
      self = .server(status: status, reason: failure.serverMessage, retryAfter: failure.retryAfter)
    }
  }
}

extension APIError {
  /// Whether the same request may succeed a little later.
  ///
  /// A server that says when to come back, or that is only overloaded, may; one that is broken without a word about
  /// when, or that refused the input, will not. A lost connection is waited for in another way.
  public var isTransient: Bool {
    switch self {
    case .server(let status, _, let retryAfter): retryAfter != nil || [429, 502, 503, 504].contains(status)
    case .invalidRequest, .transport, .invalidResponse, .validation, .decoding, .captivePortal: false
    }
  }

  /// Whether the server could not be reached.
  public var isOffline: Bool {
    if case .transport = self { true } else { false }
  }

  /// Whether the server may have done what it was asked for, and its answer was lost on the way.
  public var mayBeDone: Bool {
    guard case .transport(let failure as NetworkFailure) = self else { return false }
    return !failure.provesNothingWasDone
  }
}

extension APIError: RetryAfterProviding {
  /// How long the server asked to wait.
  public var retryAfter: Duration? {
    if case .server(_, _, let retryAfter) = self { retryAfter } else { nil }
  }
}

extension APIError: LocalizedError {
  /// The error in words for people.
  public var errorDescription: String? {
    switch self {
    case .invalidRequest: "This can't be sent to the server. Check what you typed, and try again."
    case .transport: "You are offline. Connect to the internet and try again."
    case .invalidResponse: "The server gave an answer that isn't one. Please try again later."
    case .validation(let reason): reason
    case .decoding:
      "The server's answer has a form that this version does not know. Please update the app to the latest version."
    case .captivePortal:
      "This network wants you to log in first. Open a browser, log in to the network, and try again."
    case .server(_, let reason, _): reason ?? "Server error"
    }
  }
}

extension APIError {
  /// What a list of attempts says about the error.
  var outcome: String {
    switch self {
    case .invalidRequest(let reason): "not sent: \(reason)"
    case .transport(let failure as NetworkFailure): "no answer (\(failure.outcome))"
    case .transport: "no answer"
    case .invalidResponse: "not an answer"
    case .validation(let reason): "refused: \(reason)"
    case .decoding: "200 with an unreadable answer"
    case .captivePortal: "200 with a page of the network's own"
    case .server(let status, let reason, _): "\(status) \(reason ?? "Server error")"
    }
  }
}

extension RetryPolicy where Failure == APIError {
  /// When the check of a user name is tried again: twice, after 0.5 s and 1 s or what the server asks for, after an error
  /// that may pass by itself.
  ///
  /// - Parameters:
  ///   - delays: How long to wait before each retry.
  ///   - random: Draws the delays.
  public static func userNameCheck(
    after delays: Backoff = .exponential(from: .milliseconds(500), upTo: .seconds(20)),
    random: RandomSource = .system
  ) -> RetryPolicy {
    RetryPolicy(clamping: 2, backoff: delays, random: random).when(\.isTransient)
  }
}
