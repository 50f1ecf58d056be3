import Backend
import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundTelemetry
import ServerTesting
import Testing

@testable import Weather

@Suite("WeatherService")
struct WeatherServiceTests {
  private struct Report: Decodable {
    let issued: Int
  }

  private func withService(
    key: String = "rebound",
    metrics: MetricsTable? = nil,
    events: PolicyEvents? = nil,
    _ body: (WeatherService, BackendServer) async throws -> Void
  ) async throws {
    let backend = try BackendServer(.init(database: ":memory:") { Issue.record("the backend failed: \($0)") })
    let url = try #require(URL(string: backend.url))
    let service = WeatherService(
      baseURL: url,
      key: key,
      transport: URLSessionTransport(),
      metrics: metrics,
      events: events
    )
    do {
      try await body(service, backend)
    } catch {
      await backend.stop()
      throw error
    }
    await backend.stop()
  }

  private func outcome(_ publisher: AnyPublisher<Weather, WeatherFailure>) async throws -> Result<Weather, any Error> {
    var iterator = publisher.values.makeAsyncIterator()
    do {
      return .success(try #require(try await iterator.next()))
    } catch {
      return .failure(error)
    }
  }

  private func issuedTokens(_ backend: BackendServer) async throws -> Int {
    let answer = try #require(try await LoopbackClient.request("GET", "/control/tokens", port: backend.port))
    return try JSONDecoder().decode(Report.self, from: answer.body).issued
  }

  @Test("the weather comes by name and by position, with one token for both")
  func weather() async throws {
    try await withService { service, backend in
      let byName = try await outcome(service.weather(at: .city("são paulo"))).get().city
      #expect(byName == "São Paulo")
      let place = Place.position(latitude: 53.5, longitude: 10)
      let byPosition = try await outcome(service.weather(at: place)).get().city
      #expect(byPosition == "Hamburg")
      let tokens = try await issuedTokens(backend)
      #expect(tokens == 1)
    }
  }

  @Test("thirty requests that are refused at the same time cause one refresh, and all succeed")
  func oneRefresh() async throws {
    try await withService { service, backend in
      _ = try await outcome(service.weather(at: .city("Rome"))).get()
      _ = try await LoopbackClient.request("DELETE", "/control/tokens", port: backend.port)
      let requests = (0..<30).map { _ in service.weather(at: .city("Oslo")) }
      let all = Publishers.MergeMany(requests).collect().values
      var iterator = all.makeAsyncIterator()
      let answers = try await iterator.next()?.count
      #expect(answers == 30)
      let tokens = try await issuedTokens(backend)
      #expect(tokens == 2)
    }
  }

  @Test("a wrong key is a failure of its own, and the right one mends it")
  func key() async throws {
    try await withService(key: "wrong") { service, _ in
      let refused = try await outcome(service.weather(at: .city("Rome")))
      guard case .failure(let error) = refused, case .invalidKey? = error as? WeatherFailure else {
        Issue.record("not refused for its key: \(refused)")
        return
      }
      service.use(key: "rebound")
      let city = try await outcome(service.weather(at: .city("Rome"))).get().city
      #expect(city == "Rome")
    }
  }

  @Test("a city that is not there is a failure of its own")
  func unknownCity() async throws {
    try await withService { service, _ in
      let outcome = try await outcome(service.weather(at: .city("Atlantis")))
      guard case .failure(let error) = outcome, case .unknownCity? = error as? WeatherFailure else {
        Issue.record("not unknown: \(outcome)")
        return
      }
    }
  }

  @Test("a service that answers is reachable at once")
  func reachable() async throws {
    try await withService { service, _ in
      for await _ in service.untilReachable().values {}
    }
  }

  @Test("requests and tokens are counted exactly, and neither city nor key is a label")
  func metrics() async throws {
    let metrics = MetricsTable()
    let events = PolicyEvents()
    let reports = events.report(to: metrics)
    try await withService(key: "wrong", metrics: metrics, events: events) { service, backend in
      _ = try await outcome(service.weather(at: .city("Rome")))
      service.use(key: "rebound")
      for city in ["Rome", "Oslo", "Lisbon", "Tokyo"] { _ = try await outcome(service.weather(at: .city(city))).get() }
      _ = try await outcome(service.weather(at: .city("Atlantis")))
      for await _ in service.untilReachable().values {}
      _ = try await LoopbackClient.post(
        #"{"path":"*","fault":"status","status":503}"#,
        to: "/control/faults",
        port: backend.port
      )
      _ = try await outcome(service.weather(at: .city("Rome")))
    }
    reports.cancel()
    func attempts(_ operation: String, _ outcome: String) -> Int? {
      metrics.snapshot.histograms[
        Metric("http_client_attempt_duration_seconds", .init("operation", operation), .init("outcome", outcome))
      ]?.count
    }
    #expect(attempts("AccessToken", "401") == 1)
    #expect(attempts("AccessToken", "201") == 1)
    #expect(attempts("CurrentWeather", "200") == 4)
    #expect(attempts("CurrentWeather", "404") == 1)
    #expect(attempts("CurrentWeather", "503") == 1)
    #expect(attempts("Health", "200") == 1)
    let decisions = metrics.snapshot.counters.filter { $0.key.name == "rebound_decisions" }
    let words = Dictionary(uniqueKeysWithValues: decisions.map { ($0.key.labels.last?.value, $0.value) })
    #expect(words == ["signed_in": 2, "refresh_begins": 2, "rejected": 1, "refreshed": 1])
    let page = metrics.openMetrics()
    for word in ["Rome", "Atlantis", "rebound\"", "wrong"] { #expect(!page.contains(word)) }
  }

  @Test("a service that fails opens the breaker, which refuses as a server error and closes once the service answers")
  func protection() async throws {
    let backend = try BackendServer(.init(database: ":memory:") { Issue.record("the backend failed: \($0)") })
    let protection = try WeatherProtection()
    let service = WeatherService(
      baseURL: try #require(URL(string: backend.url)),
      key: "rebound",
      transport: URLSessionTransport(),
      protection: protection
    )
    let fault = #"{"path":"/weather","fault":"status","status":503}"#
    _ = try await LoopbackClient.post(fault, to: "/control/faults", port: backend.port)
    for _ in 1...5 { _ = try await outcome(service.weather(at: .city("Rome"))) }
    #expect(protection.breaker.state == .open)
    let requests = try await outcome(service.weather(at: .city("Rome")))
    guard case .failure(WeatherFailure.server(let failure)) = requests, let retryAfter = failure.retryAfter else {
      Issue.record("\(requests)")
      return
    }
    #expect(retryAfter <= .seconds(4))
    for await _ in service.untilReachable().values {}
    #expect(protection.breaker.state == .closed)
    await backend.stop()
  }
}
