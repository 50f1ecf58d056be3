import Combine
import Rebound

/// Lets no more attempts begin in a time than a host allows, and lets all of them pause when it says that there were too
/// many.
///
///     RateLimiting(try .tokenBucket(20, per: .seconds(1)).waiting(atMost: .seconds(5)))
///
/// One 429, or any other failure that asks for a pause by Retry-After, is for all calls to that host: none of them begins
/// before the pause is over, and then fewer do for a while; see `RateLimiter`. What may not begin is
/// ``NetworkFailure/Kind-swift.enum/rateLimited``, with how long it would have to wait; ``Retrying`` waits that long if its
/// policy allows it. A call whose time is over, or that is cancelled, while it waits gives its place to those behind it.
///
/// It stands inside the retries, not around them, since it counts what is sent: each retry, each hedge and what is sent once
/// more with a new credential takes a turn of its own, and each answer is heeded. An attempt is one turn with all its
/// redirects, at the host that it begins at. Given before ``Protecting``, which stands at the same place, it is outside of
/// that: to wait for a turn is then nothing that the breaker measures.
///
/// - Demand: The turn is taken, or waited for, upon the subscription; nothing is sent before a value is requested.
public struct RateLimiting: HTTPMiddleware, HandlingMiddleware {
  private let limiter: @Sendable (_ host: String) -> RateLimiter

  /// Makes the middleware, with a limiter for each host, which has the host's name.
  ///
  /// - Parameters:
  ///   - policy: How many attempts may begin in a time, and how long one waits for its turn.
  ///   - observer: Told each decision, in order for each host, with no lock held.
  public init(_ policy: RateLimiterPolicy, onEvent observer: (@Sendable (RateLimiterEvent) -> Void)? = nil) {
    self.init(
      with: Keyed { host in
        let limiter = RateLimiter(host, policy: policy, throttledWhen: NetworkFailure.asksForFewerCalls)
        return observer.map(limiter.onEvent) ?? limiter
      }
    )
  }

  /// Makes the middleware, with one limiter for each host.
  ///
  /// - Parameter limiters: By host, with the port where there is one. Give them ``NetworkFailure/asksForFewerCalls(_:)`` as what
  ///   throttles them.
  public init(with limiters: Keyed<String, RateLimiter>) {
    limiter = { limiters[$0] }
  }

  /// Makes the middleware, with one limiter for all hosts.
  ///
  /// - Parameter limiter: Give it ``NetworkFailure/asksForFewerCalls(_:)`` as what throttles it; else a 429 that asks for no pause
  ///   does not.
  public init(with limiter: RateLimiter) {
    self.limiter = { _ in limiter }
  }

  /// Inside the retries and the authentication, around what the network does.
  public var place: MiddlewarePlace { .protection }

  func handle(_ request: HTTPRequest, for subscriber: AnswerSubscriber, next: RequestHandler) {
    next(request)
      .rateLimited(by: limiter(request.host), time: request.time) { refusal in
        request.tell(.decided(RateLimiterEvent.rejected(retryAfter: refusal.retryAfter ?? .zero)))
        return request.failure(.rateLimited, underlying: refusal)
      }
      .subscribe(subscriber)
  }
}

extension NetworkFailure {
  /// Whether an error says that the service is called too often, for a rate limiter.
  ///
  /// A 429 does, and whatever else asks for a pause, such as a 503 with Retry-After; what this program itself has refused
  /// does not.
  public static func asksForFewerCalls(_ error: any Error) -> Bool {
    let error = error.withoutTrace
    return (error as? NetworkFailure)?.kind == .tooManyRequests || RateLimiter.asksForPause(error)
  }
}
