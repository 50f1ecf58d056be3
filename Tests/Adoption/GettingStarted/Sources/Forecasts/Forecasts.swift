// A library that takes policies from its user, of the article "A library".
import Rebound

/// What the library hands out.
public struct Forecast: Hashable, Sendable {
  /// The city's name.
  public let city: String
  /// In degrees Celsius.
  public let degrees: Double

  /// Makes a forecast.
  public init(city: String, degrees: Double) {
    (self.city, self.degrees) = (city, degrees)
  }
}

/// What can go wrong.
///
/// Policies ask two things of it: whether the same call may work later, and when.
public enum ForecastFailure: Error, Hashable, RetryAfterProviding {
  case unknownCity
  case unreachable
  case busy(retryAfter: Duration)

  /// Whether the same call may work later.
  public var isTransient: Bool { self != .unknownCity }

  /// How long the service asks to be left alone.
  public var retryAfter: Duration? {
    if case .busy(let pause) = self { pause } else { nil }
  }

  /// The same question of any error, for the conditions of policies.
  public static func isTransient(_ error: any Error) -> Bool { (error as? ForecastFailure)?.isTransient ?? false }
}

/// Forecasts of a service.
public struct Forecasts: Sendable {
  private let policies: Pipeline<Forecast>?
  private let fetch: @Sendable (String) async throws -> Forecast

  /// Makes a client of the service.
  ///
  /// - Parameters:
  ///   - policies: Stand around each call, which may be made twice without harm; `nil` for none.
  ///   - fetch: Asks the service once.
  public init(
    policies: Pipeline<Forecast>? = nil,
    fetching fetch: @escaping @Sendable (String) async throws -> Forecast
  ) {
    (self.policies, self.fetch) = (policies, fetch)
  }

  /// The forecast for a city.
  public func forecast(for city: String) async throws -> Forecast {
    guard let policies else { return try await fetch(city) }
    return try await policies.run { [fetch] in try await fetch(city) }
  }
}

extension Forecasts {
  /// Policies for users who have none of their own.
  ///
  /// A breaker is in them, so make them once for a process.
  public static func recommendedPolicies(events: PolicyEvents? = nil) throws -> Pipeline<Forecast> {
    try Pipeline<Forecast>("forecasts", events: events) {
      Timeout(total: .seconds(10))
      Retry(when: ForecastFailure.isTransient, budget: try .ratio(0.2))
      CircuitBreaker("forecasts", policy: try .consecutive(5), failingWhen: ForecastFailure.isTransient)
    }
  }
}
