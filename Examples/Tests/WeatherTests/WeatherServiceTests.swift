import Backend
import Combine
import Foundation
import ReboundHTTP
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
    _ body: (WeatherService, BackendServer) async throws -> Void
  ) async throws {
    let backend = try BackendServer(.init(database: ":memory:") { Issue.record("the backend failed: \($0)") })
    let url = try #require(URL(string: backend.url))
    let service = WeatherService(baseURL: url, key: key, transport: URLSessionTransport())
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
}
