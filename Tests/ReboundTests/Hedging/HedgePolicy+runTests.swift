import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("HedgePolicy.run")
struct HedgePolicyRunTests {
  private typealias Policy = HedgePolicy<TestFailure>

  private let scheduler = TestScheduler()
  private let timers = Log<Duration>()
  private let events = Log<String>()

  /// The scheduler's time, which writes down each timer that is set.
  private var time: TimeSource {
    let time = scheduler.time
    return TimeSource(
      now: { time.now },
      after: { [timers] delay, action in
        let timer = time.after(delay, action)
        timers.write(delay)
        return timer
      }
    )
  }

  private func policy(hedges: Int = 1, delay: HedgeDelay = .after(.seconds(2))) throws -> Policy {
    try Policy(maxHedges: hedges, delay: delay).when(\.isTransient).onEvent { [events] in events.write($0.description) }
  }

  @Test("returns what the primary attempt returns in time, and stops the timer")
  func primary() async throws {
    let value = try await policy().run(time: scheduler.time) { hedge throws(TestFailure) in hedge + 10 }
    expectEqual(value, 10)
    expectEqual(scheduler.pendingCount, 0)
    expectEqual(events.entries, ["primary attempt won after 0.0 seconds (cancelled: 0)"])
  }

  @Test("begins no hedge, asks no delay and sets no timer when the primary attempt returns without a wait")
  func immediate() async throws {
    let (begun, asked) = (Log<Int>(), Log<Int>())
    for delay in [
      HedgeDelay.parallel,
      .custom {
        asked.write($0); return .seconds(2)
      },
    ] {
      let policy = try policy(hedges: 3, delay: delay)
      let time = TimeSource(
        now: { .zero },
        after: { _, _ in
          Issue.record("a timer is set")
          return AnyCancellable {}
        }
      )
      let value = try await policy.run(time: time) { hedge throws(TestFailure) in begun.number(hedge) }
      expectEqual(value, begun.count)
    }
    expectEqual(begun.entries, [0, 0])
    expectEqual(asked.count, 0)
  }

  @Test("begins hedges after the delay although the primary attempt fails without a wait")
  func immediateFailure() async throws {
    let policy = try policy(hedges: 2)
    let task = Task {
      try await policy.run(time: time) { hedge throws(TestFailure) in
        if hedge == 0 { throw .transient }
        if hedge == 1 { await untilCancelled() }
        return hedge
      }
    }
    await timers.until(1)
    scheduler.advance(by: 2)
    try await expectEqual(task.value, 2)
    expectEqual(
      events.entries,
      [
        "primary attempt failed after 0.0 seconds (transient)", "hedge 1 begins after 0.0 seconds (failure)",
        "hedge 2 begins after 2.0 seconds (delay of 2.0 seconds)", "hedge 2 won after 2.0 seconds (cancelled: 1)",
      ]
    )
  }

  @Test("has one winner, and waits for all who lose, whoever comes at the same time", arguments: 0..<50)
  func race(seed: Int) async throws {
    let policy = try Policy(maxHedges: 3, delay: .parallel)
    let running = Log<Int>()
    let value = try await policy.run(time: time) { hedge throws(TestFailure) in
      for _ in 0..<(hedge * 7 + seed) % 5 { await Task.yield() }
      running.write(hedge)
      if (hedge + seed) % 3 == 0 { throw .numbered(hedge) }
      return hedge
    }
    #expect((value + seed) % 3 != 0)
    let ended = running.count
    await Task.yield()
    expectEqual(running.count, ended)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("goes on with a hedge when the primary attempt is late, which is cancelled and waited for")
  func hedgeWins() async throws {
    let ended = Log<Bool>()
    let policy = try policy()
    let task = Task {
      try await policy.run(time: time) { hedge throws(TestFailure) in
        if hedge == 0 {
          await untilCancelled()
          ended.write(Task.isCancelled)
        }
        return hedge
      }
    }
    await timers.until(1)
    scheduler.advance(by: 2)
    try await expectEqual(task.value, 1)
    expectEqual(ended.entries, [true])
    expectEqual(
      events.entries,
      [
        "hedge 1 begins after 2.0 seconds (delay of 2.0 seconds)", "hedge 1 won after 2.0 seconds (cancelled: 1)",
      ]
    )
  }

  @Test("throws what the primary attempt threw when all fail, and a fatal error at once", arguments: [true, false])
  func failures(isFatal: Bool) async throws {
    let policy = try policy(hedges: 2, delay: .afterFailure)
    let begun = Log<Int>()
    await #expect(throws: isFatal ? TestFailure.permanent : .numbered(0)) {
      try await policy.run(time: time) { hedge throws(TestFailure) in
        begun.write(hedge)
        throw isFatal && hedge == 1 ? .permanent : .numbered(hedge)
      }
    }
    expectEqual(begun.entries, isFatal ? [0, 1] : [0, 1, 2])
  }

