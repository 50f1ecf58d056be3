import Rebound
import ReboundTesting
import Testing

@Suite("RepeatPolicy")
struct RepeatPolicyTests {
  private let events = Log<RepeatEvent>()

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

  @Test("repeats a function as it repeats a publisher")
  func function() async throws {
    let clock = JumpingClock()
    let runs = Log<Duration>()
    try await RepeatPolicy(times: 2, pause: .linear(.seconds(1))).onEvent(events.write).run(clock: clock) {
      runs.write(clock.now.sinceStart)
    }
    #expect(runs.entries == [.zero, .seconds(1), .seconds(3)])
    #expect(
      events.entries.map(\.description) == [
        "run 1 finished; repeating in 1.0 seconds", "run 2 finished; repeating in 2.0 seconds",
        "run 3 finished; stopped",
      ]
    )
  }

  @Test(
    "ends with what a run throws, or with the task's cancel between two runs",
    arguments: [Backoff.immediate, .standard]
  )
  func ends(pause: Backoff) async {
    let clock = JumpingClock()
    let runs = Log<Void>()
    await #expect(throws: TestFailure.permanent) {
      try await RepeatPolicy(pause: pause).run(clock: clock) { if runs.number(()) == 3 { throw TestFailure.permanent } }
    }
    let task = Task {
      try await RepeatPolicy(pause: pause).run(clock: clock) {
        if runs.number(()) == 6 { withUnsafeCurrentTask { $0?.cancel() } }
      }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(runs.count == 6)
  }
}
