import Combine
import Foundation
import Rebound
import StreamSupport

/// Answers from copies that are still good, asks whether old ones are, and lets them stand in when the service fails.
///
///     Caching(in: HTTPCache(staleIfError: .seconds(86_400)))
///
/// Every response says where it comes from, how old it is and why it was used (``ResponseSource``), so that a screen can
/// say "saved copy". Copies of an address are forgotten when it is written to, also by a redirect and whatever ends the call
/// behind that, and what was asked for before is not kept; a copy is when an answer has come since that may not be kept. An
/// answer that redirects have led to is good for as long as they are.
///
/// To those who watch the client, the renewal of a copy that has answered already is a call of its own (RFC 5861 §3).
public struct Caching: HTTPMiddleware, HandlingMiddleware {
  /// An answer, or a failure, that is there already.
  private typealias Known = Result<HTTPResponse, NetworkFailure>.Publisher

  /// The statuses that say that there is nothing any more.
  private static let gone = [404, 410]

  /// The fields that ask for something else than the whole answer.
  private static let conditions = [
    "Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Range", "If-Unmodified-Since",
  ]

  private let cache: HTTPCache

  /// Makes the middleware.
  ///
  /// - Parameter cache: Where copies are kept; shared by all clients that may use each other's.
  public init(in cache: HTTPCache) {
    self.cache = cache
  }

  /// Around everything that costs time.
  public var place: MiddlewarePlace { .cache }

  func handle(_ request: HTTPRequest, for subscriber: AnswerSubscriber, next: RequestHandler) {
    guard let mode = mode(of: request) else {
      // Whoever wants copies alone does not ask the server, even where no copy could answer.
      if request.cacheMode == .onlyCached { return refuse(request, for: subscriber) }
      if request.message.method.isSafe { return next.handle(request.asked(in: cache.generation), subscriber) }
      return next(request).invalidating(cache, request).subscribe(subscriber)
    }
    let lookup = cache.lookup(request)
    if let look = cache.look(lookup.key, for: request) {
      look.flatMap { copy in RequestHandler { answer($0, mode, lookup, copy, for: $1, next) }(request) }.subscribe(
        subscriber
      )
    } else {
      let copy = cache.kept(for: lookup.key, answering: request.message)?.copy
      answer(request, mode, lookup, copy, for: subscriber, next)
    }
  }

  /// What the cache may do; `nil` if it has no part in the request.
  private func mode(of request: HTTPRequest) -> CacheMode? {
    let message = request.message
    guard message.method == .get else { return nil }
    let control = CacheControl(message.headers)
    let hasCondition = message.headers.contains { field in
      Caching.conditions.contains { HTTPHeaders.equal(field.name, $0) }
    }
    guard
      case .none = message.body, !hasCondition, !control.has("no-store"), request.cacheMode != .bypass
    else { return nil }
    return control.has("no-cache") && request.cacheMode == .standard ? .revalidate : request.cacheMode
  }

  private func answer(
    _ request: HTTPRequest,
    _ mode: CacheMode,
    _ lookup: HTTPCache.Lookup,
    _ copy: CachedCopy?,
    for subscriber: AnswerSubscriber,
    _ next: RequestHandler
  ) {
    guard let copy else {
      return mode == .onlyCached
        ? refuse(request, for: subscriber) : fetch(request, lookup, nil, for: subscriber, next)
    }
    let now = request.time.now
    switch mode {
    case .onlyCached:
      return use(copy, copy.isFresh(now: now) ? .fresh : .onlyCached, for: request, now: now).subscribe(subscriber)
    case .standard:
      if copy.isFresh(now: now) {
        return use(copy, .fresh, for: request, now: now).subscribe(subscriber)
      }
      if copy.mayBeRenewedLater(now: now) {
        let answer = use(copy, .staleWhileRevalidating, for: request, now: now)
        let renewal = RequestHandler { request, subscriber in
          let own = request.inAnotherCall
          own.tell(.began(own.message))
          RequestHandler { fetch($0, lookup, copy, for: $1, next) }(own).tellingEnd(of: own).subscribe(subscriber)
        }
        cache.renew(lookup.key, with: renewal(request).eraseToAnyPublisher())
        return answer.subscribe(subscriber)
      }
    case .revalidate, .bypass:
      break
    }
    fetch(request, lookup, copy, for: subscriber, next)
  }

  private func refuse(_ request: HTTPRequest, for subscriber: AnswerSubscriber) {
    request.tell(.cache(.miss))
    Fail(error: request.failure(.notCached)).subscribe(subscriber)
  }

  private func use(_ copy: CachedCopy, _ use: CacheUse, for request: HTTPRequest, now: Duration) -> Known {
    request.tell(.cache(.hit(use, age: copy.age(now: now))))
    return Known(copy.response(use, now: now))
  }

  /// Asks the server: whether the copy is still good, or for a new answer.
  private func fetch(
    _ plain: HTTPRequest,
    _ lookup: HTTPCache.Lookup,
    _ copy: CachedCopy?,
    for subscriber: AnswerSubscriber,
    _ next: RequestHandler
  ) {
    let request = plain.asked(in: lookup.generation)
    let question = copy?.question(request)
    request.tell(.cache(question == nil ? .miss : .revalidating))
    var next = next
    if question != nil, let copy {
      next = asking(about: copy, next) {
        cache.forget(copy, for: lookup, of: request)
        return request
      }
    }
    let answer = next(question ?? request).map { response -> HTTPResponse in
      let now = request.time.now
      if response.status == 304, let copy {
        let refreshed = copy.refreshed(by: response, now: now)
        keep(refreshed.mayBeKept ? refreshed : nil, lookup, request, insteadOf: copy)
        return refreshed.response(.revalidated, now: now)
      }
      let new = CachedCopy(response, to: request.message, now: now, unlessSaid: cache.staleIfError)
      let isLastWord = (200...299).contains(response.status) || Caching.gone.contains(response.status)
      keep(new, lookup, request, insteadOf: isLastWord ? copy : nil)
      return response
    }
    guard let copy else { return answer.subscribe(subscriber) }
    answer.catch { failure -> Known in
      if let status = failure.status, Caching.gone.contains(status) { cache.forget(copy, for: lookup, of: request) }
      let now = request.time.now
      guard failure.allowsStale, copy.mayStandIn(now: now, unlessSaid: cache.staleIfError) else {
        return Known(failure)
      }
      return use(copy, .staleIfError, for: request, now: now)
    }
    .subscribe(subscriber)
  }

