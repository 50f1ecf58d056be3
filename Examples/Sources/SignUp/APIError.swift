import Foundation
import Rebound

/// What can go wrong between the sign-up form and the server, each with words for the person in front of it.
public enum APIError: Error {
  /// The request could not be made, so none was sent.
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
    case .invalidRequest(let what): "This can't be sent to the server: \(what)"
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
    case .invalidRequest: "not sent"
    case .transport(let error as URLError): "no answer (\(error.code.rawValue))"
    case .transport: "no answer"
    case .invalidResponse: "not an answer"
    case .validation(let reason): "refused: \(reason)"
    case .decoding: "200 with an unreadable answer"
    case .captivePortal: "200 with a page of the network's own"
    case .server(let status, let reason, _): "\(status) \(reason ?? "Server error")"
    }
  }
}
