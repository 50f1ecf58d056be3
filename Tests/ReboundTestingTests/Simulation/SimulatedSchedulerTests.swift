import Expectations
import Rebound
import ReboundTesting
import StreamSupport
import Testing

@Suite struct SimulatedSchedulerTests {
  @Test func workIsDoneInTheOrderInWhichItWasScheduledUnderEverySchedule() throws {
    try simulate(runs: 200) {
      let scheduler = SimulatedScheduler()
      let done = Locked<[Int]>([])
      for number in 1...4 { scheduler.schedule { done.withLock { $0.append(number) } } }
      try await TimeSource.current.sleep(for: .seconds(1))
      try requireEqual(done.withLock { $0 }, [1, 2, 3, 4])
    }
  }

  @Test func workTakesItsPlaceAmongTheOthersByTheSeed() throws {
    let orders = Locked<Set<[String]>>([])
    try simulate(runs: 50) {
      let scheduler = SimulatedScheduler()
      let done = Locked<[String]>([])
      scheduler.schedule { done.withLock { $0.append("work") } }
      await Task { @Sendable in done.withLock { $0.append("task") } }.value
      try await TimeSource.current.sleep(for: .seconds(1))
      orders.withLock { _ = $0.insert(done.withLock { $0 }) }
    }
    expectEqual(orders.withLock { $0 }, [["task", "work"], ["work", "task"]])
  }

  @Test func withoutASimulationItWorksInTheTimeThatItIsGiven() {
    // A timer of this one ends when what it returns is released.
    let virtual = TestScheduler()
    let scheduler = SimulatedScheduler(time: virtual.time)
    let done = Locked<[String]>([])
    scheduler.schedule { done.withLock { $0.append("now") } }
    scheduler.schedule(after: scheduler.now.advanced(by: .seconds(1))) { done.withLock { $0.append("later") } }
    virtual.advance()
    expectEqual(done.withLock { $0 }, ["now"])
    virtual.advance(by: .seconds(1))
    expectEqual(done.withLock { $0 }, ["now", "later"])
    expectEqual(virtual.pendingCount, 0)
  }

  @Test func aTimerComesWhenItIsDueUnlessItIsCancelled() throws {
    try Simulation(seed: 1).run {
      let scheduler = SimulatedScheduler()
      let times = Locked<[VirtualTime]>([])
      let timer = scheduler.schedule(
        after: VirtualTime(nanoseconds: 2_000_000_000),
        interval: .seconds(3),
        tolerance: .zero,
        options: nil
      ) {
        times.withLock { $0.append(scheduler.now) }
      }
      let cancelled = scheduler.time.after(.seconds(1)) { times.withLock { $0.append(scheduler.now) } }
      cancelled.cancel()
      try await TimeSource.current.sleep(for: .seconds(9))
      timer.cancel()
      try await TimeSource.current.sleep(for: .seconds(9))
      try requireEqual(times.withLock { $0 }.map { $0.nanoseconds / 1_000_000_000 }, [2, 5, 8])
    }
  }
}
