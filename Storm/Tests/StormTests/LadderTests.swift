import ReboundStorm
import Testing

@Suite("The ladder of policies")
struct LadderTests {
  private static let scenario = Scenario.minuteOfOutage(clients: 10_000)

  /// A task, so that who waits for it leaves its thread to the plays.
  private static let shared = Task { try await play(scenario) }

  private static func play(_ scenario: Scenario) async throws -> [String: Storm] {
    try await withThrowingTaskGroup(of: Storm.self) { group in
      for policy in NamedPolicy.ladder {
        group.addTask { try policy.settings.play(scenario, name: policy.name) }
      }
      return try await group.reduce(into: [:]) { $0[$1.name] = $1 }
    }
  }

  @Test func swampsTheServiceUnlessABudgetBoundsTheRetries() async throws {
    let storms = try await Self.shared.value
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

  @Test func doesNotDependOnHowManyClientsThereAre() async throws {
    let few = try await Self.play(.minuteOfOutage(clients: 2_000))
    for (policy, storm) in try await Self.shared.value {
      let other = try #require(few[policy])
      #expect(abs(storm.amplification - other.amplification) < 0.15 * other.amplification, "\(policy)")
    }
  }
}
