import Dispatch
import Expectations
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
    try await expectEqual(policy().run(time: clock.time) { 42 }, 42)
    expectEqual(clock.sleeperCount, 0)
    expectEqual(events.count, 0)
  }

  @Test("throws what the function throws")
  func throwsOn() async {
    await #expect(throws: TestFailure.permanent) {
      try await policy().run(time: clock.time) { throw TestFailure.permanent }
    }
    expectEqual(events.count, 0)
  }

  @Test("cancels the function at the limit, waits for it, and drops what it returns")
  func timesOut() async throws {
    let finished = Log<Bool>()
    let task = Task {
      try await policy().run(time: clock.time) {
        await untilCancelled()
        finished.write(Task.isCancelled)
        return 42
      }
    }
    try await clock.untilAsleep(1)
    clock.advance(by: .seconds(9))
    expectEqual(clock.sleeperCount, 1)
    clock.advance(by: .seconds(1))
    await #expect(throws: TimedOut(.total, limit: .seconds(10))) { try await task.value }
    expectEqual(finished.entries, [true])
    expectEqual(events.entries, [.timedOut(TimedOut(.total, limit: .seconds(10)))])
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
  func lateError() async throws {
    let dropped = Log<String>()
    let observation = DroppedErrors.observe { dropped.write($0.description) }
    let task = Task {
      try await policy(.attempt(.seconds(1))).run(time: clock.time) {
        await untilCancelled()
        throw TestFailure.numbered(7_001)
      }
    }
    try await clock.untilAsleep(1)
    clock.advance(by: .seconds(1))
    await #expect(throws: TimedOut(.attempt, limit: .seconds(1))) { try await task.value }
    expectEqual(
      dropped.entries.filter { $0.contains("7001") },
      ["TimeoutPolicy dropped an error that came too late: numbered(7001)"]
    )
    observation.cancel()
  }

  @Test("takes the caller's cancel for no timeout")
  func callerCancels() async throws {
    let task = Task {
      try await policy().run(time: clock.time) {
        await untilCancelled()
        try Task.checkCancellation()
      }
    }
    try await clock.untilAsleep(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    expectEqual(events.count, 0)
    expectEqual(clock.sleeperCount, 0)
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
    expectEqual(events.count, 0)
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
    expectEqual(waited.entries, [.success])
  }

  @Test("begins nothing that has no time")
  func noTime() async {
    let begun = Log<Void>()
    await #expect(throws: TimedOut(.total, limit: .zero)) {
      try await policy(.total(.zero)).run(time: clock.time) { begun.write(()) }
    }
    expectEqual(begun.count, 0)
    expectEqual(events.count, 1)
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
    expectEqual(remaining, [.seconds(6), .seconds(2), .seconds(6)])
  }

  @Test("takes the nearest limit, that for the first value too")
  func nearestLimit() async throws {
    let policy = policy(try TimeoutPolicy(total: .seconds(10), firstValue: .seconds(3), name: "weather"))
    let task = Task { try await policy.run(time: clock.time) { await untilCancelled() } }
    try await clock.untilAsleep(1)
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
      try await clock.untilAsleep(2)
      clock.advance(by: .seconds(1))
    }
    await #expect(throws: TimedOut(.total, limit: .seconds(30))) { try await task.value }
    expectEqual(begun.entries, [.seconds(30), .seconds(19), .seconds(8)])
    expectEqual(clock.sleeperCount, 0)
  }

  // MARK: Waits that end with the time

  /// Runs calls for which there is no place before a limit of a second, and says what has become of them.
  private func waitInVain(
    cooperative: Bool,
    under stages: @escaping @Sendable (_ wait: @escaping @Sendable () async throws -> Void) async throws -> Void
  ) throws {
    try Simulation(seed: 1).run {
      let bulkhead = Bulkhead("places", policy: try BulkheadPolicy(maxConcurrent: 1, maxQueue: 1))
      let permit = try bulkhead.acquire()
      let limit = TimeoutPolicy.total(.seconds(1))
      do {
        try await (cooperative ? limit.cooperative() : limit).run {
          try await stages { try await bulkhead.run {} }
        }
        try requireEqual("a place", "a timeout")
      } catch let error as TimedOut {
        try requireEqual(error, TimedOut(.total, limit: .seconds(1)))
      }
      permit.release()
    }
  }

  @Test("whoever waits for a place until the time is over says nothing about the service", arguments: [false, true])
  func waitsHaveNoVote(cooperative: Bool) throws {
    let policy = try CircuitBreakerPolicy(failureRatio: nil, consecutiveFailures: 1, openTime: .seconds(60))
    let breaker = CircuitBreaker("service", policy: policy)
    try waitInVain(cooperative: cooperative) { wait in try await breaker.run { try await wait() } }
    // Nor by way of a checkpoint, which keeps the error in its own.
    try waitInVain(cooperative: cooperative) { wait in
      try await breaker.run { try await Checkpoint(name: "place").run { try await wait() } }
    }
    expectEqual(breaker.state, .closed)
  }

  @Test("nor does a fallback that waits in vain, and it has not failed", arguments: [false, true])
  func waitsOfFallbacks(cooperative: Bool) throws {
    let policy = try CircuitBreakerPolicy(failureRatio: nil, consecutiveFailures: 1, openTime: .seconds(60))
    let (breaker, events) = (CircuitBreaker("service", policy: policy), Log<String>())
    let fallback = FallbackPolicy<any Error>().onEvent { events.write($0.description) }
    try waitInVain(cooperative: cooperative) { wait in
      try await breaker.run {
        try await fallback.run {
          throw TestFailure.transient
        } fallback: { _ in
          try await wait()
        }
      }
    }
    expectEqual(breaker.state, .closed)
    expectEqual(events.entries, ["falling back from transient"])
  }

  @Test("a machine hears of such a wait as of a cancel, also where it may end attempts", arguments: [false, true])
  func waitsAreCancels(cooperative: Bool) throws {
    let heard = Log<String>()
    try waitInVain(cooperative: cooperative) { wait in
      try await Witness<OrdinaryWitness>(heard).run {
        try await Witness<TimedWitness>(heard).run { try await wait() }
      }
    }
    expectEqual(heard.entries, ["timed: cancelled", "ordinary: cancelled"])
  }

  @Test("no other attempt follows on such a wait, neither of a retry nor as a hedge", arguments: [false, true])
  func waitsAreNotTriedAgain(cooperative: Bool) throws {
    let (attempts, events) = (Log<Void>(), Log<RetryEvent>())
    let retry = RetryPolicy<any Error>(clamping: 3, backoff: .constant(.zero)).onEvent(events.write)
    let hedge = try HedgePolicy<any Error>(delay: .after(.seconds(10)))
    try waitInVain(cooperative: cooperative) { wait in
      try await retry.run {
        try await hedge.run { _ in
          attempts.write(())
          try await wait()
        }
      }
    }
    expectEqual(attempts.count, 1)
    expectEqual(events.count, 0)
  }

  @Test("nothing takes the place of such a wait, and no hook hears of a hedge's", arguments: [false, true])
  func waitsAreNotReplaced(cooperative: Bool) throws {
    let (replaced, dropped) = (Log<Void>(), Log<String>())
    let observation = DroppedErrors.observe { dropped.write($0.description) }
    let hedge = try HedgePolicy<any Error>(delay: .after(.milliseconds(130)))
    let saved = try LastGood<String, Void>()
    saved.remember((), for: "saved", at: .zero)
    try waitInVain(cooperative: cooperative) { wait in
      try await FallbackPolicy<any Error>().run {
        _ = try await saved.run(for: "saved") { try await hedge.run { _ in try await wait() } }
      } fallback: { _ in
        replaced.write(())
      }
    }
    expectEqual(replaced.count, 0)
    expectEqual(dropped.entries.filter { $0.contains("HedgePolicy") && $0.contains("0.87 seconds") }, [])
    observation.cancel()
  }

  @Test("the end of a deadline that is nearer than that outside is a failure there, which may be tried again")
  func nearerDeadline() throws {
    let attempts = Log<Void>()
    let retry = RetryPolicy<any Error>(clamping: 2, backoff: .constant(.zero))
    try waitInVain(cooperative: true) { wait in
      try await retry.run {
        guard attempts.number(()) < 3 else { return try await wait() }
        try await Deadline.$current.withValue(Deadline(in: .milliseconds(10))) { try await wait() }
      }
    }
    expectEqual(attempts.count, 3)
  }
}

/// Writes down what its machine hears of the end of an execution.
private struct Witness<Machine: WitnessMachine>: Policy {
  typealias Failure = any Error

  let log: Log<String>
  var descriptor: StageDescriptor { StageDescriptor(PolicyKind("witness")) }

  init(_ log: Log<String>) {
    self.log = log
  }

  func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(log: log) }
}

private protocol WitnessMachine: PolicyMachine where Failure == any Error {
  static var name: String { get }
  var log: Log<String> { get }

  init(log: Log<String>)
}

extension WitnessMachine {
  mutating func failed(with error: any Error, _ execution: ExecutionContext) -> Decision<any Error> {
    log.write("\(Self.name): failed")
    return .proceed
  }

  mutating func cancelled(_ execution: ExecutionContext) { log.write("\(Self.name): cancelled") }
}

private struct OrdinaryWitness: WitnessMachine {
  static let name = "ordinary"
  let log: Log<String>
}

private struct TimedWitness: WitnessMachine, TimedMachine {
  static let name = "timed"
  let log: Log<String>
}
