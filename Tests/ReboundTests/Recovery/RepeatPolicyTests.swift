import Combine
import Expectations
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
    expectEqual(pauses(RepeatPolicy(clamping: 2)), [.zero, .zero])
    expectEqual(pauses(RepeatPolicy(clamping: 1, pause: .constant(.seconds(3)))), [.seconds(3)])
    let exponential = RepeatPolicy(clamping: 3, pause: .exponential(from: .seconds(1), multiplier: 3, jitter: .none))
    expectEqual(pauses(exponential), [.seconds(1), .seconds(3), .seconds(9)])
    expectEqual(pauses(RepeatPolicy(clamping: 2, pause: .custom { .seconds($0 + 1) })), [.seconds(1), .seconds(2)])
    expectEqual(pauses(RepeatPolicy.standard, limit: 100).count, 100)
    expectEqual(pauses(RepeatPolicy(clamping: -1)), [])
  }

  @Test(
    "times, pauses and intervals that make no sense are refused, with their names",
    arguments: [
      ("times", { @Sendable in try RepeatPolicy(times: -1) }),
      ("delay", { @Sendable in try RepeatPolicy(pause: .constant(.seconds(-1))) }),
      ("jitter", { @Sendable in try RepeatPolicy(pause: .standard.jittered(.ratio(2))) }),
      ("every", { @Sendable in try RepeatPolicy(every: .seconds(-1)) }),
      ("every", { @Sendable in try RepeatPolicy(every: .zero) }),
      ("times", { @Sendable in try RepeatPolicy(every: .seconds(1), times: -1) }),
    ] as [(String, @Sendable () throws -> RepeatPolicy)]
  )
  func refuses(setting: String, make: @Sendable () throws -> RepeatPolicy) {
    let error = #expect(throws: InvalidPolicy.self) { _ = try make() }
    #expect(error?.kind == .repeat && error?.setting == setting)
  }

  @Test("an interval that makes no sense is brought to a millisecond, so that nothing is repeated at once, for ever")
  func interval() throws {
    try expectEqual(RepeatPolicy(every: .milliseconds(1)).interval, .milliseconds(1))
    expectEqual(RepeatPolicy(clampingEvery: .seconds(-1)).interval, .milliseconds(1))
    expectEqual(RepeatPolicy(clampingEvery: .seconds(2), times: -1).times, 0)
    let repeated = Empty<Int, Never>().repeat(every: .seconds(-1), times: 1)
    #expect(repeated.policy.traits.repeats)
  }

  @Test("draws the same pauses from the same seed")
  func seeded() {
    func drawn() -> [Duration] { pauses(RepeatPolicy(clamping: nil, pause: .standard, random: .seeded(1))) }
    expectEqual(drawn(), drawn())
    expectEqual(Set(drawn()).count, 5)
  }
}
