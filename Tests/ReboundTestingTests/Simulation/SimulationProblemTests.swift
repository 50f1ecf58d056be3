import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import StreamSupport
import Testing

/// A promise that nobody may ever keep.
private actor Promise {
  private var waiters: [CheckedContinuation<Void, Never>] = []
  private var isKept = false

  func wait() async {
    guard !isKept else { return }
    await withCheckedContinuation { waiters.append($0) }
  }

  var isAwaited: Bool { !waiters.isEmpty }

  /// What resumes those who wait, on whichever thread.
  func resumptions() -> @Sendable () -> Void {
    { [waiters] in for waiter in waiters { waiter.resume() } }
  }

  func keep() {
    isKept = true
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}

/// Stands still until another thread says so.
private func blocking(_ semaphore: DispatchSemaphore) async { _ = semaphore.wait(timeout: .distantFuture) }

@Suite struct SimulationProblemTests {
  private func problem(
    limits: SimulationLimits = SimulationLimits(),
    _ body: @escaping @Sendable () async throws -> Void
  ) throws -> SimulationProblem? {
    let failure = #expect(throws: SimulationFailure.self) { try Simulation(seed: 1, limits: limits).run(body) }
    return failure?.cause as? SimulationProblem
  }

  @Test func tasksThatWaitForEachOtherAreADeadlock() throws {
    let found = try problem {
      let (first, second) = (Promise(), Promise())
      let left = Task {
        await first.wait()
        await second.keep()
      }
      let right = Task {
        await second.wait()
        await first.keep()
      }
      await left.value
      await right.value
    }
    guard case .stuck(let waiting) = found else {
      Issue.record("\(String(describing: found))")
      return
    }
    expectEqual(
      waiting,
      [
        "task 1 waits for task 2 in closure #1 in \(Self.self).tasksThatWaitForEachOtherAreADeadlock()",
        "task 2 waits in Promise.wait(), called by closure #1 in closure #1 in "
          + "\(Self.self).tasksThatWaitForEachOtherAreADeadlock()",
        "task 3 waits in Promise.wait(), called by closure #2 in closure #1 in "
          + "\(Self.self).tasksThatWaitForEachOtherAreADeadlock()",
      ]
    )
  }

  @Test func aTaskThatNobodyWaitsForAndThatWaitsForEverIsLeftOver() throws {
    let found = try problem {
      Task { await Promise().wait() }
    }
    let function = "\(Self.self).aTaskThatNobodyWaitsForAndThatWaitsForEverIsLeftOver()"
    expectEqual(
      found,
      .leftOver(
        tasks: ["task 2 waits in Promise.wait(), called by closure #1 in closure #1 in \(function)"],
        timers: 0
      )
    )
  }

  @Test func aSinkThatNobodyEndsIsLeftOver() throws {
    final class Screen {
      let subject = PassthroughSubject<Int, Never>()
      var subscription: AnyCancellable?
      var last = 0

      // The classic: the screen keeps the handle, and the handle's closure the screen.
      func begin() { subscription = subject.sink { self.last = $0 } }
    }
    let found = try problem { Screen().begin() }
    expectEqual(found, .leftOver(tasks: [], timers: 0, subscriptions: ["Sink<Int, Never>"]))
    try Simulation(seed: 1).run {
      let screen = Screen()
      screen.begin()
      screen.subject.send(completion: .finished)
      let other = Screen()
      other.begin()
      other.subscription?.cancel()
      _ = Just(1).sink { _ in }
    }
  }

  @Test func leftOversCanBeAllowed() throws {
    try Simulation(seed: 1, limits: SimulationLimits(allowsLeftOvers: true)).run {
      Task { await Promise().wait() }
    }
  }

  @Test func aTaskThatHasEndedIsNotLeftOver() throws {
    try Simulation(seed: 1).run {
      for _ in 0..<5 { Task.detached { await Promise().keep() } }
      let kept = Task { try await ContinuousClock().sleep(for: .seconds(5)) }
      try await kept.value
    }
  }

  @Test func aTimerBeyondTheSettlingTimeIsLeftOver() throws {
    let found = try problem {
      _ = TimeSource.current.after(.seconds(10_000)) {}
    }
    expectEqual(found, .leftOver(tasks: [], timers: 1))
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min) * 2])
  func noTimeToSettleLeavesEachTimerOver(settling: Duration) throws {
    let found = try problem(limits: SimulationLimits(settling: settling)) {
      _ = TimeSource.current.after(.seconds(1)) {}
    }
    expectEqual(found, .leftOver(tasks: [], timers: 1))
  }

  @Test func aCancelledTimerIsNot() throws {
    let report = try Simulation(seed: 1).run {
      TimeSource.current.after(.seconds(10_000)) {}.cancel()
      try await TimeSource.current.sleep(for: .seconds(1))
    }
    expectEqual(report.duration, .seconds(1))
  }

  @Test func aDeadlockBesideAHeartbeatEnds() throws {
    let limits = SimulationLimits(steps: 1_000)
    let found = try problem(limits: limits) {
      // Virtual time: the simulation owns this clock.
      let heartbeat = Task { while !Task.isCancelled { try await ContinuousClock().sleep(for: .seconds(1)) } }
      await Promise().wait()
      heartbeat.cancel()
    }
    guard case .endless(let steps, let waiting) = found else {
      Issue.record("\(String(describing: found))")
      return
    }
    #expect(steps >= 1_000)
    expectEqual(waiting.first?.hasPrefix("task 1 waits in Promise.wait()"), true)
  }

  @Test func aDeadlockBesideAHeartbeatIsNotMadeSimpler() throws {
    let runs = Locked(0)
    let failure = #expect(throws: SimulationFailure.self) {
      try simulate(runs: 1, limits: SimulationLimits(steps: 1_000)) {
        runs.withLock { $0 += 1 }
        let heartbeats = [1, 2].map { length in
          // Virtual time: the simulation owns this clock.
          Task { while !Task.isCancelled { try await ContinuousClock().sleep(for: .seconds(length)) } }
        }
        await Promise().wait()
        for heartbeat in heartbeats { heartbeat.cancel() }
      }
    }
    guard case .endless = failure?.cause as? SimulationProblem else {
      Issue.record("\(String(describing: failure))")
      return
    }
    // The one that was found, and the one that says whether it comes again.
    expectEqual(runs.withLock { $0 }, 2)
  }

  @Test func aLoopThatNeverRestsEnds() throws {
    let found = try problem(limits: SimulationLimits(stepsAtOneMoment: 1_000)) {
      while !Task.isCancelled { await Task.yield() }
    }
    expectEqual(found, .restless(steps: 1_000))
  }

  @Test func aLoopOfSleepsThatTimeCannotFollowNeverRests() throws {
    let found = try problem(limits: SimulationLimits(stepsAtOneMoment: 1_000)) {
      // Time ends after 292 years, and each sleep is longer.
      while !Task.isCancelled { try await ContinuousClock().sleep(for: .seconds(1 << 40)) }
    }
    expectEqual(found, .restless(steps: 1_000))
  }

  @Test func whatAnotherThreadResumesIsWorkFromOutside() throws {
    let found = try problem {
      let promise = Promise()
      let waiter = Task { await promise.wait() }
      while !(await promise.isAwaited) { await Task.yield() }
      // The simulation's thread stands here until the other has done its work.
      let done = DispatchSemaphore(value: 0)
      let resume = await promise.resumptions()
      DispatchQueue.global().async {
        resume()
        done.signal()
      }
      await blocking(done)
      await waiter.value
    }
    let function = "\(Self.self).whatAnotherThreadResumesIsWorkFromOutside()"
    expectEqual(
      found,
      .outsideWork(places: ["task 2 in Promise.wait(), called by closure #1 in closure #1 in \(function)"])
    )
  }

  @Test func whatTheBodyThrowsIsTheCause() throws {
    struct Broken: Error {}
    let failure = #expect(throws: SimulationFailure.self) { try Simulation(seed: 3).run { throw Broken() } }
    #expect(failure?.cause is Broken)
    expectEqual(failure?.seed, 3)
  }
}
