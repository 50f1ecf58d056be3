import Foundation

/// A request that cannot be sent, because it makes no sense as it is.
///
/// It comes out of the publisher as the failure of the call, ``NetworkFailure/Kind-swift.enum/invalidRequest``; nothing
/// is sent, and no retry helps.
public struct InvalidRequest: Error, Sendable {
  /// What makes no sense.
  public enum Reason: Error, Sendable {
    /// Neither the request nor the client names a service.
    case noBaseURL
    /// The address is none of `http` or `https` with a host.
    case address(String)
    /// Data in the path would lead elsewhere.
    case path(String)
    /// A header field has no valid name, or a line break in its value. With the name.
    case header(String)
    /// The urgency of a ``HTTPPriority`` is none.
    case priority(Int)
    /// The method allows no body that anybody could rely on (RFC 9110 §9.3).
    case bodyNotAllowed(HTTPMethod)
    /// The body could not be made. With the encoder's or the file system's error.
    case body(any Error)
    /// The data of a multipart body contains every boundary that was tried.
    case boundary
  }

  /// The name of the request's type.
  public let operation: String
  /// What makes no sense.
  public let reason: Reason

  /// Makes the error.
  ///
  /// - Parameters:
  ///   - operation: The name of the request's type.
  ///   - reason: What makes no sense.
  public init(operation: String, reason: Reason) {
    self.operation = operation
    self.reason = reason
  }
}

extension InvalidRequest: CustomStringConvertible {
  /// What is wrong, and what to do about it.
  public var description: String { "\(operation): \(reason)" }
}

extension InvalidRequest: LocalizedError {
  /// What happened, for people: what a client's failure for it says.
  public var errorDescription: String? { NetworkFailure(.invalidRequest).errorDescription }
  /// Why, for people.
  public var failureReason: String? { NetworkFailure(.invalidRequest).failureReason }
  /// What to do next, for people.
  public var recoverySuggestion: String? { NetworkFailure(.invalidRequest).recoverySuggestion }
}

extension InvalidRequest.Reason: LocalizedError {
  /// What happened, for people: what a client's failure for it says.
  public var errorDescription: String? { NetworkFailure(.invalidRequest).errorDescription }
  /// Why, for people.
  public var failureReason: String? { NetworkFailure(.invalidRequest).failureReason }
  /// What to do next, for people.
  public var recoverySuggestion: String? { NetworkFailure(.invalidRequest).recoverySuggestion }
}

extension InvalidRequest.Reason: CustomStringConvertible {
  /// What is wrong, and what to do about it.
  public var description: String {
    switch self {
    case .noBaseURL:
      return "no service to send it to. Give the request or the client a base URL."
    case .address(let text):
      return "the address '\(text)' cannot be called. Give one that begins with http:// or https:// and names a host."
    case .path(let text):
      return "'\(text)' in the path would lead elsewhere. Put a name there that is not empty and is not made of dots."
    case .header(let name):
      return "the header field '\(name)' cannot be sent. Names are letters, digits and dashes; values are of one line."
    case .priority(let urgency):
      return "\(urgency) is no urgency. Give a number from 0, the most urgent, to 7."
    case .bodyNotAllowed(let method):
      return "a \(method) request has no body. Send it as a query, or with another method."
    case .body(let error):
      return "its body cannot be made. \(error)"
    case .boundary:
      return "no boundary was found that its parts do not contain. Give another source of randomness."
    }
  }
}
