import Foundation
import Rebound
import ReboundOutbox

/// A stored request on its way through a client.
struct OutboxDelivery: Request {
  typealias Response = HTTPResponse

  let stored: StoredRequest
  let address: URL
  let idempotencyKey: String

  /// - Throws: ``InvalidRequest``, if nobody says where to send it, or what is stored is no address.
  init(_ entry: OutboxEntry<StoredRequest>, below base: URL?) throws(InvalidRequest) {
    stored = entry.payload
    idempotencyKey = entry.idempotencyKey
    do {
      address = try entry.payload.address(below: base)
    } catch {
      throw InvalidRequest(operation: entry.payload.operation, reason: error)
    }
  }

  var baseURL: URL? { address }

  // All of it is in the address.
  var path: RequestPath { "" }
  var method: HTTPMethod { stored.method }
  var headers: HTTPHeaders { stored.headers }
  var body: RequestBody {
    stored.body.map { .data($0, contentType: headers["Content-Type"] ?? "application/octet-stream") } ?? .none
  }
  /// A page for a browser is no answer of a service that was not asked for one: taken for an answer, the sign-in page of
  /// a hotel's network would be the end of the entry.
  var parser: ResponseParser<HTTPResponse> {
    ResponseParser(takesWebPages: headers["Accept"]?.contains("html") ?? false) { $0 }
  }
  var validStatuses: ClosedRange<Int> {
    min(stored.firstValidStatus, stored.lastValidStatus)...max(stored.firstValidStatus, stored.lastValidStatus)
  }
  var idempotency: Idempotency { stored.isRepeatable ? .key(idempotencyKey) : .notIdempotent }
  var isAuthenticated: Bool { stored.isAuthenticated }
  var cacheMode: CacheMode { .bypass }
  var operation: String { stored.operation }
}

extension StoredRequest {
  /// Where it is sent.
  ///
  /// - Throws: The reason why that cannot be said: there is no address to begin with, or the file holds one that is none.
  func address(below base: URL?) throws(InvalidRequest.Reason) -> URL {
    if hasOwnService {
      guard let url = URL(string: target) else { throw .address(Redaction.standard.archived(address: target)) }
      return url
    }
    guard let base else { throw .noBaseURL }
    guard var parts = URLComponents(url: base, resolvingAgainstBaseURL: true) else {
      throw .address(Redaction.standard.url(base))
    }
    // URLComponents ends the process over parts that are not encoded, and a file may hold anything.
    guard PercentEncoding.isPathAndQuery(target) else { throw .address(Redaction.standard.archived(address: target)) }
    let pieces = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = pieces.first.map(String.init) ?? ""
    if !path.isEmpty {
      let stem = parts.percentEncodedPath
      parts.percentEncodedPath = (stem.hasSuffix("/") ? stem : stem + "/") + path
    }
    // The client's own parameters come first, as they do in every request of it.
    let queries = [parts.percentEncodedQuery, pieces.count > 1 ? String(pieces[1]) : nil].compactMap(\.self)
    let query = queries.filter { !$0.isEmpty }.joined(separator: "&")
    parts.percentEncodedQuery = query.isEmpty ? nil : query
    parts.percentEncodedFragment = nil
    guard let url = parts.url else { throw .address(Redaction.standard.archived(address: target)) }
    return url
  }
}
