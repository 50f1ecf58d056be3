import Dispatch
import ReboundTesting
import Testing

@testable import Rebound

@Suite("TimeoutPolicy.run")
struct TimeoutPolicyRunTests {
  private let clock = SteppedClock()
  private let events = Log<TimeoutEvent>()

  private func policy(_ policy: TimeoutPolicy = .total(.seconds(10))) -> TimeoutPolicy {
    policy.onEvent(events.write)
  }

  @Test("returns what the function returns, and stops the timer")
  func returns() async throws {
    #expect(try await policy().run(time: clock.time) { 42 } == 42)
    #expect(clock.sleeperCount == 0)
    #expect(events.count == 0)
  }

  @Test("throws what the function throws")
  func throwsOn() async {
    await #expect(throws: TestFailure.permanent) {
      try await policy().run(time: clock.time) { throw TestFailure.permanent }
    }
    #expect(events.count == 0)
  }

  @Test("cancels the function at the limit, waits for it, and drops what it returns")
  func timesOut() async {
    let finished = Log<Bool>()
    let task = Task {
      try await policy().run(time: clock.time) {
        await untilCancelled()
        finished.write(Task.isCancelled)
        return 42
      }
    }
    await clock.untilAsleep(1)
    clock.advance(by: .seconds(9))
    #expect(clock.sleeperCount == 1)
    clock.advance(by: .seconds(1))
    await #expect(throws: TimedOut(.total, limit: .seconds(10))) { try await task.value }
    #expect(finished.entries == [true])
    #expect(events.entries == [.timedOut(TimedOut(.total, limit: .seconds(10)))])
  }

  @Test("measures on the time of the task, on whichever thread its timer rings")
  func timeOfTheTask() async {
    let scheduler = TestScheduler()
    let task = Task {
      try await TimeSource.$current.withValue(scheduler.time) {
        try await policy().run { await untilCancelled() }
      }
    }
    while scheduler.pendingCount == 0 { await Task.yield() }
    scheduler.advance(by: .seconds(10))
    await #expect(throws: TimedOut(.total, limit: .seconds(10), elapsed: .seconds(10))) { try await task.value }
  }

  @Test("tells the hook what a function throws after its time")
  func lateError() async {
    let dropped = Log<String>()
    let observation = DroppedErrors.observe { dropped.write($0.description) }
    let task = Task {
      try await policy(.attempt(.seconds(1))).run(time: clock.time) {
        await untilCancelled()
        throw TestFailure.numbered(7_001)
      }
    }
    await clock.untilAsleep(1)
    clock.advance(by: .seconds(1))
    await #expect(throws: TimedOut(.attempt, limit: .seconds(1))) { try await task.value }
    #expect(
      dropped.entries.filter { $0.contains("7001") }
        == ["TimeoutPolicy dropped an error that came too late: numbered(7001)"]
    )
    observation.cancel()
  }

  @Test("takes the caller's cancel for no timeout")
  func callerCancels() async {
    let task = Task {
      try await policy().run(time: clock.time) {
        await untilCancelled()
        try Task.checkCancellation()
      }
    }
    await clock.untilAsleep(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(events.count == 0)
    #expect(clock.sleeperCount == 0)
  }

  @Test("takes the caller's cancel for no timeout although the timer fires after it, heedless of the cancel")
  func callerCancelsFirst() async {
    let time = StillTime()
    let task = Task {
      try await policy().run(time: time.source) {
        await untilCancelled()
        for fire in time.timers.entries { fire() }
        throw TestFailure.transient
      }
    }
    await time.timers.until(1)
    task.cancel()
    await #expect(throws: TestFailure.transient) { try await task.value }
    #expect(events.count == 0)
  }

  @Test("an observer that takes its time, or a handler of the cancel, holds up no timer", arguments: [true, false])
  func slowObserver(isObserver: Bool) async {
    // The system's own timers, for which no virtual time stands in.
    let waited = Log<DispatchTimeoutResult>()
    let takesItsTime: @Sendable () -> Void = {
      let goesOn = DispatchSemaphore(value: 0)
      // What is shown: one of the system's timers rings while the observer, or the handler, is at it. Nothing but that
      // timer ends the wait, since a task may get no thread for minutes where many tests run at once.
      let ring = TimeSource.system.soon(.after(.milliseconds(1))) { goesOn.signal() }
      // Without end only where all timers are held up.
      waited.write(goesOn.wait(timeout: .now() + .seconds(60)))
      ring.cancel()
    }
    let policy = TimeoutPolicy.total(.milliseconds(1)).onEvent { _ in if isObserver { takesItsTime() } }
    let task = Task {
      try await policy.run(time: .system) {
        await withTaskCancellationHandler {
          await untilCancelled()
        } onCancel: {
          if !isObserver { takesItsTime() }
        }
      }
    }
    await #expect(throws: TimedOut.self) { try await task.value }
    #expect(waited.entries == [.success])
  }

  @Test("begins nothing that has no time")
  func noTime() async {
    let begun = Log<Void>()
    await #expect(throws: TimedOut(.total, limit: .zero)) {
      try await policy(.total(.zero)).run(time: clock.time) { begun.write(()) }
    }
    #expect(begun.count == 0)
    #expect(events.count == 1)
  }

  @Test("lets the function and what it calls read the time that is left")
  func deadline() async throws {
    #expect(Deadline.current == nil)
    let remaining = try await policy().run(time: clock.time) { [clock] in
      clock.advance(by: .seconds(4))
      let outer = Deadline.current?.remaining
      let shorter = try await TimeoutPolicy.attempt(.seconds(2)).run(time: clock.time) { Deadline.current?.remaining }
      let longer = try await TimeoutPolicy.attempt(.seconds(60)).run(time: clock.time) { Deadline.current?.remaining }
      return [outer, shorter, longer]
    }
    #expect(remaining == [.seconds(6), .seconds(2), .seconds(6)])
  }

  @Test("takes the nearest limit, that for the first value too")
  func nearestLimit() async throws {
    let policy = policy(try TimeoutPolicy(total: .seconds(10), firstValue: .seconds(3), name: "weather"))
    let task = Task { try await policy.run(time: clock.time) { await untilCancelled() } }
    await clock.untilAsleep(1)
    clock.advance(by: .seconds(3))
    await #expect(throws: TimedOut(.firstValue, limit: .seconds(3), name: "weather")) { try await task.value }
  }

  @Test("limits each attempt inside of a retry, and all of them outside, as for a publisher")
  func aroundRetry() async throws {
    let clock = clock
    let begun = Log<Duration?>()
    let retry = RetryPolicy<any Error>(clamping: nil, backoff: .constant(.seconds(1)))
    let task = Task {
      try await policy(.total(.seconds(30))).run(time: clock.time) {
        try await retry.run(time: clock.time) {
          begun.write(Deadline.current?.remaining)
          try await TimeoutPolicy.attempt(.seconds(10)).run(time: clock.time) { await untilCancelled() }
        }
      }
    }
    for _ in 0..<30 {
      await clock.untilAsleep(2)
      clock.advance(by: .seconds(1))
    }
    await #expect(throws: TimedOut(.total, limit: .seconds(30))) { try await task.value }
    #expect(begun.entries == [.seconds(30), .seconds(19), .seconds(8)])
    #expect(clock.sleeperCount == 0)
  }
}
