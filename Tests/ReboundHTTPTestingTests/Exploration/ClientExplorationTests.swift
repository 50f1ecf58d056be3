import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

/// A client with all that it usually has, over a network with every fault, under many schedules.
@Suite struct ClientExplorationTests {
  private struct Weather: Decodable, Sendable, Equatable {
    let city: String
    let degrees: Int
  }

  private struct Now: Request {
    let city: String
    var path: RequestPath { "now/\(city)" }
    typealias Response = Weather
  }

  private struct Renew: Request {
    var method: HTTPMethod { .post }
    var path: RequestPath { "token" }
    var parser: ResponseParser<String> { .text }
    var isAuthenticated: Bool { false }
    var idempotency: Idempotency { .idempotent }
  }

  /// Its tokens are good for three requests each.
  private actor Service {
    private var uses: [String: Int] = [:]
    private var tokenCount = 0

    func answer(_ request: SimulatedRequest) -> SimulatedResponse {
      if request.path == "/token" {
        tokenCount += 1
        return SimulatedResponse(200, ["Content-Type": "text/plain"], Data("token \(tokenCount)".utf8))
      }
      let token = request.headers["Authorization"] ?? ""
      guard token == "token \(tokenCount)", uses[token, default: 0] < 3 else { return .status(401) }
      uses[token, default: 0] += 1
      let city = request.url.lastPathComponent
      return .json(#"{"city": "\#(city)", "degrees": \#(city.count)}"#, ["Cache-Control": "max-age=1"])
    }
  }

  @Test func everyCallEndsWithItsOwnAnswerOrAFailureAndTheClientRecovers() throws {
    try Exploration.explore {
      let network = SimulatedNetwork(link: SimulatedLink(loss: 0.02, faultRate: 0.2))
      let service = Service()
      network.serve("weather.example") { await service.answer($0) }
      let base = URL(string: "https://weather.example")
      let plain = WebAPIClient(
        baseURL: base,
        transport: network.transport(),
        middleware: [Retrying(.http(RetryPolicy(clamping: 2, backoff: .constant(.seconds(1)))))]
      )
      let refresher = TokenRefresher<String>(rejectedWhen: { (_: NetworkFailure) in false }) {
        () async throws(NetworkFailure) in try await plain.value(of: Renew())
      }
      let client = WebAPIClient(
        baseURL: base,
        transport: network.transport(),
        middleware: [
          Retrying(.http(RetryPolicy(clamping: 3, backoff: .constant(.seconds(1))))),
          Caching(in: HTTPCache()),
          Coalescing(),
          Authenticating(with: refresher) { $0["Authorization"] = $1 },
          Protecting(try .consecutive(4, openFor: .seconds(5))),
        ]
      )
      let cities = ["Rome", "Bergen", "Wellington"]
      let results = try await Exploration.crowd(6) { number in
        let weather = try await client.value(of: Now(city: cities[number % 3]))
        try requireEqual(weather, Weather(city: cities[number % 3], degrees: cities[number % 3].count))
      }
      for case .failure(let error) in results {
        try requireTrue(error is NetworkFailure || error is CancellationError, "\(error)")
      }
      network.connect("client", "weather.example", by: .perfect)
      try await TimeSource.current.sleep(for: .seconds(600))
      try requireEqual(try await client.value(of: Now(city: "Oslo")), Weather(city: "Oslo", degrees: 4))
    }
  }
}
