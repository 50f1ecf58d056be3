import Foundation
import Rebound

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension Request {
  /// The request as it goes over the wire.
  ///
  /// - Parameters:
  ///   - base: The address of the service, where the request names none.
  ///   - limits: For one attempt, where the request names none.
  ///   - random: Draws the boundary of a multipart body.
  /// - Throws: ``InvalidRequest``, if it makes no sense as it is.
  public func message(
    base: URL? = nil,
    limits: TransportLimits = .standard,
    random: RandomSource = .system
  ) throws(InvalidRequest) -> TransportRequest {
    try message(base: base, service: nil, limits: limits, random: random)
  }

  /// - Parameter service: The base once more, where it has been taken apart already.
  func message(
    base: URL?,
    service: ServiceAddress?,
    limits: TransportLimits,
    random: RandomSource
  ) throws(InvalidRequest) -> TransportRequest {
    do {
      return try makeMessage(base, service, limits, random)
    } catch {
      throw InvalidRequest(operation: operation, reason: error)
    }
  }

  /// The request for URLSession.
  ///
  /// A body that is a file or a stream is not in it; hand it to the task that uploads it.
  ///
  /// - Parameter base: The address of the service, where the request names none.
  /// - Throws: ``InvalidRequest``, if it makes no sense as it is.
  public func urlRequest(base: URL? = nil) throws(InvalidRequest) -> URLRequest {
    try message(base: base).urlRequest
  }

  private func makeMessage(
    _ base: URL?,
    _ service: ServiceAddress?,
    _ limits: TransportLimits,
    _ random: RandomSource
  ) throws(InvalidRequest.Reason) -> TransportRequest {
    guard let base = baseURL ?? base else { throw .noBaseURL }
    let address = if baseURL == nil, let service { service } else { try ServiceAddress(base) }
    let url = try address.url(path: path, query: query)
    if !body.isEmpty, [.get, .head, .trace].contains(method) { throw .bodyNotAllowed(method) }
    let (body, contentType) = try self.body.make(random: random)
    var fields: HTTPHeaders = [:]
    if let accept = parser.accept { fields["Accept"] = accept }
    if let contentType { fields["Content-Type"] = contentType }
    fields.set(headers)
    if case .key(let key) = idempotency { fields["Idempotency-Key"] = key }
    if let field = fields.first(where: { !$0.isValid }) { throw .header(field.name) }
    return TransportRequest(url, method: method, headers: fields, body: body, limits: self.limits ?? limits)
  }
}

/// The address of a service, taken apart: that costs more than to put a request's address together.
struct ServiceAddress: Sendable {
  private let base: URL
  /// All but the query and the fragment.
  private let stem: String
  private let query: String

  /// - Throws: ``InvalidRequest/Reason-swift.enum/address(_:)`` if it is none of a web service.
  init(_ base: URL) throws(InvalidRequest.Reason) {
    guard
      var components = URLComponents(url: base, resolvingAgainstBaseURL: true),
      let scheme = components.scheme?.lowercased(), ["http", "https"].contains(scheme),
      let host = components.host, !host.isEmpty
    else { throw .address(Redaction.standard.url(base)) }
    query = components.percentEncodedQuery ?? ""
    components.percentEncodedQuery = nil
    components.percentEncodedFragment = nil
    guard let stem = components.string else { throw .address(Redaction.standard.url(base)) }
    self.stem = stem
    self.base = base
  }

  /// The address of something below it.
  func url(path: RequestPath, query: Parameters) throws(InvalidRequest.Reason) -> URL {
    var text = stem
    let path = try path.encoded().drop { $0 == "/" }
    if !path.isEmpty {
      if !stem.hasSuffix("/") { text += "/" }
      text += path
    }
    var separator = "?"
    for part in [self.query, query.queryEncoded] where !part.isEmpty {
      text += separator + part
      separator = "&"
    }
    guard let url = URL(string: text) else { throw .address(Redaction.standard.url(base)) }
    return url
  }
}
