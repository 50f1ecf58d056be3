import Combine
import Rebound

/// Lets no attempt through while the host that it goes to fails.
///
///     Protecting(try .consecutive(5, openFor: .seconds(30)))
///
/// Only what speaks against the service counts: statuses from 500, but for 501, 505 and 511, and what the network did,
/// timeouts included; no refusal of the input, no 404, no 429, no captive portal, no being offline, no cancel. What is
/// refused is ``NetworkFailure/Kind-swift.enum/circuitOpen``, which no retry repeats.
///
/// Calls that are under way when the breaker opens go on: of many that begin at the same moment all are sent, whatever
/// becomes of the first.
public struct Protecting: HTTPMiddleware, HandlingMiddleware {
  private let breaker: @Sendable (_ host: String) -> CircuitBreaker

  /// Makes the middleware, with a breaker for each host, which has the host's name.
  ///
  /// - Parameters:
  ///   - policy: When a breaker opens, and what lets it close again.
  ///   - random: Where the jitter of open times gets its randomness.
  ///   - observer: Told each change and each refusal, in order for each host, with no lock held.
  public init(
    _ policy: CircuitBreakerPolicy,
    random: RandomSource = .system,
    onEvent observer: (@Sendable (CircuitBreakerEvent) -> Void)? = nil
  ) {
    self.init(
      with: Keyed { host in
        let breaker = CircuitBreaker(
          host,
          policy: policy,
          random: random,
          failingWhen: NetworkFailure.speaksAgainstService
        )
        return observer.map(breaker.onEvent) ?? breaker
      }
    )
  }

  /// Makes the middleware.
  ///
  /// - Parameter breaker: The breaker of a host. Give it ``NetworkFailure/speaksAgainstService(_:)`` as what counts.
  public init(_ breaker: @escaping @Sendable (_ host: String) -> CircuitBreaker) {
    self.breaker = breaker
  }

  /// Makes the middleware, with one breaker for each host.
  ///
  /// - Parameter breakers: By host, with the port where there is one. Give them ``NetworkFailure/speaksAgainstService(_:)``
  ///   as what counts.
  public init(with breakers: Keyed<String, CircuitBreaker>) {
    self.breaker = { breakers[$0] }
  }

  /// Makes the middleware, with one breaker for all hosts.
  ///
  /// - Parameter breaker: Give it ``NetworkFailure/speaksAgainstService(_:)`` as what counts; else each 404 does, too.
  public init(with breaker: CircuitBreaker) {
    self.breaker = { _ in breaker }
  }

  /// Inside the authentication, around what the network does.
  public var place: MiddlewarePlace { .protection }

  func handle(_ request: HTTPRequest, for subscriber: AnswerSubscriber, next: RequestHandler) {
    next(request)
      .protected(by: breaker(request.host), time: request.time) { (error: any Error) in
        if let open = error as? CircuitOpen { request.tell(.refused(open)) }
        return request.failure(.circuitOpen, underlying: error)
      }
      .subscribe(subscriber)
  }
}

extension NetworkFailure {
  /// Whether an error says that the service is in trouble, for a circuit breaker.
  ///
  /// Of errors of other types, those of policies count as the failures that they become, and all others do.
  public static func speaksAgainstService(_ error: any Error) -> Bool {
    let failure = NetworkFailure(refusal: error)
    switch failure.kind {
    case .deadlineExceeded: return true
    case .other: return !(error.withoutTrace is NetworkFailure || failure.underlying is TokenRefreshFailure)
    case .serverError(let status): return status != 501 && status != 505
    case .transport(.offline), .transport(.cancelled), .transport(.body), .transport(.tooLarge): return false
    case .transport: return true
    default: return false
    }
  }
}
