import Combine
import Rebound

/// Lets no attempt through while the host that it goes to fails.
///
///     let policy = try CircuitBreakerPolicy(consecutiveFailures: 5)
///     Protecting(with: Keyed { host in
///       CircuitBreaker(host, policy: policy, countingAsFailure: NetworkFailure.speaksAgainstService)
///     })
///
/// Only what speaks against the service counts: statuses from 500, and what the network did; no refusal of the input, no
/// 429, no captive portal, no being offline. What is refused is ``NetworkFailure/Kind-swift.enum/circuitOpen``, which no
/// retry repeats.
public struct Protecting: Middleware {
  private let breaker: @Sendable (_ host: String) -> CircuitBreaker

  /// Makes the middleware.
  ///
  /// - Parameter breaker: The breaker of a host. Give it ``NetworkFailure/speaksAgainstService(_:)`` as what counts.
  public init(_ breaker: @escaping @Sendable (_ host: String) -> CircuitBreaker) {
    self.breaker = breaker
  }

  /// Makes the middleware, with one breaker for each host.
  ///
  /// - Parameter breakers: By host, with the port where there is one.
  public init(with breakers: Keyed<String, CircuitBreaker>) {
    self.breaker = { breakers[$0] }
  }

  /// Makes the middleware, with one breaker for all hosts.
  public init(with breaker: CircuitBreaker) {
    self.breaker = { _ in breaker }
  }

  /// Inside the authentication, around what the network does.
  public var place: MiddlewarePlace { .protection }

  /// Sends the request, if the breaker lets it through.
  public func exchange(
    _ request: HTTPRequest,
    next: @escaping @Sendable (HTTPRequest) -> HTTPExchange
  ) -> HTTPExchange {
    next(request)
      .protected(by: breaker(request.host), time: request.time) { open in
        request.tell(.refused(open))
        return request.failure(.circuitOpen, underlying: open)
      }
      .eraseToAnyPublisher()
  }
}

extension NetworkFailure {
  /// Whether an error says that the service is in trouble, for a circuit breaker.
  public static func speaksAgainstService(_ error: any Error) -> Bool {
    guard let failure = error as? NetworkFailure else { return true }
    switch failure.kind {
    case .serverError(let status): return status != 501 && status != 505
    case .transport(.offline), .transport(.cancelled), .transport(.body), .transport(.tooLarge): return false
    case .transport: return true
    default: return false
    }
  }
}
