import ReboundStorm
import Testing

@Suite("A search for a policy")
struct PolicySearchTests {
  private let seen = [Scenario.minuteOfOutage(clients: 500)]

  @Test func findsAFrontWhoseBestIsBetterThanTheLadderOnWhatItHasNotSeen() throws {
    let front = try PolicySearch(scenarios: seen, tries: 120).run()
    let unseen = [11, 12].map { Scenario.minuteOfOutage(clients: 800, seed: $0) }
    let best = try #require(try front.judged(on: unseen).best)
    for policy in NamedPolicy.ladder {
      let score = try policy.settings.score(on: unseen)
      #expect(best.score.cost < score.cost, "\(policy.name)")
    }
    for policy in front.policies {
      #expect(!front.policies.contains { $0.score.dominates(policy.score) })
    }
  }

  @Test("it says after each policy how many were tried, those that it begins with included")
  func progress() throws {
    var told: [Int] = []
    let start = NamedPolicy.ladder.prefix(2).map(\.settings)
    _ = try PolicySearch(scenarios: [.minuteOfOutage(clients: 20)], tries: 4, start: start).run { told.append($0) }
    #expect(told == [1, 2, 3, 4])
  }

  @Test func findsTheSameForTheSameSeed() throws {
    let search = PolicySearch(scenarios: [.minuteOfOutage(clients: 100)], tries: 20)
    #expect(try search.run() == search.run())
  }
}
