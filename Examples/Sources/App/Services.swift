import Foundation
import Rebound
import ReboundHTTP
import Weather

/// What the apps ask, shared by all sessions.
struct Services: Sendable {
  let backend: URL
  let transport: any Transport
  let savedWeather: LastGood<Place, Weather>
  /// How many retries the weather's service is to bear from all pages together.
  let weatherBudget: RetryBudget
  /// What keeps all pages' requests from the weather's service while it fails.
  let weatherProtection: WeatherProtection
  let metrics: ProgramMetrics

  /// Makes the services that a backend offers.
  ///
  /// - Parameters:
  ///   - backend: Its address.
  ///   - metrics: Gets what is measured.
  init(backend: URL, metrics: ProgramMetrics) throws {
    self.backend = backend
    self.metrics = metrics
    transport = URLSessionTransport()
    savedWeather = try LastGood(capacity: 200)
    weatherBudget = try .bucket()
    weatherProtection = try WeatherProtection()
    metrics.shared.watch(weatherBudget, named: Tab.weather.rawValue)
    metrics.shared.watch(weatherProtection.breaker)
    metrics.shared.watch(weatherProtection.limiter)
  }
}
