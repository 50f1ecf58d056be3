import Combine
import Rebound
import StreamSupport

/// Sends a second attempt where the first is slow, and takes whichever answers first.
///
///     Hedging(.http)
///     Hedging(try HedgePolicy(delay: .percentile(0.95, of: recorder)).within(budget))
///
/// Whatever the policy says, only such requests are hedged as have the same answer when they are under way twice at the same
/// time: those that only read, and a PUT without conditions, unless ``Request/idempotency`` says that they are not idempotent;
/// with no body but one in memory, and with an answer that goes into memory. All others are passed on as they are: the second
/// DELETE, and a write with a condition, would be told that the first has been there, and where there is an idempotency key
/// a service that is still busy with the first may answer with a conflict. What takes long because it is long would only be
/// sent twice. A write that has lost may arrive after the one that has won; where another write may follow at once, leave the
/// hedging to a client of its own for what only reads.
///
/// Progress is that of all attempts: where two are under way, it may go back.
///
/// The attempt that has lost is cancelled. A failure that is worth another attempt begins the hedge at once; after one that
/// asks for a pause, is this program's own refusal, or means that there is no network, none begins, and what is under way
/// goes on. When all have failed, the failure is the last one, with the others in its ``NetworkFailure/earlier`` and the
/// longest pause that one of them has asked for.
///
/// It stands inside the retries: each attempt of those may be hedged, and a hedge is not retried by itself. A hedge has an
/// attempt number of its own, in events, failures and traces, and takes a turn of each limiter and breaker further inside.
/// What the policy decides is told as ``HTTPEvent/Kind-swift.enum/decided(_:)``. A deadline ends all attempts.
///
/// - Demand: Nothing is late before a value is requested.
public struct Hedging: HTTPMiddleware, HandlingMiddleware {
  /// How many attempts may follow the first, and when.
  public let policy: HedgePolicy<NetworkFailure>
  /// The same, for what the network does.
  private let safe: HedgePolicy<NetworkFailure>

  /// Makes the middleware.
  ///
  /// - Parameter policy: How many attempts may follow the first, and when. Give it the budget of the retries, if there is one.
  public init(_ policy: HedgePolicy<NetworkFailure> = .http) {
    self.policy = policy
    safe = .http(policy)
  }

  /// Inside the retries, around the authentication.
  public var place: MiddlewarePlace { .hedging }
  /// With the number of hedges.
  public var name: String { "Hedging(\(policy.maxHedges))" }

  func handle(_ request: HTTPRequest, for subscriber: AnswerSubscriber, next: RequestHandler) {
    guard request.mayBeHedged else { return next.handle(request, subscriber) }
    let race = RequestRace(of: request, next: next)
    safe.onEvent { race.learn($0) }
      .publisher(time: request.time) { race.attempt($0) }
      .mapError { race.last($0) }
      .subscribe(subscriber)
  }
}

extension HedgePolicy<NetworkFailure> {
  /// One hedge after 2 s, of attempts that may be made again.
  public static var http: HedgePolicy { http(.standard) }

  /// The same policy, for attempts that may be made again: see ``NetworkFailure/isRetryable``.
  ///
  /// After a failure that another attempt at once cannot mend no more hedges begin, but nothing that is under way ends by
  /// it.
  public static func http(_ policy: HedgePolicy) -> HedgePolicy {
    let asked = policy.hint
    let safe = policy.when { $0.isRetryable || $0.isRefusal }
      .hinted { failure in asked(failure) ?? (failure.needsTime ? .zero : nil) }
    return safe.exhaustion == nil ? safe.onExhaustion { $0.errors.last?.error ?? $0.underlying } : safe
  }
}

extension NetworkFailure {
  /// Whether another attempt at once fails as well.
  fileprivate var needsTime: Bool { isRefusal || retryLimit != nil || kind == .transport(.offline) }
}

extension HTTPRequest {
  /// Whether it may be under way twice at the same time, and gets the same answer each time.
  fileprivate var mayBeHedged: Bool {
    guard destination == nil, isIdempotent, !message.headers.contains(name: "Idempotency-Key") else { return false }
    switch message.body {
    case .none, .data: break
    case .file, .stream: return false
    }
    if message.method.isSafe { return true }
    return message.method == .put
      && !["If-Match", "If-None-Match", "If-Unmodified-Since"].contains { message.headers.contains(name: $0) }
  }
}

/// The attempts of one request that are under way side by side.
private final class RequestRace: Sendable {
  private struct State {
    var running = 1
    /// What the last attempt has failed with, while it may be what the race ends with.
    var last: NetworkFailure?
    var pause: Duration?
  }

  private let request: HTTPRequest
  private let handler: RequestHandler
  private let state = Locked(State())

  init(of request: HTTPRequest, next handler: RequestHandler) {
    (self.request, self.handler) = (request, handler)
  }

  func attempt(_ hedge: Int) -> RequestHandler.Answer {
    // All attempts of the call come through here, so no two have one number.
    let before = hedge == 0 ? request.call.hedges.count : request.call.hedges.next()
    return handler(request.attempt(request.attempt + before))
  }

  /// What the policy has decided.
  func learn(_ event: HedgeEvent) {
    let known: NetworkFailure? = state.withLock { state in
      switch event {
      case .begins:
        state.running += 1
        return state.last.take()
      case .failed(_, let error as NetworkFailure, let isFatal, _):
        state.running -= 1
        if let pause = error.retryAfter { state.pause = max(state.pause ?? pause, pause) }
        if isFatal { return nil }
        if state.running > 0 { return error }
        state.last = error
        return nil
      default: return nil
      }
    }
    if let known { request.call.keep(known) }
    request.tell(.decided(event))
  }

  /// What the race ends with.
  func last(_ failure: NetworkFailure) -> NetworkFailure {
    var failure = request.call.withEarlier(failure)
    if let pause = state.withLock({ $0.pause }), pause > failure.retryAfter ?? .zero { failure.retryAfter = pause }
    return failure
  }
}
