import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("RetryPolicy.run", .virtualTime)
struct RetryPolicyRunTests {
  private let clock = JumpingClock()
  private let log = RetryLog()

  @Test("returns the first value that is no failure")
  func succeeds() async throws {
    var attempts = 0
    let value = try await RetryPolicy<TestFailure>(clamping: 3).run(time: clock.time) { () throws(TestFailure) in
      attempts += 1
      if attempts < 3 { throw .transient }
      return attempts
    }
    expectEqual(value, 3)
  }

  @Test("throws what the last attempt threw, after n + 1 attempts", arguments: 0...3)
  func exhausted(retries: Int) async {
    var attempts = 0
    await #expect(throws: TestFailure.numbered(retries + 1)) {
      try await RetryPolicy<TestFailure>(clamping: retries).run(time: clock.time) { () throws(TestFailure) in
        attempts += 1
        throw .numbered(attempts)
      }
    }
    expectEqual(attempts, retries + 1)
  }

  @Test("has the event log of the publisher's retry, times included", arguments: 0..<50 as Range<UInt64>)
  func equalLogs(seed: UInt64) async {
    func policy(_ log: RetryLog) -> RetryPolicy<TestFailure> {
      RetryPolicy(
        clamping: 5,
        backoff: .exponential(from: .seconds(1), jitter: .decorrelated),
        deadline: .seconds(60),
        random: .seeded(seed)
      )
      .when(\.isTransient)
      .onEvent(log.write)
    }
    var numbers = SeededRandom(seed: seed)
    let kinds: [TestFailure] = [.transient, .numbered(1), .numbered(2), .busy(.seconds(9)), .permanent]
    let errors = (0..<6).map { _ in kinds[Int.random(in: 0..<5, using: &numbers)] }

    var attempt = 0
    let thrown = await #expect(throws: TestFailure.self) {
      try await policy(log).run(time: clock.time) { () throws(TestFailure) in
        attempt += 1
        throw errors[attempt - 1]
      }
    }

    let (scheduler, other) = (TestScheduler.current, RetryLog())
    let (upstream, recorder) = (TestPublisher<Int, TestFailure>(), Recorder<Int, TestFailure>())
    upstream.retry(policy(other), time: scheduler.time).subscribe(recorder)
    for error in errors where recorder.completion == nil {
      upstream.send(completion: .failure(error))
      if let due = scheduler.nextDue { scheduler.advance(to: due) }
    }
    expectEqual(recorder.failure, thrown)
    expectEqual(log.events.map(\.description), other.events.map(\.description))
    expectEqual(log.events.map(\.elapsed), other.events.map(\.elapsed))
    expectEqual(log.events.count, attempt)
  }

  @Test("heeds the deadline that its task runs under: no wait that would end after it")
  func deadline() async {
    var attempts = 0
    let policy = RetryPolicy<TestFailure>(clamping: nil, backoff: .constant(.seconds(2))).onEvent(log.write)
    await #expect(throws: TestFailure.numbered(3)) {
      try await Deadline.$current.withValue(Deadline(in: .seconds(5), on: clock.time)) {
        try await policy.run(time: clock.time) { () throws(TestFailure) in
          attempts += 1
          throw .numbered(attempts)
        }
      }
    }
    expectEqual(clock.now.sinceStart, .seconds(4))
    expectEqual(log.outcomes, [.retrying, .retrying, .stopped(.deadlineExceeded)])
  }

  @Test("takes a value for a failure when told to, and delivers the last one if asked")
  func rejects() async throws {
    var attempts = 0
    let policy = RetryPolicy<TestFailure>(clamping: 2)
    func next() -> Int {
      attempts += 1
      return attempts
    }
    try await expectEqual(policy.run(rejecting: { $0 < 3 ? .transient : nil }, time: clock.time) { next() }, 3)
    attempts = 0
    let last = try await policy.run(rejecting: { .numbered($0) }, whenExhausted: .isDelivered, time: clock.time) {
      next()
    }
    expectEqual(last, 3)
    attempts = 0
    await #expect(throws: TestFailure.numbered(3)) {
      try await policy.run(rejecting: { .numbered($0) }, time: clock.time) { next() }
    }
  }

  @Test("ends a wait when the task is cancelled, and gives back what the wait had taken")
  func cancelInWait() async throws {
    let budget = try RetryBudget.ratio(0, floor: 1)
    let asleep = AsyncStream<Void>.makeStream()
    let clock = JumpingClock(whenAsleep: { asleep.continuation.yield() })
    let policy = RetryPolicy<TestFailure>(clamping: nil, backoff: .constant(.seconds(1))).within(budget)
    let task = Task {
      try await policy.run(time: clock.time) { () throws(TestFailure) -> Int in throw .transient }
    }
    for await _ in asleep.stream { break }
    expectEqual(budget.snapshot().queued, 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    expectEqual(budget.snapshot().queued, 0)
    expectEqual(budget.snapshot().available, 1)
  }

  @Test("takes a cancel for no failure: no event, no retry")
  func cancelIsNoFailure() async {
    var attempts = 0
    let policy = RetryPolicy<any Error>(clamping: 3).onEvent(log.write)
    await #expect(throws: CancellationError.self) {
      try await policy.run(time: clock.time) {
        attempts += 1
        throw CancellationError()
      }
    }
    expectEqual(attempts, 1)
    #expect(log.events.isEmpty)
  }
}