  /// What sends a question about a copy, and the request without it if the answer speaks of another copy.
  private func asking(
    about copy: CachedCopy,
    _ next: RequestHandler,
    otherwise request: @escaping @Sendable () -> HTTPRequest
  ) -> RequestHandler {
    RequestHandler { question, subscriber in
      // The time of the call has begun, whichever of the two requests it takes.
      let deadline = question.timeLeft?.deadline
      next(question)
        .flatMap { response in
          RequestHandler { asked, subscriber in
            if response.status != 304 || copy.isMeant(by: response) {
              Known(response).subscribe(subscriber)
            } else {
              Deadline.replaced(by: deadline) { next.handle(request(), subscriber) }
            }
          }(question)
        }
        .subscribe(subscriber)
    }
  }

  /// Keeps an answer; where that is not to be, an older one may not come back, either.
  private func keep(
    _ new: CachedCopy?,
    _ lookup: HTTPCache.Lookup,
    _ request: HTTPRequest,
    insteadOf old: CachedCopy?
  ) {
    if let new, cache.keep(new, for: lookup, of: request) {
      request.tell(.cache(.stored))
    } else if let old {
      cache.forget(old, for: lookup, of: request)
    }
  }
}

extension NetworkFailure {
  /// Whether a copy that is too old may stand in: the service fails or is not reached, and has refused nothing.
  fileprivate var allowsStale: Bool {
    switch kind {
    case .transport(.tls), .transport(.cancelled), .transport(.body): false
    case .transport, .captivePortal, .circuitOpen, .busy, .rateLimited, .deadlineExceeded: true
    case .serverError(let status): [500, 502, 503, 504].contains(status)
    default: false
    }
  }
}

extension Publisher where Output == HTTPResponse, Failure == NetworkFailure {
  /// Tells those who watch how a call ends that nobody waits for.
  fileprivate func tellingEnd(of request: HTTPRequest) -> Publishers.HandleEvents<Self> {
    handleEvents(
      receiveOutput: { request.tell(.succeeded($0.source)) },
      receiveCompletion: { if case .failure(let failure) = $0 { request.tell(.failed(failure)) } },
      receiveCancel: { request.tell(.cancelled) }
    )
  }

  /// Forgets the copies of what a request has written to, and of what the servers name as changed (RFC 9111 §4.4).
  fileprivate func invalidating(_ cache: HTTPCache, _ request: HTTPRequest) -> Publishers.HandleEvents<Self> {
    let invalidation = Invalidation(request, cache)
    return handleEvents(
      receiveSubscription: { invalidation.begin($0) },
      receiveOutput: { invalidation.answer($0.head) },
      receiveCompletion: { if case .failure(let failure) = $0 { invalidation.fail(failure) } },
      receiveCancel: { invalidation.cancel() }
    )
  }
}

/// A request under way that is not safe, and what it makes a cache forget.
private final class Invalidation: Sendable {
  private struct State {
    var upstream: (any Subscription)?
    /// Where redirects had led by an answer that has come: who wants no more than that cancels.
    var known: Set<URL> = []
  }

  private let request: HTTPRequest
  private let cache: HTTPCache
  private let state = Locked(State())

  init(_ request: HTTPRequest, _ cache: HTTPCache) {
    (self.request, self.cache) = (request, cache)
  }

  func begin(_ upstream: any Subscription) {
    state.withLock { if $0.upstream == nil { $0.upstream = upstream } }
  }

  func answer(_ head: ResponseHead) {
    let written = request.call.written
    // Before anybody is told, who may cancel at once.
    state.withLock { $0.known.formUnion(written) }
    forget(request.written(head))
  }

  func fail(_ failure: NetworkFailure) { forget(request.written(failure)) }

  func cancel() {
    // Stopped before that is asked: until then a redirect may lead it on.
    state.withLock { $0.upstream.take() }?.cancel()
    let written = request.call.written
    forget(written.subtracting(state.withLock { $0.known }))
  }

  private func forget(_ written: Set<URL>) {
    guard !written.isEmpty else { return }
    cache.invalidate(written)
    request.tell(.cache(.invalidated))
  }
}

extension HTTPRequest {
  /// The same, for ``Coalescing``: what was asked for in another generation of the cache is not for this one.
  fileprivate func asked(in generation: Int) -> HTTPRequest {
    guard generation > 0 else { return self }
    var request = self
    request.change { $0.cacheGeneration = generation }
    return request
  }

  /// What it has written to, by an answer that is no error.
  fileprivate func written(_ head: ResponseHead) -> Set<URL> {
    call.written.union([message.url] + head.changedAddresses(at: head.redirectChain?.end ?? message.url))
  }

  /// What it has written to although it has failed: where redirects led before, and in whatever attempt.
  fileprivate func written(_ failure: NetworkFailure) -> Set<URL> {
    // A page for a browser is none of the server's.
    guard let head = failure.head, (200...399).contains(head.status), failure.kind != .captivePortal else {
      return call.written
    }
    return written(head)
  }
}
