import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A request as it goes to a ``Transport``: nothing in it is left to be decided.
public struct TransportRequest: Sendable {
  /// Where to send it, percent-encoded, with a scheme of `http` or `https` and a host.
  public var url: URL {
    get { address.url }
    set { address = Address(newValue) }
  }
  /// What to ask for.
  public var method: HTTPMethod
  /// The header fields, each of them valid.
  ///
  /// Host, Content-Length and Transfer-Encoding are the transport's to add; what it finds here of the last two
  /// (``HTTPHeaders/isFraming(_:)``) it leaves out.
  public var headers: HTTPHeaders
  /// What to send along.
  public var body: TransportBody
  /// How long it may take, and how much may come back.
  public var limits: TransportLimits
  /// Whether to tell the ``ResponseHead/timings`` of the answer, if the transport knows them.
  ///
  /// A client asks for them where somebody hears its events (``WebAPIClient/onEvent(_:)``).
  public var wantsTimings = false
  private(set) var address: Address
  /// Whether the request itself says that it is not idempotent, whatever its method.
  var isNotIdempotent = false

  /// Whether a transport may send it once more by itself, as when a connection that was kept open turns out to be closed: if its
  /// method is idempotent (RFC 9110 §9.2.2), and its ``Request/idempotency`` does not say that it is not.
  public var isIdempotent: Bool { method.isIdempotent && !isNotIdempotent }

  /// Makes a request.
  ///
  /// - Parameters:
  ///   - url: Where to send it.
  ///   - method: What to ask for.
  ///   - headers: The header fields.
  ///   - body: What to send along.
  ///   - limits: How long it may take, and how much may come back.
  public init(
    _ url: URL,
    method: HTTPMethod = .get,
    headers: HTTPHeaders = [:],
    body: TransportBody = .none,
    limits: TransportLimits = .standard
  ) {
    self.init(Address(url), method: method, headers: headers, body: body, limits: limits)
  }

  init(_ address: Address, method: HTTPMethod, headers: HTTPHeaders, body: TransportBody, limits: TransportLimits) {
    self.address = address
    self.method = method
    self.headers = headers
    self.body = body
    self.limits = limits
  }

  /// The same request for URLSession, without a body that is a file or a stream.
  ///
  /// Fields of the same name are joined with commas, and those that say where a body ends are left out. The timeout is the idle
  /// limit, as URLSession understands it.
  public var urlRequest: URLRequest {
    var request = URLRequest(url: url)
    request.httpMethod = method.rawValue
    for field in headers where !HTTPHeaders.isFraming(field.name) {
      request.addValue(field.value, forHTTPHeaderField: field.name)
    }
    if case .data(let data) = body { request.httpBody = data }
    if let idle = limits.idle { request.timeoutInterval = max(idle.inTimeInterval, 0.001) }
    return request
  }
}

extension Duration {
  /// The length in seconds, as Foundation counts them.
  package var inTimeInterval: TimeInterval {
    let (seconds, attoseconds) = components
    return TimeInterval(seconds) + TimeInterval(attoseconds) * 1e-18
  }
}
