import Expectations
import Rebound
import Testing

@Suite("RepeatPolicy.run")
struct RepeatPolicyRunTests {
  private let events = Log<RepeatEvent>()

  @Test("repeats a function as it repeats a publisher")
  func function() async throws {
    let clock = JumpingClock()
    let runs = Log<Duration>()
    try await RepeatPolicy(clamping: 2, pause: .linear(.seconds(1))).onEvent(events.write).run(time: clock.time) {
      runs.write(clock.now.sinceStart)
    }
    expectEqual(runs.entries, [.zero, .seconds(1), .seconds(3)])
    expectEqual(
      events.entries.map(\.description),
      [
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
      try await RepeatPolicy(clamping: nil, pause: pause).run(time: clock.time) {
        if runs.number(()) == 3 { throw TestFailure.permanent }
      }
    }
    let task = Task {
      try await RepeatPolicy(clamping: nil, pause: pause).run(time: clock.time) {
        if runs.number(()) == 6 { withUnsafeCurrentTask { $0?.cancel() } }
      }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    expectEqual(runs.count, 6)
  }
}
