import Expectations
import ReboundTesting
import StreamSupport
import Testing

@Suite struct TestClockTests {
  @Test func aSleeperWakesWhenItsTimeHasCome() async throws {
    let clock = TestClock()
    let woken = Locked(false)
    let sleeper = Task {
      try await clock.sleep(for: .seconds(10))
      woken.withLock { $0 = true }
    }
    await clock.hasSleepers(1)
    clock.advance(by: .seconds(9))
    #expect(!woken.withLock { $0 })
    clock.advance(by: .seconds(1))
    try await sleeper.value
    expectEqual(clock.now.offset, .seconds(10))
  }

  @Test func aMomentThatIsPastIsNotWaitedFor() async throws {
    let clock = TestClock()
    try await clock.sleep(until: clock.now)
    expectEqual(clock.now.offset, .zero)
  }

  @Test func aCancelWakesASleeperAtOnce() async {
    let clock = TestClock()
    let sleeper = Task { try await clock.sleep(for: .seconds(10)) }
    await clock.hasSleepers(1)
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }

  @Test func sleepersAreWaitedForUntilThereAreSoMany() async throws {
    let clock = TestClock()
    let sleepers = (1...3).map { seconds in Task { try await clock.sleep(for: .seconds(seconds)) } }
    await clock.hasSleepers(3)
    clock.advance(by: .seconds(3))
    for sleeper in sleepers { try await sleeper.value }
  }

  @Test func noScheduleOfASleepAndACancelHangs() throws {
    try simulate(runs: 300) {
      let clock = TestClock()
      let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
      Task.detached { sleeper.cancel() }
      Task { clock.advance(by: .seconds(2)) }
      Task { await clock.hasSleepers(0) }
      _ = await sleeper.result
    }
  }
}
