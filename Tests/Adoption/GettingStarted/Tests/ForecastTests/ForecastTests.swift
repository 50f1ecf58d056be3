import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

@Suite("A client of the forecast")
struct ForecastTests {
  private struct Place: Decodable, Sendable {
    let name: String
  }

  private struct Forecast: Request {
    let city: String
    var path: RequestPath { "forecast" }
    var query: Parameters { ["q": city] }
    typealias Response = Place
  }

  @Test("waits for as long as the service asks")
  func waits() {
    let scheduler = TestScheduler()
    let transport = ScriptedTransport([.status(503, retryAfter: 2), .ok(#"{"name":"Rome"}"#)], time: scheduler.time)
    let client = WebAPIClient(
      baseURL: URL(string: "https://api.example"),
      transport: transport,
      middleware: [Retrying(.http(RetryPolicy(clamping: 1, backoff: .immediate)))],
      deliveringOn: nil,
      time: scheduler.time
    )
    let recorder = Recorder<Place, NetworkFailure>(on: scheduler)
    client.publisher(for: Forecast(city: "Rome")).subscribe(recorder)

    scheduler.advance(by: .seconds(2))
    #expect(recorder.values.map(\.name) == ["Rome"])
    #expect(transport.calls.map(\.time) == [.zero, .seconds(2)])
  }
}
