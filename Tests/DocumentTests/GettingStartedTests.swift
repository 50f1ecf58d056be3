import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundPresentation
import ReboundTelemetry
import ReboundTesting
import Testing

/// The code of the articles on how to begin, as it stands there; that of a tool has a file of its own.
@Suite("The code of the articles on how to begin")
struct GettingStartedTests {
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

    init(transport: any Transport) throws {
      client = WebAPIClient(
        baseURL: URL(string: "https://api.example"),
        transport: transport,  // CurlTransport() in the program
        deliveringOn: nil
      )
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

    /// The answer to one request: status, pause, text.
    func answer(city: String) async -> (status: Int, retryAfter: Duration?, text: String) {
      do {
        let place = try await weather.run { try await client.value(of: Forecast(city: city)) }
        return (200, nil, "\(place.temperature) °C in \(place.name)")
      } catch {
        let failure = NetworkFailure(refusal: error)
        switch failure.kind {
        case .circuitOpen, .busy: return (503, failure.retryAfter, failure.localizedDescription)
        case .rateLimited: return (429, failure.retryAfter, failure.localizedDescription)
        case .notFound: return (404, nil, failure.localizedDescription)
        case .deadlineExceeded: return (504, nil, failure.localizedDescription)
        default: return (502, nil, failure.localizedDescription)
        }
      }
    }
  }

  private let scheduler = TestScheduler()

  @Test("a server that calls a service says when to come back while the service is out")
  func server() async throws {
    let transport = ScriptedTransport([.ok(#"{"name":"Rome","temperature":12}"#), .status(507)], repeatingLast: true)
    try await TimeSource.$current.withValue(scheduler.time) {
      let services = try Services(transport: transport)
      let reporting = services.events.report(to: services.metrics)

      #expect(await services.answer(city: "Rome") == (200, nil, "12.0 °C in Rome"))
      for _ in 1...5 { #expect(await services.answer(city: "Rome").status == 502) }
      let refused = await services.answer(city: "Rome")
      #expect(refused == (503, .seconds(30), "The service is in trouble."))
      #expect(transport.count == 6)

      reporting.cancel()
      let page = services.metrics.openMetrics(gauges: services.events.gauges)
      #expect(page.contains("rebound_breaker_open"))
    }
  }

  @Test("a screen keeps its error with a countdown, and tries again by itself")
  func app() {
    let transport = ScriptedTransport(
      [.status(503, retryAfter: 17), .ok(#"{"name":"Rome","temperature":12}"#)],
      time: scheduler.time
    )

    let client = WebAPIClient(
      baseURL: URL(string: "https://api.example"),
      transport: transport,  // URLSessionTransport() in the program
      deliveringOn: nil,  // left out in the program: the main queue
      time: scheduler.time
    )
    let forecast = RecoverableRequest(
      client.publisher(for: Forecast(city: "Rome")),
      scheduler: scheduler  // left out in the program: the main queue
    )
    forecast.load()
    scheduler.advance()
    #expect(forecast.state.problem?.secondsLeft == 17)
    scheduler.advance(by: .seconds(17))
    #expect(forecast.state.value?.name == "Rome")
    #expect(forecast.state.problem == nil)
  }

  @Test("a client waits for as long as the service asks")
  func waits() {
    let scheduler = TestScheduler()
    let transport = ScriptedTransport(
      [.status(503, retryAfter: 2), .ok(#"{"name":"Rome","temperature":12}"#)],
      time: scheduler.time
    )
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
