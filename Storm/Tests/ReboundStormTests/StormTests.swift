import Combine
import Rebound
import ReboundStorm
import Testing

@Suite("A storm")
struct StormTests {
  private let scenario = Scenario.minuteOfOutage(clients: 500)

  private func play(
    _ scenario: Scenario,
    _ backoff: Backoff,
    retries: Int = 10,
    budget: Double? = nil
  ) throws -> Storm {
    try Storm.play(scenario) { process in
      let budget = try budget.map { try RetryBudget.ratio($0, window: .seconds(2), floor: 1) }
      return try Pipeline("weather") {
        Retry(try RetryPolicy(maxRetries: retries, backoff: backoff, random: process.random), budget: budget)
      }
    }
  }

  @Test func swampsAServiceThatComesBackUnlessABudgetBoundsTheRetries() throws {
    let atOnce = try play(scenario, .immediate)
    #expect(atOnce.peakAfterTrouble > 3)
    #expect(atOnce.secondsToRecover == nil)
    #expect(atOnce.isMetastable)
    let bounded = try play(scenario, .standard, budget: 0.1)
    #expect(bounded.recovers(within: .seconds(2)))
    #expect(bounded.peakAfterTrouble < 1.3)
  }

  @Test func isTheSameForTheSameSeed() throws {
    #expect(try play(scenario, .standard) == play(scenario, .standard))
    #expect(try play(scenario, .standard).series != play(scenario.with(seed: 2), .standard).series)
  }

  @Test func accountsForEveryRequest() throws {
    let series = try play(scenario, .standard).series
    let begun = series.begun.total
    let ended = (series.succeeded + series.givenUp).total
    #expect(begun - ended <= 500)
    #expect(series.offered.total >= begun)
    #expect(series.served[21..<80].allSatisfy { $0 == 0 })
  }

  @Test func measuresTheLoadByTheScenarioWhereNobodyAskedBeforeTheFault() throws {
    let service = Service(concurrency: 1, time: .constant(0.1))
    var few = Scenario(arrivals: .constant(perSecond: 1.0 / 30), service: service)
    few.faults = [.outage(from: 20, to: 50)]
    let storm = try Storm.playCalls(few)
    #expect(storm.series.begun[..<20].allSatisfy { $0 == 0 })
    #expect(storm.normalLoad == few.arrivals.rate)
    #expect(storm.peakInTrouble == 30)
    #expect(storm.amplification > 0.5 && storm.amplification < 1.5)
    #expect(storm.secondsToRecover == 0)
  }

  @Test func countsAsGivenUpOnlyThoseWhoBeganSinceTheFaultCame() throws {
    let storm = try Storm.playCalls(.longQueueBeforeOutage)
    #expect(storm.series.givenUp[20] > 190)
    #expect((0.4...0.6).contains(storm.givenUpShare), "\(storm.givenUpShare)")
  }

  @Test func keepsNothingOfRequestsThatItsEndCutsOff() throws {
    final class Kept: Sendable {}
    weak var kept: Kept?
    var cutOff = scenario
    cutOff.faults = [.outage(from: 20, to: 50)]
    cutOff.duration = 50
    do {
      let own = Kept()
      kept = own
      let storm = try Storm.playCalls(cutOff, name: "cut off", answer: ()) { call, process in
        let limiter = RateLimiter(
          "weather",
          policy: try .tokenBucket(20, per: .seconds(1), burst: 5).waiting(atMost: .seconds(120), maxQueue: 1_000)
        )
        let pipeline = try Pipeline<Void>("weather") {
          Retry(try RetryPolicy(maxRetries: 10, backoff: .constant(.seconds(2)), random: process.random))
          limiter
        }
        return call.protected(by: pipeline).map { withExtendedLifetime(own) {} }.eraseToAnyPublisher()
      }
      let ended = (storm.series.succeeded + storm.series.givenUp).total
      #expect(storm.series.begun.total > ended + 100)
    }
    #expect(kept == nil)
  }

  @Test func isACalmWithoutAFault() throws {
    var calm = scenario
    calm.faults = []
    let storm = try play(calm, .immediate)
    #expect(storm.givenUpShare == 0)
    #expect(storm.series.offered == storm.series.begun)
    #expect(storm.secondsToRecover == 0)
    #expect(!storm.isMetastable)
  }

  @Test(arguments: [60, 60.1, 60.5])
  func isOverAlsoWhereThePlayEndsWithinASecond(duration: Double) throws {
    let service = Service(concurrency: 200, time: .constant(0.05))
    let scenario = Scenario(
      arrivals: .constant(perSecond: 1_000),
      service: service,
      faults: [.outage(from: 10, to: 12)],
      duration: duration
    )
    let storm = try Storm.playCalls(scenario)
    #expect(storm.secondsToRecover == 0)
    #expect(!storm.isMetastable)
  }

