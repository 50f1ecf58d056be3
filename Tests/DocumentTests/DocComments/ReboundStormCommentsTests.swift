import Combine
import Rebound
import ReboundStorm
import Testing

/// What doc comments of ReboundStorm expect, as it stands there.
@Suite("What doc comments of ReboundStorm expect")
struct ReboundStormCommentsTests {
  @Test("Storm: with a budget and a breaker a service comes back, and gets hardly more than without an outage")
  func play() throws {
    let policy = RetryPolicy<any Error>(clamping: 2, backoff: .constant(.seconds(1)))
    let budget = try RetryBudget.ratio(0.1)
    let breaker = try CircuitBreakerPolicy(consecutiveFailures: 5)

    let storm = try Storm.play(.minuteOfOutage(clients: 200)) { process in
      try Pipeline("weather") {
        Retry(policy, budget: budget)
        breaker
      }
    }
    #expect(storm.recovers(within: .seconds(30)))
    #expect(storm.amplification <= 1.2)
  }

  @Test("metastableLoad: without retries no load keeps a service down")
  func metastableLoad() throws {
    let outage = Scenario.minuteOfOutage(clients: 200)
    let policy = RetryPolicy<any Error>(clamping: 0, backoff: .immediate)

    let load = try Storm.metastableLoad(in: outage) { scenario in
      try Storm.play(scenario) { _ in try Pipeline("weather") { Retry(policy) } }
    }
    #expect(load == nil)
  }
}