  @Test("tells the hook what a loser throws")
  func loserThrows() async throws {
    let dropped = Log<String>()
    let observation = DroppedErrors.observe { dropped.write($0.description) }
    let policy = try policy(delay: .parallel)
    let value = try await policy.run(time: time) { hedge throws(TestFailure) in
      if hedge == 1 { return 1 }
      await untilCancelled()
      throw .numbered(7_005)
    }
    expectEqual(value, 1)
    expectEqual(
      dropped.entries.filter { $0.contains("7005") },
      ["HedgePolicy dropped an error that came too late: numbered(7005)"]
    )
    observation.cancel()
  }

  @Test("tells the hook what an attempt throws behind the one whose error the cancelled caller gets")
  func cancelledLoserThrows() async throws {
    let dropped = Log<String>()
    let observation = DroppedErrors.observe { dropped.write($0.description) }
    let policy = try policy(delay: .parallel)
    let begun = Log<Int>()
    let task = Task {
      try await policy.run(time: time) { hedge throws(TestFailure) in
        begun.write(hedge)
        await untilCancelled()
        throw .numbered(7_006)
      }
    }
    await begun.until(2)
    task.cancel()
    await #expect(throws: TestFailure.numbered(7_006)) { try await task.value }
    expectEqual(dropped.entries.count { $0.contains("numbered(7006)") }, 1)
    observation.cancel()
  }

  @Test("begins no hedge behind an observer who cancels the task, whatever begins it", arguments: [0, 2, 9])
  func cancelledByObserver(seconds: Int) async throws {
    // At once, when its time comes, and when the primary attempt has failed.
    let delay = [0: HedgeDelay.parallel, 2: .after(.seconds(2))][seconds] ?? .afterFailure
    let (scheduler, begun) = (scheduler, Log<Int>())
    let policy = try Policy(delay: delay).onEvent {
      if case .begins = $0 { withUnsafeCurrentTask { $0?.cancel() } }
    }
    let task = Task {
      try await policy.run(time: time) { hedge throws(TestFailure) in
        begun.write(hedge)
        if seconds < 9 { await untilCancelled() }
        throw .transient
      }
    }
    if seconds == 2 {
      await timers.until(1)
      scheduler.advance(by: 2)
    }
    await #expect(throws: TestFailure.transient) { try await task.value }
    expectEqual(begun.entries, [0])
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("begins no hedge in a task that is cancelled, and takes the cancel for no failure")
  func cancelled() async throws {
    let begun = Log<Int>()
    let policy = try policy(hedges: 3)
    let task = Task {
      try await policy.run(time: time) { hedge throws(TestFailure) in
        begun.write(hedge)
        await untilCancelled()
        throw .transient
      }
    }
    await timers.until(1)
    task.cancel()
    await #expect(throws: TestFailure.transient) { try await task.value }
    expectEqual(begun.entries, [0])
    expectEqual(events.count, 0)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("has the events of the hedged publisher")
  func equalLogs() async throws {
    let upstream = TestPublisher<Int, TestFailure>()
    upstream.hedged(try policy(hedges: 2), time: scheduler.time).subscribe(Recorder())
    scheduler.advance(by: 2)
    upstream.send(completion: .failure(.numbered(1)))
    scheduler.advance(by: 1)
    upstream.connections[2].send(1)
    let expected = events.entries

    let other = Log<String>()
    let policy = try Policy(maxHedges: 2).when(\.isTransient).onEvent { other.write($0.description) }
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let task = Task {
      try await policy.run(time: time) { hedge throws(TestFailure) in
        switch hedge {
        case 0: await untilCancelled()
        case 1: throw .numbered(1)
        default: for await _ in stream { break }
        }
        return hedge
      }
    }
    await timers.until(1)
    scheduler.advance(by: 2)
    await other.until(3)
    scheduler.advance(by: 1)
    continuation.yield()
    try await expectEqual(task.value, 2)
    expectEqual(other.entries, expected)
    expectEqual(expected.count, 4)
  }
}
