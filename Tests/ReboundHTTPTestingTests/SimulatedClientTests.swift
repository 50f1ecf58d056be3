import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

/// A client runs in a simulation without one more parameter.
@Suite struct SimulatedClientTests {
  @Test func aClientRetriesInVirtualTime() throws {
    struct Weather: Decodable, Sendable, Equatable { let degrees: Int }
    struct Now: Request {
      var path: RequestPath { "weather" }
      typealias Response = Weather
    }
    let report = try Simulation(seed: 1).run {
      let transport = ScriptedTransport([.status(503, retryAfter: 20), .ok(#"{"degrees": 21}"#)], time: .current)
      let client = WebAPIClient(
        baseURL: URL(string: "https://weather.example"),
        transport: transport,
        deliveringOn: nil
      )
      let policy = RetryPolicy<any Error>(clamping: 2, backoff: .constant(.seconds(20)))
      let weather = try await policy.run { try await client.value(of: Now()) }
      try requireEqual(weather, Weather(degrees: 21))
    }
    #expect(report.duration >= .seconds(20))
  }
}
