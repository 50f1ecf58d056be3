// What a server of the article "A server that calls other services" shares.
import Foundation
import Rebound
import ReboundHTTP
import ReboundTelemetry

struct Place: Decodable, Sendable {
  let name: String
  let temperature: Double
}

struct Forecast: Request {
  let city: String
  var path: RequestPath { "forecast" }
  var query: Parameters { ["q": city] }
  typealias Response = Place
}

/// What the process shares; made once, when it starts.
struct Services: Sendable {
  let client: WebAPIClient
  let weather: Pipeline<Place>
  let events = PolicyEvents()
  let metrics = MetricsTable()

  init(baseURL: URL) throws {
    #if Curl && os(Linux)  // where a server can stop a process that uses URLSession
      let transport = CurlTransport()
    #else
      let transport = URLSessionTransport()
    #endif
    client = WebAPIClient(baseURL: baseURL, transport: transport, deliveringOn: nil)
    weather = try Pipeline<Place>("weather", events: events) {
      Bulkhead("weather", policy: try BulkheadPolicy(maxConcurrent: 100))
      Timeout(TimeoutPolicy.total(.seconds(5)).cooperative())
      Retry(RetryPolicy<NetworkFailure>.http, budget: try .ratio(0.2))
      CircuitBreaker(
        "weather",
        policy: try .consecutive(5, openFor: .seconds(30)),
        failingWhen: NetworkFailure.speaksAgainstService
      )
    }
  }

  func answer(city: String) async -> (status: Int, text: String) {
    do {
      let place = try await weather.run { try await client.value(of: Forecast(city: city)) }
      return (200, "\(place.temperature) °C in \(place.name)")
    } catch {
      return (503, NetworkFailure(refusal: error).localizedDescription)
    }
  }
}
