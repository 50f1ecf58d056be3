import Foundation

/// A call or one of its attempts, with when it was and what came of it.
///
/// The names of the attributes are those of OpenTelemetry's semantic conventions for HTTP clients, which has none for the
/// ``TransportTimings``: these are `rebound.time.name_lookup` and its kin, in microseconds since the transport began.
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
  /// The name of the request for a call; its method for an attempt.
  public let name: String
  /// Whether it is an attempt, which goes over the network.
  public let isAttempt: Bool
  /// When it began, since the start of 1970 by the device's clock.
  public let start: Duration
  /// How long it took.
  public let duration: Duration
  /// What went wrong; `nil` if nothing did.
  public let failure: String?
  let parent: SpanContext?
  let target: Target
  /// The id of a call.
  var requestID: String? = nil
  /// Of an attempt that was answered.
  var status: Int? = nil
  /// Of an attempt, from 1.
  var attempt: Int? = nil
  /// Of an attempt that was answered, where the transport has told them.
  var timings: TransportTimings? = nil
  let errorType: String?

  /// Where a request goes, without secrets.
  struct Target: Hashable, Sendable {
    let method: HTTPMethod
    let url: String
    let host: String?
    let port: Int?

    init(_ message: TransportRequest, _ redaction: Redaction) {
      method = message.method
      url = redaction.url(message.address)
      let authority = message.address.authority
      host = authority.host
      port = authority.port ?? Target.defaultPort(of: message.address.scheme)
    }

    private static func defaultPort(of scheme: String?) -> Int? {
      switch scheme {
      case "http": 80
      case "https": 443
      default: nil
      }
    }
  }

  /// The span that it is a part of: the call of an attempt; for a call, what has set it off.
  public var parentID: String? { parent?.spanID }

  /// What is known about it, without secrets.
  ///
  /// Made anew each time: not everybody who gets spans writes them down.
  public var attributes: [String: Value] {
    var attributes: [String: Value] = [
      "http.request.method": .text(target.method.rawValue), "url.full": .text(target.url),
    ]
    attributes["server.address"] = target.host.map { .text($0) }
    attributes["server.port"] = target.port.map { .number($0) }
    attributes["rebound.request.id"] = requestID.map { .text($0) }
    attributes["http.response.status_code"] = status.map { .number($0) }
    attributes["http.request.resend_count"] = attempt.flatMap { $0 > 1 ? .number($0 - 1) : nil }
    attributes["error.type"] = errorType.map { .text($0) }
    for (name, microseconds) in timings?.attributes ?? [] { attributes[name] = .number(microseconds) }
    return attributes
  }
}
