/// A call or one of its attempts, with when it was and what came of it.
///
/// The names of the attributes are those of OpenTelemetry's semantic conventions for HTTP clients.
public struct Span: Hashable, Sendable {
  /// What an attribute holds.
  public enum Value: Hashable, Sendable {
    /// A text.
    case text(String)
    /// A whole number.
    case number(Int)
  }

  /// Which span this is.
  public let context: SpanContext
  /// The span that it is a part of: the call of an attempt; for a call, what has set it off.
  public let parentID: String?
  /// The name of the request for a call; its method for an attempt.
  public let name: String
  /// Whether it is an attempt, which goes over the network.
  public let isAttempt: Bool
  /// When it began, since the start of 1970 by the device's clock.
  public let start: Duration
  /// How long it took.
  public let duration: Duration
  /// What is known about it, without secrets.
  public let attributes: [String: Value]
  /// What went wrong; `nil` if nothing did.
  public let failure: String?
}
