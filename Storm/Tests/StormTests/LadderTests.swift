import ReboundStorm
import Testing

@Suite("The ladder of policies")
struct LadderTests {
  private static let scenario = Scenario.minuteOfOutage(clients: 10_000)

  private static let shared = Result { try play(scenario) }

  private static func play(_ scenario: Scenario) throws -> [String: Storm] {
    let storms = try NamedPolicy.ladder.map { try $0.settings.play(scenario, name: $0.name) }
    return Dictionary(uniqueKeysWithValues: storms.map { ($0.name, $0) })
  }

  @Test func swampsTheServiceUnlessABudgetBoundsTheRetries() throws {
    let storms = try Self.shared.get()
    let budget = try #require(storms["… and a budget of 10 %"])
    #expect(budget.peakAfterTrouble <= 1.2)
    #expect(budget.recovers(within: .seconds(1)))
    let breaker = try #require(storms["… and a circuit breaker"])
    #expect(breaker.peakAfterTrouble <= 1.2)
    #expect(breaker.amplification < 1)
    for name in ["10 retries, at once", "10 retries, after 1 s"] {
      let storm = try #require(storms[name])
      #expect(storm.peakAfterTrouble > 3)
      #expect(storm.isMetastable)
    }
    // Waves of clients in step may go on to the end of the play.
    let inStep = storms["exponential, 0.5 s to 20 s"]?.secondsToRecover ?? .max
    let spread = try #require(storms["… with full jitter"]?.secondsToRecover)
    #expect(spread < inStep)
  }

  @Test func doesNotDependOnHowManyClientsThereAre() throws {
    let few = try Self.play(.minuteOfOutage(clients: 2_000))
    for (policy, storm) in try Self.shared.get() {
      let other = try #require(few[policy])
      #expect(abs(storm.amplification - other.amplification) < 0.15 * other.amplification, "\(policy)")
    }
  }
}
