/// A failure that a handler throws in order to answer with it.
public struct HTTPError: Error, Equatable, CustomStringConvertible {
  /// The status of the answer, 400 to 599.
  public let status: Int
  /// What is wrong, for the person at the other end.
  public let reason: String
  /// Further headers of the answer, such as `Retry-After`.
  public let headers: Headers

  /// Makes a failure with a status and a reason.
  public init(_ status: Int, _ reason: String, headers: Headers = [:]) {
    self.status = status
    self.reason = reason
    self.headers = headers
  }

  /// The status and the reason.
  public var description: String { "\(status): \(reason)" }
}