  @Test(arguments: [(10, 10), (1, 100), (0.1, 100)])
  func isNoneWhereRequestsComeInBurstsToAServiceThatIsWell(rate: Double, size: Int) throws {
    let service = Service(concurrency: 200, time: .constant(0.05))
    let storm = try Storm.playCalls(Scenario(arrivals: .bursts(perSecond: rate, size: size), service: service))
    #expect(storm.secondsToRecover == 0)
    #expect(!storm.isMetastable)
  }

  @Test(arguments: [
    Arrivals.closed(clients: 5_000, thinkTime: .constant(30)),
    // Half of the time is the answer's, so that half as many come as the rate says.
    .closed(clients: 20, thinkTime: .exponential(mean: 0.05)),
  ])
  func isNoneForClientsThatThink(arrivals: Arrivals) throws {
    let service = Service(concurrency: 200, time: .constant(0.05))
    var scenario = Scenario(arrivals: arrivals, service: service)
    #expect(try Storm.playCalls(scenario).secondsToRecover == 0)
    scenario.faults = [.outage(from: 40, to: 50)]
    let storm = try Storm.playCalls(scenario)
    #expect(storm.recovers(within: .seconds(2)))
    #expect(!storm.isMetastable)
    #expect(try #require(try Prediction(of: PolicySettings(), in: scenario).secondsToRecover) <= 2)
  }

  @Test(arguments: [(10, 0.8), (30, 5), (60, 15)])
  func isNoneWhereAServicePausesThatIsWellOtherwise(every: Double, length: Double) throws {
    var service = Service(concurrency: 100, time: .constant(0.05))
    (service.pauseEvery, service.pauseLength) = (every, length)
    let arrivals = Arrivals.constant(perSecond: 1_000)
    let scenario = Scenario(arrivals: arrivals, service: service, faults: [.outage(from: 20, to: 22)], duration: 180)
    let storm = try Storm.playCalls(scenario)
    #expect(storm.recovers(within: .seconds(10)))
    #expect(!storm.isMetastable)
  }

  @Test func staysWhereBurstsAreMoreThanTheServiceBears() throws {
    let service = Service(concurrency: 1, time: .constant(0.02))
    let storm = try Storm.playCalls(Scenario(arrivals: .bursts(perSecond: 10, size: 10), service: service))
    #expect(storm.secondsToRecover == nil)
  }

  private static let day = Scenario(
    arrivals: .daily(perSecond: 80, amplitude: 0.5, period: 200),
    service: Service(concurrency: 1, queueLimit: 100, time: .constant(0.01)),
    faults: [.outage(from: 5, to: 10)],
    duration: 250
  )

  @Test func isNotMetastableWhereTheServiceCouldNotBearTheHighestLoadOfADay() throws {
    let storm = try Storm.playCalls(Self.day)
    #expect(storm.secondsToRecover == nil)
    #expect(!storm.isMetastable)
  }

  @Test func isComparedWithWhatThePartOfTheDayWouldHaveBrought() throws {
    var day = Self.day
    day.duration = 100
    #expect(abs(try Storm.playCalls(day).amplification - 1) < 0.05)
    #expect(abs(try Prediction(of: PolicySettings(), in: day).amplification - 1) < 0.01)
  }

  @Test func isComparedWithWhatHalfASecondWouldHaveBrought() throws {
    let service = Service(concurrency: 10, time: .constant(0.01))
    let short = Scenario(arrivals: .constant(perSecond: 100), service: service, duration: 0.5)
    #expect(abs(try Storm.playCalls(short).amplification - 1) < 0.05)
  }

  @Test func ringsNoTimerTooEarlyBetweenTwoNanosecondsEither() throws {
    nonisolated(unsafe) var moments: [Duration] = []  // A play is on the thread that calls it.
    _ = try Storm.playCalls(scenario, name: "timer", answer: ()) { call, process in
      _ = process.time.after(.seconds(1) / 3) { moments.append(process.time.now) }
      return call
    }
    #expect(moments == [.nanoseconds(333_333_334)])
  }

  @Test func refusesAPipelineWithATimeOfItsOwn() throws {
    #expect(throws: UnplayablePipeline.self) {
      try Storm.play(scenario) { process in try Pipeline("weather", time: process.time) { Timeout(total: .seconds(1)) }
      }
    }
  }

  @Test func isBrokenOffWhereRetriesTakeNoTime() throws {
    var scenario = scenario
    scenario.networkDelay = 0
    let endless = #expect(throws: EndlessMoment.self) {
      try Storm.play(scenario) { _ in
        try Pipeline("weather") { Retry(try RetryPolicy(maxRetries: nil, backoff: .immediate)) }
      }
    }
    #expect(endless?.seconds == 20)
    // As many as there may be with an end.
    scenario.duration = 20.1
    let storm = try PolicySettings(maxRetries: 10_000).play(scenario)
    #expect(storm.series.givenUp.total > 0)
    #expect(storm.series.offered.total > 10_000)
  }

  @Test func takesAnyChainOfOperators() throws {
    let storm = try Storm.playCalls(scenario, name: "two retries", answer: 1) { call, _ in
      call.retry(2).eraseToAnyPublisher()
    }
    #expect(storm.peakInTrouble > 2.5)
  }
}
