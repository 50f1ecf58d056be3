import Foundation
import Rebound

/// What a request says about itself, read once for each call.
///
/// Made where the type of the request is known, so that nothing behind it depends on that type: code for any request
/// looks up what it needs anew each time, which takes longer than the work itself.
@usableFromInline
final class RequestParts: Sendable {
  /// Made anew each time: most calls end without anybody asking for it, and to make it of a type takes long.
  @usableFromInline let operation: @Sendable () -> String
  @usableFromInline let baseURL: URL?
  @usableFromInline let path: RequestPath
  @usableFromInline let query: Parameters
  @usableFromInline let method: HTTPMethod
  @usableFromInline let headers: HTTPHeaders
  @usableFromInline let body: RequestBody
  @usableFromInline let errorParser: ErrorParser
  @usableFromInline let validator: ResponseValidator?
  @usableFromInline let validStatuses: ClosedRange<Int>
  @usableFromInline let limits: TransportLimits?
  @usableFromInline let deadline: Duration?
  @usableFromInline let idempotency: Idempotency
  @usableFromInline let isAuthenticated: Bool
  @usableFromInline let cacheMode: CacheMode
  @usableFromInline let priority: HTTPPriority?
  /// What the parser accepts.
  @usableFromInline let accept: String?
  /// Whether the parser takes a page for a browser.
  @usableFromInline let takesWebPages: Bool

  /// - Parameter parser: The request's, which is asked for once only: it may be made anew each time.
  @inlinable
  init<R: Request>(_ request: R, _ parser: ResponseParser<R.Response>) {
    operation = { request.operation }
    baseURL = request.baseURL
    path = request.path
    query = request.query
    method = request.method
    headers = request.headers
    body = request.body
    errorParser = request.errorParser
    validator = request.validator
    validStatuses = request.validStatuses
    limits = request.limits
    deadline = request.deadline
    idempotency = request.idempotency
    isAuthenticated = request.isAuthenticated
    cacheMode = request.cacheMode
    priority = request.priority
    accept = parser.accept
    takesWebPages = parser.takesWebPages
  }

  /// Of a request that no client has made.
  init(
    _ message: TransportRequest,
    operation: String,
    timeLimit: Duration?,
    isIdempotent: Bool?,
    isAuthenticated: Bool,
    cacheMode: CacheMode
  ) {
    self.operation = { operation }
    (baseURL, path, query, method, headers) = (nil, "", [:], message.method, message.headers)
    (body, errorParser, validator, validStatuses) = (.none, .standard, nil, 200...299)
    (limits, deadline) = (message.limits, timeLimit)
    idempotency = isIdempotent.map { $0 ? .idempotent : .notIdempotent } ?? .byMethod
    (self.isAuthenticated, self.cacheMode, priority) = (isAuthenticated, cacheMode, message.priority)
    (accept, takesWebPages) = (nil, true)
  }

  /// Whether sending it twice has the effect of sending it once.
  var isIdempotent: Bool {
    switch idempotency {
    case .byMethod: method.isIdempotent
    case .notIdempotent: false
    case .idempotent, .key, .generatedKey: true
    }
  }
}
