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
  /// A request, by what others must have in common with it to share its answer.
  ///
  /// Most requests are alone with their address, and nothing else of them is looked at.
  private final class Key: Hashable, Sendable {
    private let request: HTTPRequest
    // Asked for here: it is the caller's code, and keys are compared with a lock held.
    private let operation: String
    // Of the address. Each is looked up twice.
    private let hash: Int

    init(_ request: HTTPRequest) {
      (self.request, operation, hash) = (request, request.operation, request.message.address.text.hashValue)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    static func == (one: Key, other: Key) -> Bool {
      // Whoever is alone is looked up by its own key when it ends.
      if one === other { return true }
      let (left, right) = (one.request, other.request)
      return one.hash == other.hash && left.message.address.text == right.message.address.text
        && left.message.method == right.message.method
        && left.message.headers.lazy.filter(isShared).elementsEqual(right.message.headers.lazy.filter(isShared))
        && left.identity == right.identity && left.isAuthenticated == right.isAuthenticated
        && left.timeLimit == right.timeLimit && left.cacheMode == right.cacheMode && left.question == right.question
        && left.cacheGeneration == right.cacheGeneration && one.operation == other.operation
        && isJudgedAlike(left, right)
    }

    /// Each call has an id of its own.
    private static func isShared(_ field: HTTPHeaders.Field) -> Bool { !HTTPHeaders.equal(field.name, "X-Request-ID") }

    /// Whether the same answers are valid; whether two validators are the same nobody knows, but they belong to an operation.
    private static func isJudgedAlike(_ left: HTTPRequest, _ right: HTTPRequest) -> Bool {
      left.call.validStatuses == right.call.validStatuses && left.call.takesWebPages == right.call.takesWebPages
        && (left.call.validator == nil) == (right.call.validator == nil)
    }
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
    // What all share runs under the limit of their requests alone; the time of a caller is the end of that one's wait.
    var common = request
    if common.deadline != nil { common.deadline = nil }
    let shared = next(common).coalesced(by: coalescer, for: Key(common))
    guard let deadline = request.outerDeadline, !deadline.isEnforced else { return shared.subscribe(subscriber) }
    request.ended(shared, after: deadline.remaining).subscribe(subscriber)
  }
}
