import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundHTTPTesting
import ReboundTesting
import Testing

/// The code of the article "Middleware in its order", as it stands there.
@Suite("The code of the article on the order of middleware")
struct MiddlewareOrderArticleTests {
  struct Forecast: Request {
    var path: RequestPath { "forecast" }
    typealias Response = [String: Int]
  }

  @Test("middleware works together, in its order")
  func order() throws {
    let scheduler = TestScheduler()
    let reachability = ManualReachability(.offline)
    let transport = ScriptedTransport([.offline, .silence, .ok(#"{"Rome":12}"#)], time: scheduler.time)

    let budget = try RetryBudget.ratio(0.2)
    let client = WebAPIClient(
      baseURL: URL(string: "https://api.example"),
      transport: transport,
      middleware: [
        Caching(in: HTTPCache()),
        Retrying(.http.within(budget)),
        WaitingForNetwork(reachability, atMost: .seconds(10)),  // SystemReachability.shared in the program
        Hedging(try HedgePolicy(delay: .after(.seconds(1))).within(budget)),
        RateLimiting(try .tokenBucket(20, per: .seconds(1)).waiting(atMost: .seconds(5))),
        Protecting(try .consecutive(5, openFor: .seconds(30))),
      ],
      deliveringOn: nil,
      time: scheduler.time
    )

    let recorder = Recorder<[String: Int], NetworkFailure>(on: scheduler)
    client.publisher(for: Forecast()).subscribe(recorder)
    scheduler.advance(by: .seconds(3))
    reachability.current = .online
    try scheduler.run()
    #expect(recorder.values == [["Rome": 12]])
    // No network; a slow attempt; its hedge, a second later.
    #expect(transport.calls.map(\.time) == [.zero, .seconds(3), .seconds(4)])
    #expect(
      "\(client)" == """
        Caching → DeadlineLimit → Retrying(2) → WaitingForNetwork → Hedging(1) → RateLimiting → Protecting → \
        Redirects(10) → ScriptedTransport
        """
    )
  }
}
