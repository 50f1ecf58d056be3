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
    try RequestParts(self, parser).message(base: base, service: nil, limits: limits, random: random)
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
}

extension RequestParts {
  /// The request as it goes over the wire.
  ///
  /// - Parameters:
  ///   - base: The address of the service, where the request names none.
  ///   - service: The same once more, where it has been taken apart already.
  ///   - limits: For one attempt, where the request names none.
  ///   - random: Draws the boundary of a multipart body.
  func message(
    base: URL?,
    service: ServiceAddress?,
    limits: TransportLimits,
    random: RandomSource
  ) throws(InvalidRequest) -> TransportRequest {
    do {
      return try makeMessage(base, service, limits, random)
    } catch {
      throw InvalidRequest(operation: operation(), reason: error)
    }
  }

  private func makeMessage(
    _ base: URL?,
    _ service: ServiceAddress?,
    _ limits: TransportLimits,
    _ random: RandomSource
  ) throws(InvalidRequest.Reason) -> TransportRequest {
    let address: Address
    if let own = baseURL {
      address = try ServiceAddress(own).address(path: path, query: query)
    } else if let service {
      address = try service.address(path: path, query: query)
    } else if let base {
      address = try ServiceAddress(base).address(path: path, query: query)
    } else {
      throw .noBaseURL
    }
    let content = body
    var fields = headers
    if !content.isEmpty, method == .get || method == .head || method == .trace { throw .bodyNotAllowed(method) }
    let (body, contentType) = content.isEmpty ? (.none, nil) : try content.make(random: random)
    if accept != nil || contentType != nil {
      let own = fields
      fields = [:]
      if let accept { fields.add("Accept", accept) }
      if let contentType { fields.add("Content-Type", contentType) }
      fields.set(own)
    }
    if let priority {
      guard priority.isValid else { throw .priority(priority.urgency) }
      fields["Priority"] = priority.field
    }
    if case .key(let key) = idempotency { fields["Idempotency-Key"] = key }
    if let field = fields.first(where: { !$0.isValid }) { throw .header(field.name) }
    var message = TransportRequest(
      address,
      method: method,
      headers: fields,
      body: body,
      limits: self.limits ?? limits
    )
    message.isNotIdempotent = idempotency == .notIdempotent
    return message
  }
}

/// The address of a service, taken apart: that costs more than to put a request's address together.
final class ServiceAddress: Sendable {
  private let base: URL
  /// All but the query and the fragment.
  private let stem: String
  /// The same with a slash at its end.
  private let directory: String
  private let query: String
  /// That directory; `nil` if Foundation does not leave it as it is.
  private let root: AddressRoot?

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
    directory = stem.hasSuffix("/") ? stem : stem + "/"
    let isVerbatim = URL(string: directory)?.absoluteString == directory
    root = isVerbatim ? AddressRoot(Address(valid: directory)) : nil
    self.base = base
  }

  /// The address of something below it.
  func address(path: RequestPath, query: Parameters) throws(InvalidRequest.Reason) -> Address {
    var path = try path.encoded()
    while path.utf8.first == UInt8(ascii: "/") { path.removeFirst() }
    let query = query.queryEncoded
    let isBelow = !path.isEmpty || stem.utf8.count == directory.utf8.count
    var text = isBelow ? directory + path : stem
    if !self.query.isEmpty { text += "?\(self.query)" }
    if !query.isEmpty { text += (self.query.isEmpty ? "?" : "&") + query }
    // What was put behind it is encoded, and of what may stand in a path and a query (RFC 3986 §3.3, §3.4).
    if let root { return Address(valid: text, below: isBelow ? root : nil) }
    guard let url = URL(string: text) else { throw .address(Redaction.standard.url(base)) }
    return Address(url)
  }
}
