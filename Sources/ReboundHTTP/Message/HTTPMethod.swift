/// What a request asks the server to do (RFC 9110 §9).
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The method's name as it goes over the wire; names are case-sensitive.
  public let rawValue: String

  /// Makes a method of any name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Makes a method of any name.
  public init(stringLiteral name: String) {
    rawValue = name
  }

  /// Asks for a representation.
  public static let get: HTTPMethod = "GET"
  /// Asks for the head of what GET would answer.
  public static let head: HTTPMethod = "HEAD"
  /// Hands something over to be processed.
  public static let post: HTTPMethod = "POST"
  /// Puts a representation in the place of the present one.
  public static let put: HTTPMethod = "PUT"
  /// Changes a part of a representation (RFC 5789).
  public static let patch: HTTPMethod = "PATCH"
  /// Removes a representation.
  public static let delete: HTTPMethod = "DELETE"
  /// Asks how one may communicate.
  public static let options: HTTPMethod = "OPTIONS"
  /// Asks for the request itself, as it arrived.
  public static let trace: HTTPMethod = "TRACE"

  /// Whether the method asks for nothing but an answer (RFC 9110 §9.2.1).
  public var isSafe: Bool {
    switch rawValue {
    case "GET", "HEAD", "OPTIONS", "TRACE": true
    default: false
    }
  }

  /// Whether sending the same request twice has the effect of sending it once (RFC 9110 §9.2.2).
  public var isIdempotent: Bool { isSafe || rawValue == "PUT" || rawValue == "DELETE" }

  /// The method's name.
  public var description: String { rawValue }
}
