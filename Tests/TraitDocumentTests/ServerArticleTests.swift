#if Redis
  import Foundation
  import Rebound
  import ReboundHTTP
  import ReboundHTTPTesting
  import ReboundRedis
  import ReboundTesting
  import Testing

  /// The code of Sources/ReboundHTTP/ReboundHTTP.docc/A-server.md on two processes, as it stands there.
  @Suite("The code of the article on a server, of two processes")
  struct ServerArticleTests {
    struct Place: Decodable, Sendable {
      let name: String
    }

    struct Forecast: Request {
      let city: String
      var path: RequestPath { "forecast" }
      var query: Parameters { ["q": city] }
      typealias Response = Place
    }

    /// What one of the two processes has, and shares with the other; made once, when it starts.
    struct SharedServices: Sendable {
      let fleet: Fleet
      let client: WebAPIClient
      let weather: Pipeline<Place>
      let events = PolicyEvents()

      init(
        redis: RedisAddress,
        transport: any Transport,
        renewing renew: @escaping @Sendable (String) async -> RefreshOutcome<String>
      ) throws {
        let fleet = try Fleet("forecast-server", at: redis, instances: 2)
        self.fleet = fleet
        events.watch(fleet)
        let session = TokenRefresher<String>(store: try fleet.credentials("session", isSame: ==)) { refresh in
          await renew(refresh.credential)
        }
        session.signIn(with: "the token of the start")
        client = WebAPIClient(
          baseURL: URL(string: "https://api.example"),
          transport: transport,  // CurlTransport() in the program
          middleware: [Authenticating(with: session) { $0["Authorization"] = "Bearer \($1)" }],
          deliveringOn: nil
        )
        weather = try Pipeline<Place>("weather", events: events) {
          try fleet.bulkhead("weather", policy: BulkheadPolicy(maxConcurrent: 100))
          try fleet.rateLimiter("weather", policy: .tokenBucket(100, per: .seconds(1), burst: 10))
          Timeout(TimeoutPolicy.total(.seconds(5)).cooperative())
          Retry(RetryPolicy<NetworkFailure>.http, budget: try fleet.budget("weather", ratio: 0.2))
          CircuitBreaker(
            "weather",
            policy: try .consecutive(5, openFor: .seconds(30)),
            failingWhen: NetworkFailure.speaksAgainstService
          )
        }
      }
    }

    @Test("a process without the fleet's server has its half of the limit, and renews the token by itself")
    func alone() async throws {
      let scheduler = TestScheduler()
      let transport = ScriptedTransport([.status(401), .ok(#"{"name":"Rome"}"#)], repeatingLast: true)
      try await TimeSource.$current.withValue(scheduler.time) {
        let services = try SharedServices(redis: .tcp("127.0.0.1", port: 1), transport: transport) { token in
          .refreshed("a new token after \(token)")
        }
        var (answers, refusals) = (0, 0)
        for _ in 1...20 {
          do {
            _ = try await services.weather.run { try await services.client.value(of: Forecast(city: "Rome")) }
            answers += 1
          } catch is RateLimited {
            refusals += 1
          }
        }
        #expect((answers, refusals) == (5, 15))
        let tokens = transport.calls.prefix(2).map { $0.request.headers["Authorization"] ?? "none" }
        let start = "the token of the start"
        #expect(tokens == ["Bearer \(start)", "Bearer a new token after \(start)"])
      }
    }
  }
#endif
