import StormSimulation
import Testing

@Suite("A storm of retries")
struct StormTests {
  private static let scenario = Scenario(clients: 10_000)

  /// The run that most tests look at; each test may wait for it, none needs another.
  private static let shared = Result { try play(scenario) }

  private func results() throws -> [String: StormResult] { try Self.shared.get() }

  private static func play(_ scenario: Scenario) throws -> [String: StormResult] {
    let results = try StormResult.all(scenario, policies: ClientPolicy.ladder())
    return Dictionary(uniqueKeysWithValues: results.map { ($0.policy, $0) })
  }

  @Test("swamps the server that comes back, unless a budget bounds the retries")
  func recovery() throws {
    let results = try results()
    let budget = try #require(results["… and a budget of 10 %"])
    #expect(budget.peakInRecovery <= 1.2)
    #expect(budget.secondsToRecover == 0)
    let breaker = try #require(results["… and a circuit breaker"])
    #expect(breaker.peakInRecovery <= 1.2)
    #expect(breaker.amplification < 1)

    let atOnce = try #require(results["10 retries, at once"])
    #expect(atOnce.peakInRecovery > 3)
    #expect(atOnce.secondsToRecover == nil)
    let fixed = try #require(results["10 retries, after 1 s"])
    #expect(fixed.peakInRecovery > 3)
    #expect(fixed.secondsToRecover == nil)

    let inStep = try #require(results["exponential, 0.5 s to 20 s"]?.secondsToRecover)
    let spread = try #require(results["… with full jitter"]?.secondsToRecover)
    #expect(spread < inStep)
  }

  @Test("does nothing that is not accounted for")
  func accounts() throws {
    for result in try results().values {
      let begun = result.begun.reduce(0, +)
      let ended = (result.succeeded + result.givenUp).reduce(0, +)
      // What goes on when the run ends has no outcome.
      #expect(ended <= begun && begun - ended <= Self.scenario.clients, "\(result.policy)")
      #expect(result.served.reduce(0, +) >= result.succeeded.reduce(0, +), "\(result.policy)")
      for second in result.outage { #expect(result.served[second] == 0, "\(result.policy)") }
    }
  }

  @Test("is a calm without an outage: every question is one request, and is answered")
  func calm() throws {
    var scenario = Self.scenario
    scenario.outage = 50..<50
    for result in try Self.play(scenario).values {
      #expect(result.offered.allSatisfy { $0 == Int(result.normalLoad) }, "\(result.policy)")
      #expect(result.served == result.offered, "\(result.policy)")
      #expect(result.givenUp.allSatisfy { $0 == 0 }, "\(result.policy)")
      #expect(result.secondsToRecover == 0, "\(result.policy)")
    }
  }

  @Test("is the same each time for one seed, and another for another")
  func seeded() throws {
    #expect(try results() == Self.play(Self.scenario))
    let other = try Self.play(Scenario(clients: 10_000, seed: 2))
    #expect(try results()["… with full jitter"] != other["… with full jitter"])
    #expect(try results()["no retry"] == other["no retry"])
  }

  @Test("does not depend on how many clients there are")
  func scale() throws {
    let few = try Self.play(Scenario(clients: 2_000))
    let many = try results()
    for (policy, result) in few {
      let other = try #require(many[policy])
      #expect(abs(result.amplification - other.amplification) < 0.15 * other.amplification, "\(policy)")
    }
  }
}
