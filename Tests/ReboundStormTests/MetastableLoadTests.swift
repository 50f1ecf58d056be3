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

  @Test func takesAFewPlaysHoweverPreciseItIsToBe() throws {
    var plays = 0
    _ = try Storm.metastableLoad(in: Self.scenario, precision: 0) { scenario in
      plays += 1
      return try PolicySettings(maxRetries: 10).play(scenario)
    }
    #expect(plays <= 12)
  }

  @Test func isNotLookedForInAScenarioThatMakesNoSense() {
    var scenario = Self.scenario
    scenario.duration = 0
    #expect(throws: InvalidScenario.self) { try Storm.metastableLoad(in: scenario) { try Storm.playCalls($0) } }
  }
}
