/// A request method.
///
/// Methods are case-sensitive (RFC 9110 §9.1).
public struct Method: RawRepresentable, Hashable, Sendable {
  /// The method as it stands in the request line.
  public let rawValue: String

  /// Makes a method from its name, such as `"PATCH"`.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// `GET`; routes for it answer `HEAD` too.
  public static let get = Method(rawValue: "GET")
  /// `HEAD`: the answer to `GET` without its body.
  public static let head = Method(rawValue: "HEAD")
  /// `POST`.
  public static let post = Method(rawValue: "POST")
  /// `PUT`.
  public static let put = Method(rawValue: "PUT")
  /// `DELETE`.
  public static let delete = Method(rawValue: "DELETE")
  /// `OPTIONS`; the router answers it by itself.
  public static let options = Method(rawValue: "OPTIONS")
}
