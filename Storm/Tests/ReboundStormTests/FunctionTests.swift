import Combine
import Rebound
import ReboundStorm
import Testing

@Suite("Asynchronous functions that are played")
struct FunctionTests {
  private static var scenario: Scenario {
    let service = Service(concurrency: 5, queueLimit: 20, time: .exponential(mean: 0.05))
    var scenario = Scenario(arrivals: .poisson(perSecond: 40), service: service, networkDelay: 0.002, duration: 60)
    scenario.faults = [.outage(from: 20, to: 30)]
    return scenario
  }

  @Test func areAnsweredAsPublishersAreWhereChanceIsTheSame() throws {
    var scenario = Self.scenario
    scenario.faults = []
    scenario.arrivals = .constant(perSecond: 40)
    scenario.service.time = .constant(0.05)
    let function = try Storm.playFunction(scenario, name: "function", answer: ()) { call, _ in try await call() }
    let publisher = try Storm.playCalls(scenario)
    #expect(function.series.succeeded.total == publisher.series.succeeded.total)
    #expect(function.latency == publisher.latency)
  }

  @Test func giveUpInAnOutageUnlessTheyTryAgain() throws {
    let once = try Storm.playFunction(Self.scenario, name: "once", answer: ()) { call, _ in try await call() }
    #expect((300...500).contains(once.series.givenUp.total))
    let patient = try Storm.playFunction(Self.scenario, name: "patient", answer: ()) { call, _ in
      for _ in 0..<10 {
        if let answer = try? await call() { return answer }
        try await ContinuousClock().sleep(for: .seconds(2))
      }
      try await call()
    }
    #expect(patient.series.givenUp.total == 0)
    #expect(patient.latency.percentile(0.99) > 5)
    #expect(patient.recovers(within: .seconds(10)))
  }

  @Test func runTheAsynchronousFormOfAPipelineInVirtualTime() throws {
    let policy = try RetryPolicy<any Error>(maxRetries: 6, backoff: .constant(.seconds(2)))
    var scenario = Self.scenario
    scenario.arrivals = .poisson(perSecond: 10)
    let storm = try Storm.playFunction(scenario, name: "pipeline", answer: 7) { call, _ in
      let pipeline = try Pipeline<Int>("service") {
        Timeout(total: .seconds(30))
        Retry(policy)
        Timeout(attempt: .seconds(1))
      }
      return try await pipeline.run(call)
    }
    let again = try Storm.play(scenario, answer: 7) { _ in
      try Pipeline<Int>("service") {
        Timeout(total: .seconds(30))
        Retry(policy)
        Timeout(attempt: .seconds(1))
      }
    }
    #expect(storm.series.givenUp.total == again.series.givenUp.total)
    #expect(abs(storm.amplification - again.amplification) < 0.05 * again.amplification)
  }

  @Test func areTheSameForTheSameSeed() throws {
    func play(seed: UInt64) throws -> Storm {
      try Storm.playFunction(Self.scenario.with(seed: seed), name: "once", answer: ()) { call, process in
        try await process.time.sleep(for: .seconds(process.random.next()))
        try await call()
      }
    }
    #expect(try play(seed: 3) == play(seed: 3))
    #expect(try play(seed: 3).series != play(seed: 4).series)
  }

  @Test func letGoOfTheirCallsWhenThePlayIsOver() throws {
    var scenario = Self.scenario
    scenario.faults = [.packetLoss(share: 1, from: 0, to: 60)]
    let storm = try Storm.playFunction(scenario, name: "lost", answer: ()) { call, _ in try await call() }
    #expect(storm.series.succeeded.total == 0 && storm.series.givenUp.total == 0)
  }

  @Test func areBrokenOffWhereTheirRetriesTakeNoTime() throws {
    var scenario = Self.scenario
    (scenario.networkDelay, scenario.arrivals) = (0, .constant(perSecond: 2))
    let policy = try RetryPolicy<any Error>(maxRetries: nil, backoff: .immediate)
    let endless = #expect(throws: EndlessMoment.self) {
      try Storm.playFunction(scenario, name: "at once", answer: ()) { call, _ in try await policy.run(call) }
    }
    #expect(endless.map { (20..<21).contains($0.seconds) } == true)
  }

  @Test func refuseAScenarioThatMakesNoSense() {
    var scenario = Self.scenario
    scenario.duration = -1
    #expect(throws: InvalidScenario.self) {
      try Storm.playFunction(scenario, name: "once", answer: ()) { call, _ in try await call() }
    }
  }
}
