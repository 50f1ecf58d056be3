import Rebound
import ReboundStorm
import Testing

@Suite("A prediction")
struct PredictionTests {
  private func scenario(queueLimit: Int? = nil) -> Scenario {
    let service = Service(replicas: 2, concurrency: 20, queueLimit: queueLimit, time: .constant(0.08))
    return Scenario(
      arrivals: .poisson(perSecond: 50),
      service: service,
      faults: [.outage(from: 2, to: 4)],
      duration: 10
    )
  }

  @Test(arguments: [-1, Int.max])
  func refusesANumberOfRetriesThatMakesNoSense(maxRetries: Int) {
    let settings = PolicySettings(maxRetries: maxRetries)
    let refusal = #expect(throws: InvalidPolicy.self) { try Prediction(of: settings, in: scenario()) }
    #expect(refusal?.setting == "maxRetries")
  }

  @Test func knowsNothingOfWhatIsNotInItsModel() throws {
    let changes: [(String, (inout PolicySettings) -> Void)] = [
      ("deadline", { $0.deadline = 3 }), ("circuit breaker", { $0.breaker = .init() }),
      ("rate limiter", { $0.rateLimit = 5 }), ("hedge", { $0.hedgeDelay = 1 }),
      ("metastability detector", { $0.detector = .init() }),
    ]
    for (stage, change) in changes {
      var settings = PolicySettings(maxRetries: 10, firstDelay: 1)
      change(&settings)
      let refusal = #expect(throws: UnpredictablePolicy.self) { try Prediction(of: settings, in: scenario()) }
      #expect(refusal?.stage == stage)
    }
  }

  @Test(arguments: [1e18, Double.infinity])
  func countsNoRetryThatWaitsForLongerThanAnyPlay(delay: Double) throws {
    let prediction = try Prediction(of: PolicySettings(maxRetries: 1, firstDelay: delay), in: scenario())
    let none = try Prediction(of: PolicySettings(), in: scenario())
    #expect(prediction.amplification == none.amplification)
  }

  @Test(arguments: [
    PolicySettings(maxRetries: 1, firstDelay: .infinity),
    PolicySettings(maxRetries: 3, firstDelay: 1, multiplier: 1e300, longestDelay: .infinity, spread: .full),
  ])
  func hasFiguresForClientsAtFixedIntervalsThatWaitForEver(settings: PolicySettings) throws {
    let prediction = try Prediction(of: settings, in: .minuteOfOutage(clients: 500))
    #expect(prediction.amplification > 0.1 && prediction.amplification < 2)
    #expect(prediction.peakAfterTrouble > 0 && prediction.givenUpShare < 0.5)
  }

  @Test func takesAQueueOfAnyLength() throws {
    let settings = PolicySettings(maxRetries: 1, firstDelay: 1)
    let prediction = try Prediction(of: settings, in: scenario(queueLimit: .max))
    #expect(try prediction == Prediction(of: settings, in: scenario()))
  }

  @Test func countsAsGivenUpOnlyThoseWhoBeganSinceTheFaultCame() throws {
    let share = try Prediction(of: PolicySettings(), in: .longQueueBeforeOutage).givenUpShare
    #expect((0.4...0.6).contains(share), "\(share)")
  }

  @Test func losesOfEachShareWhatTheOthersLeave() throws {
    var scenario = scenario()
    (scenario.processes, scenario.duration) = (10, 12)
    scenario.faults = [
      .packetLoss(share: 0.5, from: 2, to: 10), .packetLoss(share: 0.5, from: 2, to: 10),
      .partition(share: 0.2, from: 2, to: 10), .partition(share: 0.4, from: 2, to: 10),
    ]
    var settings = PolicySettings()
    settings.attemptTimeout = 1
    let predicted = try Prediction(of: settings, in: scenario).givenUpShare
    // For eight of ten seconds.
    #expect(abs(predicted - 0.8 * 0.85) < 0.001, "\(predicted)")
    let played = try settings.play(scenario).givenUpShare
    #expect(abs(played - predicted) < 0.06, "\(played)")
  }

  private func throttled(window: Double) -> PolicySettings {
    var settings = PolicySettings()
    settings.throttle = PolicySettings.Throttle(factor: 2, window: window)
    return settings
  }

  @Test func countsForAThrottleWhatHasEndedAndNotWhatWaits() throws {
    var scenario = scenario()
    scenario.arrivals = .poisson(perSecond: 300)
    scenario.faults = [.brownout(factor: 5, from: 2, to: 6)]
    scenario.duration = 20
    let settings = throttled(window: 2)
    // All are answered, however late, so there is nothing to refuse.
    #expect(try settings.play(scenario).series.givenUp.total == 0)
    #expect(try Prediction(of: settings, in: scenario).givenUpShare == 0)
  }

  @Test func countsForAThrottleWhatItsWindowReaches() throws {
    var scenario = scenario()
    scenario.faults = [.outage(from: 5, to: 15)]
    scenario.duration = 60
    let settings = throttled(window: 10)
    let played = try #require(try settings.play(scenario).secondsToRecover)
    let predicted = try #require(try Prediction(of: settings, in: scenario).secondsToRecover)
    #expect(played > 10)
    #expect(abs(predicted - played) <= 3)
  }
}
