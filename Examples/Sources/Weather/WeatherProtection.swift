import Combine
import Rebound
import ReboundHTTP

/// What keeps requests from a weather service that fails, and paces them: shared by all who ask it.
public struct WeatherProtection: Sendable {
  /// Refuses for a moment after five failures in a row.
  public let breaker: CircuitBreaker
  /// Lets twenty requests begin in a second; more wait their turn.
  public let limiter: RateLimiter

  /// Makes a breaker that is closed, and a limiter that has seen nothing.
  ///
  /// - Throws: `InvalidPolicy`, if its own numbers made no sense.
  public init() throws {
    breaker = CircuitBreaker(
      "weather",
      // Not longer than the screen's retries wait for a hint.
      policy: try .consecutive(5, openFor: .seconds(4)),
      failingWhen: NetworkFailure.speaksAgainstService
    )
    limiter = RateLimiter(
      "weather",
      policy: try .tokenBucket(20, per: .seconds(1)).waiting(atMost: .seconds(5)),
      // A person who tries again before the pause is over that the service has asked for is let through.
      throttledWhen: { _ in false }
    )
  }

  var middleware: [any HTTPMiddleware] { [Pacing(limiter: limiter), Protecting(with: breaker)] }
}

/// Lets each attempt begin when a rate limiter says so.
private struct Pacing: HTTPMiddleware {
  let limiter: RateLimiter

  var place: MiddlewarePlace { .protection }

  func answer(
    _ request: HTTPRequest,
    next: @escaping @Sendable (HTTPRequest) -> HTTPAnswer
  ) -> HTTPAnswer {
    next(request).rateLimited(by: limiter, time: request.time).eraseToAnyPublisher()
  }
}
