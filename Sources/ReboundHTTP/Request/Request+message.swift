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
    do {
      return try makeMessage(base: base, limits: limits, random: random)
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
    base: URL?,
    limits: TransportLimits,
    random: RandomSource
  ) throws(InvalidRequest.Reason) -> TransportRequest {
    guard let base = baseURL ?? base else { throw .noBaseURL }
    let url = try address(below: base)
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

  private func address(below base: URL) throws(InvalidRequest.Reason) -> URL {
    guard
      var components = URLComponents(url: base, resolvingAgainstBaseURL: true),
      let scheme = components.scheme?.lowercased(), ["http", "https"].contains(scheme),
      let host = components.encodedHost, !host.isEmpty
    else { throw .address(Redaction.standard.url(base)) }
    let path = try self.path.encoded().drop { $0 == "/" }
    var stem = components.percentEncodedPath
    if !path.isEmpty {
      if !stem.hasSuffix("/") { stem += "/" }
      components.percentEncodedPath = stem + path
    }
    let queries = [components.percentEncodedQuery ?? "", query.queryEncoded].filter { !$0.isEmpty }
    components.percentEncodedQuery = queries.isEmpty ? nil : queries.joined(separator: "&")
    components.percentEncodedFragment = nil
    guard let url = components.url else { throw .address(Redaction.standard.url(base)) }
    return url
  }
}
