import Combine
import Rebound
import ReboundStorm
import Testing

@Suite("The load from which on a storm feeds itself")
struct MetastableLoadTests {
  private static let scenario = Scenario.minuteOfOutage(clients: 200)

  private func load(_ settings: PolicySettings, precision: Double = 0.04) throws -> Double? {
    try Storm.metastableLoad(in: Self.scenario, precision: precision) { try settings.play($0) }
  }

  @Test func isBelowTheCapacityForManyRetriesAtOnce() throws {
    let load = try #require(try load(PolicySettings(maxRetries: 10)))
    #expect(load < 0.6 * Self.scenario.service.capacity)
    var below = Self.scenario
    below.arrivals = below.arrivals.scaled(by: (load - 0.05 * below.service.capacity) / below.arrivals.rate)
    #expect(try !PolicySettings(maxRetries: 10).play(below).isMetastable)
    var above = Self.scenario
    above.arrivals = above.arrivals.scaled(by: load / above.arrivals.rate)
    #expect(try PolicySettings(maxRetries: 10).play(above).isMetastable)
  }

  @Test func isHigherForFewerRetries() throws {
    let many = try #require(try load(PolicySettings(maxRetries: 10)))
    let few = try load(PolicySettings(maxRetries: 2)) ?? .infinity
    #expect(few > many)
  }

  @Test func isNowhereWithABudget() throws {
    #expect(try load(PolicySettings(maxRetries: 10, firstDelay: 0.5, spread: .full, budgetRatio: 0.1)) == nil)
  }

  @Test func countsTheHighestLoadOfADayWithoutAnyRetry() throws {
    let day = Scenario(
      arrivals: .daily(perSecond: 80, amplitude: 0.5, period: 200),
      service: Service(concurrency: 1, queueLimit: 1_000, time: .constant(0.01)),
      faults: [.outage(from: 5, to: 10)],
      duration: 250
    )
    var loads: [Double] = []
    let load = try Storm.metastableLoad(in: day) { scenario in
      loads.append(scenario.arrivals.rate)
      return try Storm.playCalls(scenario)
    }
    #expect(load == nil)
    #expect(loads.map { Int(($0 * 15).rounded()) } == [980])
  }

  @Test func asksForNoMoreThanTheServiceBearsWhereClientsAreFew() throws {
    let few = Scenario(
      arrivals: .periodic(clients: 1, every: 1.0 / 6),
      service: Service(concurrency: 1, time: .constant(0.1)),
      faults: [.outage(from: 5, to: 10)],
      duration: 60
    )
    let load = try Storm.metastableLoad(in: few) { scenario in
      // Two clients were 12 requests a second, and the service bears 10.
      #expect(scenario.arrivals == few.arrivals)
      return try Storm.playCalls(scenario, name: "fails", answer: ()) { _, _ in
        Fail(error: CancellationError()).eraseToAnyPublisher()
      }
    }
    #expect(load == few.arrivals.rate)
  }

  @Test func takesAFewPlaysHoweverPreciseItIsToBe() throws {
    var plays = 0
    _ = try Storm.metastableLoad(in: Self.scenario, precision: 0) { scenario in
      plays += 1
      return try PolicySettings(maxRetries: 10).play(scenario)
    }
    #expect(plays <= 12)
  }

  @Test func isNotLookedForWhereThePlayEndsTooSoonBehindTheFault() throws {
    var scenario = Self.scenario
    scenario.duration = 90
    let refusal = #expect(throws: InvalidScenario.self) {
      try Storm.metastableLoad(in: scenario) { try PolicySettings(maxRetries: 10).play($0) }
    }
    #expect(refusal?.setting == "duration")
    scenario.duration = 91
    #expect(try Storm.metastableLoad(in: scenario) { try PolicySettings(maxRetries: 10).play($0) } != nil)
  }

  @Test func isNotLookedForInAScenarioThatMakesNoSense() {
    var scenario = Self.scenario
    scenario.duration = 0
    #expect(throws: InvalidScenario.self) { try Storm.metastableLoad(in: scenario) { try Storm.playCalls($0) } }
  }
}
