import Expectations
import Testing

@Suite("The clock that tests step")
struct SteppedClockTests {
  @Test("lets nobody wait for sleepers whose task is cancelled")
  func cancelled() async {
    let clock = SteppedClock()
    let tasks = (1...20).map { count in Task { try await clock.untilAsleep(count) } }
    for task in tasks { task.cancel() }
    for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
  }

  @Test("tells who waits as soon as enough sleep, and wakes these in the order of their moments")
  func sleepers() async throws {
    let clock = SteppedClock()
    let sleepers = (1...3).map { seconds in
      // Virtual time: until the clock is advanced.
      Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(seconds)), tolerance: nil) }
    }
    try await clock.untilAsleep(3)
    clock.advance(by: .seconds(2))
    try await sleepers[0].value
    try await sleepers[1].value
    expectEqual(clock.sleeperCount, 1)
    sleepers[2].cancel()
    await #expect(throws: CancellationError.self) { try await sleepers[2].value }
    expectEqual(clock.sleeperCount, 0)
  }
}
