/// A request method.
///
/// Methods are case-sensitive (RFC 9110 §9.1).
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
  /// The method as it stands in the request line.
  public let rawValue: String

  /// Makes a method from its name, such as `"PATCH"`.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// `GET`; routes for it answer `HEAD` too.
  public static let get = HTTPMethod(rawValue: "GET")
  /// `HEAD`: the answer to `GET` without its body.
  public static let head = HTTPMethod(rawValue: "HEAD")
  /// `POST`.
  public static let post = HTTPMethod(rawValue: "POST")
  /// `PUT`.
  public static let put = HTTPMethod(rawValue: "PUT")
  /// `DELETE`.
  public static let delete = HTTPMethod(rawValue: "DELETE")
  /// `OPTIONS`; the router answers it by itself.
  public static let options = HTTPMethod(rawValue: "OPTIONS")
}
