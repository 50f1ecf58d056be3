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
    settings.hedgeDelay = 0.3
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
          Hedge(try HedgePolicy(delay: .after(.seconds(0.3))), budget: budget)
          throttle
          Timeout(attempt: .seconds(2.0))
        }
        """
    )
  }

  @Test func areSwiftThatPoliciesTakeWhereThePlayTakesTheSettings() throws {
    var settings = PolicySettings(maxRetries: 4, firstDelay: .infinity)
    var breaker = PolicySettings.Breaker()
    breaker.openTime = 30
    settings.breaker = breaker
    settings.attemptTimeout = 1e30
    _ = try settings.play(.minuteOfOutage(clients: 20))
    let source = settings.swiftSource
    #expect(source.contains("openTime: .seconds(30.0),"))
    #expect(source.contains("maxOpenTime: .seconds(30.0),"))
    #expect(source.contains("backoff: .constant(.seconds(1000000000.0))"))
    #expect(source.contains("Timeout(attempt: .seconds(1000000000.0))"))
  }

  @Test func areThePipelineThatIsPlayed() throws {
    var settings = PolicySettings(maxRetries: 4, firstDelay: 0.5, multiplier: 2, longestDelay: 8, spread: .full)
    settings.breaker = .init()
    settings.throttle = .init()
    settings.attemptTimeout = 2
    settings.rateLimit = 5
    settings.detector = .init()
    settings.hedgeDelay = 1
    let storm = try settings.play(.minuteOfOutage(clients: 20))
    #expect(
      storm.pipeline?.kinds == [
        .metastabilityDetector, .retry, .metastabilityDetector, .hedge, .rateLimiter, .circuitBreaker,
        .adaptiveThrottle, .timeout,
      ]
    )
  }

  @Test func areSwiftThatNamesItsLimiterAndItsDetector() {
    var settings = PolicySettings(maxRetries: 15, firstDelay: 6.5, spread: .full)
    settings.rateLimit = 53
    settings.detector = .init()
    #expect(
      settings.swiftSource == """
        let detector = MetastabilityDetector(
          "service",
          policy: try MetastabilityPolicy(refusesRetries: true)
        )
        let limiter = RateLimiter(
          "service",
          policy: try .tokenBucket(53, per: .seconds(1), burst: 5)
            .waiting(atMost: .seconds(120), maxQueue: 1000000)
        )
        let pipeline = try Pipeline<Answer>("service") {
          detector.requests
          Retry(try RetryPolicy(maxRetries: 15, backoff: .constant(.seconds(6.5)).jittered(.full)))
          detector
          limiter
        }
        """
    )
  }

  @Test func limitTheRateOfAProcessAfterAnOutageToo() throws {
    var settings = PolicySettings(maxRetries: 20, firstDelay: 5, spread: .full)
    settings.rateLimit = 27
    let scenario = Scenario.minuteOfOutage(clients: 500)
    let storm = try settings.play(scenario)
    #expect(storm.series.offered.allSatisfy { $0 <= 27 + 3 })
    #expect(storm.recovers(within: .seconds(5)))
  }

  @Test func endALoopThatFeedsItselfWhereTheDetectorRefusesRetries() throws {
    var settings = PolicySettings(maxRetries: 10, firstDelay: 1)
    #expect(try settings.play(.minuteOfOutage(clients: 1_000)).isMetastable)
    settings.detector = .init()
    #expect(try settings.play(.minuteOfOutage(clients: 1_000)).recovers(within: .seconds(30)))
    settings.detector = .init(refusesRetries: false)
    #expect(try settings.play(.minuteOfOutage(clients: 1_000)).isMetastable)
  }

  private static let lengths: [WritableKeyPath<PolicySettings, Double?> & Sendable] = [
    \.deadline, \.attemptTimeout, \.hedgeDelay,
  ]

  @Test(arguments: [1e30, .infinity])
  func mayHaveLengthsOfTimeBeyondAllPlays(length: Double) throws {
    let service = Service(concurrency: 5, time: .constant(0.01))
    let scenario = Scenario(
      arrivals: .poisson(perSecond: 20),
      service: service,
      faults: [.outage(from: 2, to: 4)],
      duration: 10
    )
    let none = try PolicySettings().play(scenario).series
    let late = PolicySettings(maxRetries: 3, firstDelay: length)
    #expect(try late.play(scenario).series.offered == none.offered)
    for setting in Self.lengths where setting != \.hedgeDelay {
      var settings = PolicySettings()
      settings[keyPath: setting] = length
      #expect(try settings.play(scenario).series == none)
    }
    var settings = PolicySettings()
    settings.throttle = .init(factor: 1_000, window: length)
    #expect(try settings.play(scenario).series.begun == none.begun)
    settings = PolicySettings()
    settings.hedgeDelay = length
    let hedged = try settings.play(scenario).series
    #expect(hedged.succeeded == none.succeeded)
    // A request that fails has its second one at once.
    #expect(hedged.offered == none.offered.enumerated().map { (2..<4).contains($0) ? 2 * $1 : $1 })
  }

  @Test func areRefusedIfALengthOfTimeIsNoNumber() {
    for setting in Self.lengths {
      var settings = PolicySettings()
      settings[keyPath: setting] = .nan
      #expect(throws: (any Error).self) { try settings.play(.minuteOfOutage(clients: 100)) }
    }
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

  @Test(arguments: [
    (#""service": { "concurrency": 2, "time": { "constant": { "_0": 1 } }, "queuelimit": 50 }"#, "service.queuelimit"),
    (#""service": { "concurrency": 2, "time": { "constant": { "_0": 1 } } }, "fault": []"#, "fault"),
    (
      #""service": { "concurrency": 2, "time": { "constant": { "_0": 1 } }, "dependencies": [{ "sky": 1 }] }"#,
      "service.dependencies.0.sky"
    ),
  ])
  func isRefusedIfItSaysWhatNobodyReads(rest: String, name: String) throws {
    let file = #"{ "arrivals": { "poisson": { "perSecond": 1 } }, \#(rest) }"#
    let refusal = #expect(throws: InvalidScenario.self) {
      try JSONDecoder().decode(Scenario.self, from: Data(file.utf8))
    }
    #expect(refusal?.description == "Scenario: \(name) is unknown. Leave it out, or correct its name.")
  }
}
