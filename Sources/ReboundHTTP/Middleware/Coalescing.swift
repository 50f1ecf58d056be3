import Combine
import Rebound

/// Sends one request where several ask for the same thing at the same time.
///
/// The same thing is the same address with the same header fields, asked for by the same user with a safe method, and
/// with the same limit of time, by requests of the same name that find the same answers valid: what one of them refuses,
/// another could have taken. After ``Caching`` has forgotten an address, none joins what was asked for before. A caller whose
/// `Deadline.current` or ``HTTPRequest/deadline`` is over leaves, and ends no other's call. The last one that loses
/// interest cancels it; a failure is shared, too, and not kept.
public struct Coalescing: HTTPMiddleware, HandlingMiddleware {
  private struct Key: Hashable, Sendable {
    let method: HTTPMethod
    let url: String
    let headers: [HTTPHeaders.Field]
    let identity: String?
    let isAuthenticated: Bool
    let timeLimit: Duration?
    let mode: CacheMode
    let question: CopyQuestion?
    let cacheGeneration: Int
    // What an answer is judged by. Whether two validators are the same nobody knows, but they belong to an operation.
    let operation: String
    let validStatuses: ClosedRange<Int>
    let takesWebPages: Bool
    let hasValidator: Bool

    /// The address tells nearly all apart, and a hash is made several times in a call.
    func hash(into hasher: inout Hasher) { hasher.combine(url) }
  }

  private let coalescer = Coalescer<Key, HTTPResponse, NetworkFailure>()

  /// Makes the middleware; requests join those that go through the same one.
  public init() {}

  /// Inside the cache, around the retries.
  public var place: MiddlewarePlace { .coalescing }

  func handle(_ request: HTTPRequest, for subscriber: AnswerSubscriber, next: RequestHandler) {
    guard request.destination == nil, request.message.method.isSafe, case .none = request.message.body else {
      return next.handle(request, subscriber)
    }
    let key = Key(
      method: request.message.method,
      url: request.message.url.absoluteString,
      // Each call has an id of its own.
      headers: request.message.headers.filter { !HTTPHeaders.equal($0.name, "X-Request-ID") },
      identity: request.identity,
      isAuthenticated: request.isAuthenticated,
      timeLimit: request.timeLimit,
      mode: request.cacheMode,
      question: request.question,
      cacheGeneration: request.cacheGeneration,
      operation: request.operation,
      validStatuses: request.call.validStatuses,
      takesWebPages: request.call.takesWebPages,
      hasValidator: request.call.validator != nil
    )
    // What all share runs under the limit of their requests alone; the time of a caller is the end of that one's wait.
    var common = request
    if common.deadline != nil { common.deadline = nil }
    let shared = next(common).coalesced(by: coalescer, for: key)
    guard let deadline = request.outerDeadline, !deadline.isEnforced else { return shared.subscribe(subscriber) }
    request.ended(shared, after: deadline.remaining).subscribe(subscriber)
  }
}
