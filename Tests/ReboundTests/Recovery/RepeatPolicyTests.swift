import Rebound
import ReboundTesting
import Testing

@Suite("RepeatPolicy")
struct RepeatPolicyTests {
  /// The pauses of a policy, until it stops or has made as many.
  private func pauses(_ policy: RepeatPolicy, limit: Int = 5) -> [Duration] {
    var machine = RepeatMachine(policy)
    var pauses: [Duration] = []
    while pauses.count < limit, let pause = machine.finished() { pauses.append(pause) }
    return pauses
  }

  @Test("knows the behaviours of others: immediate, delayed, exponential, of one's own")
  func behaviours() {
    #expect(pauses(RepeatPolicy(times: 2)) == [.zero, .zero])
    #expect(pauses(RepeatPolicy(times: 1, pause: .constant(.seconds(3)))) == [.seconds(3)])
    let exponential = RepeatPolicy(times: 3, pause: .exponential(from: .seconds(1), multiplier: 3, jitter: .none))
    #expect(pauses(exponential) == [.seconds(1), .seconds(3), .seconds(9)])
    #expect(pauses(RepeatPolicy(times: 2, pause: .custom { .seconds($0 + 1) })) == [.seconds(1), .seconds(2)])
    #expect(pauses(RepeatPolicy(), limit: 100).count == 100)
    #expect(pauses(RepeatPolicy(times: -1)) == [])
  }

  @Test("draws the same pauses from the same seed")
  func seeded() {
    func drawn() -> [Duration] { pauses(RepeatPolicy(pause: .standard, random: .seeded(1))) }
    #expect(drawn() == drawn())
    #expect(Set(drawn()).count == 5)
  }
}
