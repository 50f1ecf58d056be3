import ReboundStorm
import Testing

@Suite("A search for a policy")
struct PolicySearchTests {
  private static var scenario: Scenario {
    Scenario(arrivals: .poisson(perSecond: 10), service: Service(concurrency: 5, time: .constant(0.05)), duration: 10)
  }

  @Test func refusesAScenarioThatMakesNoSenseAlsoWhereItBeginsAtRandom() {
    var scenario = Self.scenario
    scenario.processes = 0
    let search = PolicySearch(scenarios: [scenario], tries: 10, start: [])
    #expect(#expect(throws: InvalidScenario.self) { try search.run() }?.setting == "processes")
  }

  @Test func refusesToJudgeOnNothing() throws {
    let refusal = #expect(throws: InvalidScenario.self) { try PolicySearch(scenarios: [], tries: 10).run() }
    #expect(refusal?.description == "Scenario: scenarios is []. Give at least one.")
    #expect(throws: InvalidScenario.self) { try PolicySettings().score(on: []) }
    let front = try PolicySearch(scenarios: [Self.scenario], tries: 1, start: [PolicySettings()]).run()
    #expect(throws: InvalidScenario.self) { try front.judged(on: []) }
  }

  @Test func takesClientsThatHardlyThink() throws {
    var scenario = Self.scenario
    scenario.arrivals = .closed(clients: 2, thinkTime: .constant(1e-300))
    scenario.duration = 1
    let front = try PolicySearch(scenarios: [scenario], tries: 6, start: []).run()
    #expect(!front.policies.isEmpty)
  }

  @Test func triesAllThatItBeginsWith() throws {
    var told: [Int] = []
    let start = Array(repeating: PolicySettings(), count: 3)
    _ = try PolicySearch(scenarios: [Self.scenario], tries: 2, start: start).run { told.append($0) }
    #expect(told == [1, 2, 3])
  }
}
