import Rebound
import ReboundStorm
import Testing

@Suite("The advice of a storm")
struct AdviceTests {
  private let scenario = Scenario.minuteOfOutage(clients: 300)

  @Test func namesTheStageToChangeAndHelpsIfFollowedLiterally() throws {
    let bad = try Storm.play(scenario) { process in
      try Pipeline("weather") { Retry(try RetryPolicy(maxRetries: 10, backoff: .immediate, random: process.random)) }
    }
    #expect(!bad.recovers(within: .seconds(30)))
    #expect(bad.advice.map(\.position) == [1])
    #expect(
      bad.advice.first.map { "\($0)" }?.hasSuffix(
        """
        Bound it: give it budget: try RetryBudget.ratio(0.1, window: .seconds(2), floor: 1), one for the process, and \
        backoff: .standard, which spreads them.
        """
      ) == true
    )
    #expect(bad.description.contains("never recovered (metastable"))
    #expect(bad.description.contains("Change stage 1, retry: it made the load"))

    let advised = try Storm.play(scenario) { process in
      let budget = try RetryBudget.ratio(0.1, window: .seconds(2), floor: 1)
      return try Pipeline("weather") {
        Retry(try RetryPolicy(maxRetries: 10, backoff: .standard, random: process.random), budget: budget)
      }
    }
    #expect(advised.recovers(within: .seconds(30)))
    #expect(advised.advice.isEmpty)
    try advised.requireRecovery(within: .seconds(30))
  }

  @Test func doesNotSayOfDelaysThatNobodyKnowsThatTheyAreInStep() throws {
    func advice(budget: RetryBudget?) throws -> String {
      let storm = try Storm.play(scenario) { process in
        let random = process.random
        let backoff = Backoff.custom { _ in .seconds(random.next()) }
        return try Pipeline("weather") { Retry(try RetryPolicy(maxRetries: 30, backoff: backoff), budget: budget) }
      }
      return "\(try #require(storm.advice.first))"
    }
    #expect(try advice(budget: nil).hasSuffix("one for the process."))
    #expect(try advice(budget: .ratio(30)).hasSuffix("Give its budget a smaller ratio, or the retry fewer attempts."))
  }

  @Test func isTheMessageOfAFailedRequirement() throws {
    let bad = try PolicySettings(maxRetries: 10).play(scenario)
    let failure = #expect(throws: StormFailure.self) { try bad.requireRecovery(within: .seconds(30)) }
    #expect(failure?.description.contains("Change stage 1, retry") == true)
  }

  @Test func asksForATimeoutWhereRequestsAreLost() throws {
    var lossy = Scenario(arrivals: .poisson(perSecond: 20), service: Service(concurrency: 10, time: .constant(0.05)))
    lossy.faults = [.packetLoss(share: 0.5, from: 20, to: 60)]
    func play(@PipelineBuilder<Void> _ stages: () throws -> some PipelineStage<Void>) throws -> Storm {
      try Storm.play(lossy) { _ in try Pipeline("weather", stages: stages) }
    }
    let budget = try RetryBudget.ratio(0.5)
    let endless = try play { Retry(.standard, budget: budget) }
    #expect(endless.advice.contains { $0.stage == .timeout && $0.position == nil })
    let ended = try play {
      Retry(.standard, budget: budget)
      Timeout(attempt: .seconds(1))
    }
    #expect(!ended.advice.contains { $0.stage == .timeout })
  }

  @Test func asksForNoTimeoutWhereRequestsAreUnderWayAtTheEnd() throws {
    let service = Service(concurrency: 100, time: .constant(4))
    let storm = try bounded(Scenario(arrivals: .constant(perSecond: 10), service: service, duration: 30))
    #expect(storm.series.begun.total - storm.series.succeeded.total == 40)
    #expect(storm.advice.isEmpty)
  }

  @Test func asksForMoreTimeWhereTheWorkIsForNobody() throws {
    var service = Service(concurrency: 1, time: .constant(0.1))
    service.noticesAbandoned = false
    let overloaded = Scenario(arrivals: .poisson(perSecond: 20), service: service, duration: 60)
    let storm = try Storm.play(overloaded) { _ in try Pipeline("weather") { Timeout(attempt: .seconds(1)) } }
    #expect(storm.advice.map(\.stage) == [.timeout])
  }

  @Test func beginsWithTheRetryAlsoWhereATimeoutStandsAroundIt() throws {
    var service = Service(concurrency: 1, time: .constant(0.1))
    service.noticesAbandoned = false
    let overloaded = Scenario(arrivals: .poisson(perSecond: 20), service: service, duration: 60)
    let storm = try Storm.play(overloaded) { process in
      try Pipeline("weather") {
        Timeout(total: .seconds(2))
        Retry(try RetryPolicy(maxRetries: 3, backoff: .immediate, random: process.random))
        Timeout(attempt: .seconds(0.5))
      }
    }
    #expect(storm.advice.map(\.position) == [2, 1, 3])
  }

  private func bounded(_ scenario: Scenario) throws -> Storm {
    try Storm.play(scenario) { process in
      let budget = try RetryBudget.ratio(0.1, window: .seconds(2), floor: 1)
      return try Pipeline("weather") {
        Retry(try RetryPolicy(maxRetries: 3, backoff: .standard, random: process.random), budget: budget)
      }
    }
  }

  @Test(arguments: [
    Arrivals.bursts(perSecond: 1, size: 100), .daily(perSecond: 100, amplitude: 0.8, period: 200),
    .poisson(perSecond: 3),
  ])
  func blamesNoRetryForWhatClientsBegin(arrivals: Arrivals) throws {
    let storm = try bounded(Scenario(arrivals: arrivals, service: Service(concurrency: 200, time: .constant(0.05))))
    #expect(storm.peakAfterTrouble > 1.5)
    #expect(storm.series.offered == storm.series.begun)
    #expect(storm.advice.isEmpty)
  }

  @Test func blamesNoRetryForAFaultThatLastsToTheEnd() throws {
    var scenario = scenario
    scenario.duration = 80
    let storm = try bounded(scenario)
    #expect(storm.secondsToRecover == nil)
    #expect(storm.advice.isEmpty)
  }

  @Test func isNoneWhereAllIsWell() throws {
    let storm = try PolicySettings().play(scenario)
    #expect(storm.advice.isEmpty)
  }
}
