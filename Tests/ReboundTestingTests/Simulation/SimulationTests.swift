import Expectations
import Foundation
import Rebound
import ReboundTesting
import StreamSupport
import Testing

private actor Counter {
  private(set) var value = 0

  func set(_ value: Int) { self.value = value }

  func add(_ amount: Int) { value += amount }
}

@MainActor private enum Screen {
  nonisolated static func assertMain() { MainActor.assertIsolated() }

  static func touch(_ counter: Counter) async {
    assertMain()
    await counter.add(1)
  }
}

@Suite struct SimulationTests {
  @Test func allKindsOfTasksRunToTheirEnd() throws {
    try Simulation(seed: 1).run {
      let counter = Counter()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<3 { group.addTask { await counter.add(1) } }
      }
      async let child: Void = counter.add(1)
      await child
      await Task { await counter.add(1) }.value
      await Task.detached { await counter.add(1) }.value
      await Screen.touch(counter)
      await Task { @MainActor in await Screen.touch(counter) }.value
      try requireEqual(await counter.value, 8)
    }
  }

  @Test func aTaskWithAnExecutorOfItsOwnKeepsIt() throws {
    final class AtOnce: TaskExecutor {
      let jobs = Locked(0)

      func enqueue(_ job: consuming ExecutorJob) {
        jobs.withLock { $0 += 1 }
        UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
      }
    }
    try Simulation(seed: 1).run {
      let (unstructured, structured) = (AtOnce(), AtOnce())
      await Task(executorPreference: unstructured) {}.value
      try requireEqual(unstructured.jobs.withLock { $0 }, 1)
      await withTaskExecutorPreference(structured) {
        async let child: Void = Task.yield()
        await child
      }
      try requireTrue(structured.jobs.withLock { $0 } > 1, "the child, too")
    }
  }

  @Test func sleepsOfCodeThatKnowsNothingOfItTakeNoTime() throws {
    let report = try Simulation(seed: 1).run {
      try await ContinuousClock().sleep(for: .seconds(100))
      try await SuspendingClock().sleep(for: .seconds(20))
      try await Task.detached { try await ContinuousClock().sleep(for: .seconds(3)) }.value
      try await Task { @MainActor in try await ContinuousClock().sleep(for: .seconds(4)) }.value
    }
    expectEqual(report.duration, .seconds(127))
  }

  @Test func aSleepIsNoShorterThanItWasToBeBetweenTwoNanosecondsEither() throws {
    try Simulation(seed: 1).run {
      let third = Duration.seconds(1) / 3
      let moment = ContinuousClock.now
      try await ContinuousClock().sleep(until: moment + third)
      try requireEqual(moment.duration(to: .now), .nanoseconds(333_333_334))
      let start = TimeSource.current.now
      try await TimeSource.current.sleep(for: third)
      try requireEqual(TimeSource.current.now - start, .nanoseconds(333_333_334))
    }
  }

  @Test func aTimerCostsTheSameHoweverManyWereSetBefore() throws {
    // Each question for the hook of timers, and each for the main actor, once wrapped it anew: the stack overflowed.
    let report = try Simulation(seed: 1).run {
      for _ in 0..<150_000 { try await TimeSource.system.sleep(for: .seconds(1)) }
      await Task { @MainActor in for _ in 0..<10_000 { await Task.yield() } }.value
    }
    expectEqual(report.duration, .seconds(150_000))
  }

  @Test func theSystemsClocksGoByVirtualTime() throws {
    try Simulation(seed: 1).run {
      let (moment, date) = (ContinuousClock.now, Date())
      try await ContinuousClock().sleep(for: .seconds(90))
      try requireEqual(moment.duration(to: .now), .seconds(90))
      try requireEqual(Date().timeIntervalSince(date), 90)
    }
  }

  @Test func aProcessWhoseFirstReadingOfTheTimeIsSimulatedHasTimersAfterwards() async {
    await #expect(processExitsWith: .success) {
      func reading() throws -> Duration {
        let reading = Locked(Duration.zero)
        try Simulation(seed: 1).run { _ = reading.exchange(TimeSource.system.now) }
        return reading.withLock { $0 }
      }
      let first = try reading()
      // The system's own timer, outside of any simulation: waited for, however late it comes.
      let before = TimeSource.system.now
      let moment = await withCheckedContinuation { continuation in
        _ = TimeSource.system.after(.zero) { continuation.resume(returning: TimeSource.system.now) }
      }
      precondition(moment >= before && before >= .zero)
      let second = try reading()
      precondition(second == first)
    }
  }

  @Test func timeSourcesGoByVirtualTimeAlsoInDetachedTasks() throws {
    let report = try Simulation(seed: 1).run {
      try await TimeSource.current.sleep(for: .seconds(30))
      try await Task.detached { try await TimeSource.current.sleep(for: .seconds(12)) }.value
      try requireEqual(TimeSource.current.now, .seconds(42))
    }
    expectEqual(report.duration, .seconds(42))
  }

  @Test func chanceIsTheSeeds() throws {
    func draws(seed: UInt64) throws -> [Int] {
      let drawn = Locked<[Int]>([])
      try Simulation(seed: seed).run {
        let numbers = (0..<4).map { _ in Int.random(in: 0..<1_000_000) } + [Int(RandomSource.system.next() * 1_000_000)]
        drawn.withLock { $0 = numbers }
      }
      return drawn.withLock { $0 }
    }
    try expectEqual(draws(seed: 1), draws(seed: 1))
    #expect(try draws(seed: 1) != draws(seed: 2))
  }
}
