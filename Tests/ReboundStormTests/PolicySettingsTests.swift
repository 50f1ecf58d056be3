import Foundation
import Rebound
import ReboundStorm
import Testing

@Suite("The settings of a policy")
struct PolicySettingsTests {
  @Test func areSwiftThatSaysTheSame() throws {
    var settings = PolicySettings(
      maxRetries: 4,
      firstDelay: 0.5,
      multiplier: 2,
      longestDelay: 8,
      spread: .full,
      budgetRatio: 0.2
    )
    settings.throttle = .init(factor: 1.5, window: 30)
    settings.attemptTimeout = 2
    #expect(
      settings.swiftSource == """
        let budget = try RetryBudget.ratio(0.2, window: .seconds(2), floor: 1)
        let throttle = AdaptiveThrottle(
          "service",
          policy: try AdaptiveThrottlePolicy(factor: 1.5, window: .seconds(30.0))
        )
        let pipeline = try Pipeline<Answer>("service") {
          Retry(try RetryPolicy(maxRetries: 4, backoff: .exponential(from: .seconds(0.5), multiplier: 2.0, upTo: .seconds(8.0), \
        jitter: .full)), budget: budget)
          throttle
          Timeout(attempt: .seconds(2.0))
        }
        """
    )
  }

  @Test func areThePipelineThatIsPlayed() throws {
    var settings = PolicySettings(maxRetries: 4, firstDelay: 0.5, multiplier: 2, longestDelay: 8, spread: .full)
    settings.breaker = .init()
    settings.throttle = .init()
    settings.attemptTimeout = 2
    let storm = try settings.play(.minuteOfOutage(clients: 20))
    #expect(storm.pipeline?.kinds == [.retry, .circuitBreaker, .adaptiveThrottle, .timeout])
  }

  @Test func areReadFromWhatTheyAreWrittenAs() throws {
    let ladder = NamedPolicy.ladder.map(\.settings)
    #expect(try JSONDecoder().decode([PolicySettings].self, from: JSONEncoder().encode(ladder)) == ladder)
  }
}

@Suite("A scenario's file")
struct ScenarioFileTests {
  @Test func saysNoMoreThanIsParticular() throws {
    let file = """
      {
        "arrivals": { "poisson": { "perSecond": 200 } },
        "service": { "concurrency": 20, "time": { "exponential": { "mean": 0.08 } }, "queueLimit": 50 },
        "faults": [{ "outage": { "from": 20, "to": 50 } }]
      }
      """
    let scenario = try JSONDecoder().decode(Scenario.self, from: Data(file.utf8))
    var expected = Scenario(
      arrivals: .poisson(perSecond: 200),
      service: Service(concurrency: 20, queueLimit: 50, time: .exponential(mean: 0.08))
    )
    expected.faults = [.outage(from: 20, to: 50)]
    #expect(scenario == expected)
    #expect(try JSONDecoder().decode(Scenario.self, from: JSONEncoder().encode(scenario)) == scenario)
  }
}
