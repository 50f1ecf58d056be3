import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("RateLimiter", .virtualTime)
struct RateLimiterTests {
  private let scheduler = TestScheduler.current

  private func makeLimiter(_ permits: Int = 1, maxWait: Duration = .zero, maxQueue: Int = 1_000) throws -> RateLimiter {
    let policy = try RateLimiterPolicy.tokenBucket(permits, per: .seconds(1), burst: 1)
    return RateLimiter(
      "search",
      policy: try policy.waiting(atMost: maxWait, maxQueue: maxQueue)
    )
  }

  @Test("lets as many begin as may, and says exactly when the next could")
  func acquire() throws {
    let limiter = try makeLimiter()
    try limiter.acquire()
    scheduler.advance(by: .milliseconds(400))
    #expect(throws: RateLimited(name: "search", retryAfter: .milliseconds(600), queued: 0)) {
      try limiter.acquire()
    }
    scheduler.advance(by: .milliseconds(600))
    try limiter.acquire()
  }

  @Test(
    "lets those whose turn has come begin before whoever comes, though no timer has rung yet",
    arguments: [true, false]
  )
  func lateTimer(byHand: Bool) throws {
    let time = HandSetTime()
    let policy = try RateLimiterPolicy.tokenBucket(1, per: .seconds(1), burst: 2)
      .waiting(atMost: .seconds(10), maxQueue: 1)
    let limiter = RateLimiter("search", policy: policy)
    let values = Log<Int>()
    let comesLater = Just(2).setFailureType(to: (any Error).self).rateLimited(by: limiter, time: time.source)
    let recorder = Recorder<Int, any Error>()
    try limiter.acquire(on: time.source)
    try limiter.acquire(on: time.source)
    Just(1).setFailureType(to: (any Error).self).rateLimited(by: limiter, time: time.source)
      .handleEvents(receiveOutput: { values.write($0) }).subscribe(Recorder<Int, any Error>())
    time.setAhead(by: .seconds(100))
    expectEqual(values.entries, [])
    if byHand {
      try limiter.acquire(on: time.source)
    } else {
      comesLater.handleEvents(receiveOutput: { values.write($0) }).subscribe(recorder)
    }
    expectEqual(values.entries, byHand ? [1] : [1, 2])
    time.advance(by: .zero)
    expectEqual(limiter.snapshot.queued, 0)
  }

  @Test("runs functions, and learns from how they end")
  func functions() async throws {
    let limiter = try makeLimiter(1_000)
    try await expectEqual(limiter.run { 1 }, 1)
    scheduler.advance(by: 1)
    await #expect(throws: TestFailure.permanent) { try await limiter.run { throw TestFailure.permanent } }
    expectEqual(limiter.snapshot.share, 1)
    scheduler.advance(by: 1)
    await #expect(throws: TestFailure.busy(.seconds(5))) {
      try await limiter.run { throw TestFailure.busy(.seconds(5)) }
    }
    expectEqual(limiter.snapshot.share, 0.7)
    scheduler.advance(by: 4)
    await #expect(throws: RateLimited(name: "search", retryAfter: .seconds(1), queued: 0)) {
      try await limiter.run { 1 }
    }
    scheduler.advance(by: 100)
    try await expectEqual(limiter.run { 2 }, 2)
    expectEqual(limiter.snapshot.share, 1)
  }

  @Test("one that takes the place of another knows of its share and its pause, and leaves it alone from then on")
  func feedbackOfAnother() throws {
    let before = try makeLimiter(1_000)
    before.throttle(pause: .seconds(5))
    let limiter = RateLimiter(before, policy: try .tokenBucket(10, per: .seconds(1)))
    expectEqual(limiter.snapshot.share, 0.7)
    #expect(throws: RateLimited(name: "search", retryAfter: .seconds(5), queued: 0)) { try limiter.acquire() }
    limiter.throttle()
    expectEqual(limiter.snapshot.share, 0.7 * 0.7)
    scheduler.advance(by: 3_600)
    try limiter.acquire()
    limiter.succeed()
    expectEqual(limiter.snapshot.share, 1)
    expectEqual(before.snapshot.share, 0.7)
  }

  @Test("lets those who wait begin by the rate that has come back, and not by the low one")
  func recovers() throws {
    let policy = try RateLimiterPolicy.tokenBucket(1, per: .seconds(1)).waiting(atMost: .seconds(1_000))
    let limiter = RateLimiter("search", policy: policy.answering(.init(clamping: 0.01, scale: 1e9)))
    try limiter.acquire()
    limiter.throttle()
    let recorder = Recorder<Int, any Error>()
    Just(1).setFailureType(to: (any Error).self).protected(by: limiter).subscribe(recorder)
    scheduler.advance(by: 2)
    limiter.succeed()
    expectEqual(limiter.snapshot.share, 1)
    expectEqual(limiter.snapshot.queued, 1)
    expectEqual(scheduler.pendingCount, 1)
    scheduler.advance(by: 1)
    expectEqual(recorder.values, [1])
    expectEqual(limiter.snapshot.queued, 0)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("takes what a service asks for as a reason to slow down, and no refusal of this program")
  func refusals() async throws {
    struct Busy: RetryAfterProviding { let retryAfter: Duration? = .seconds(1) }

    let limiter = RateLimiter("search", policy: try .tokenBucket(10, per: .seconds(1)))
    func fail(with error: any Error) async { _ = try? await limiter.run { throw error } }
    await fail(with: CircuitOpen(name: "search", retryAfter: .seconds(30)))
    await fail(with: RateLimited(name: "other", retryAfter: .seconds(30), queued: 0))
    await fail(with: TokenRefreshFailure(reason: .failed, underlying: Busy(), retryAfter: .seconds(100)))
    await fail(with: FallbackFailed(failure: Busy(), original: CircuitOpen(name: "search", retryAfter: .seconds(30))))
    expectEqual(limiter.snapshot.share, 1)
    await fail(with: FallbackFailed(failure: CircuitOpen(name: "search", retryAfter: nil), original: Busy()))
    #expect(limiter.snapshot.share < 1)
  }

  @Test("lets a function wait for its turn, and stops when the task is cancelled")
  func functionWaits() async throws {
    let limiter = try makeLimiter(maxWait: .seconds(10))
    try limiter.acquire()
    let waits = AsyncStream<Void>.makeStream()
    limiter.onEvent { if case .queued = $0 { waits.continuation.yield() } }
    let task = Task { try await limiter.run(time: JumpingClock(whenAsleep: {}).time) { 1 } }
    for await _ in waits.stream { break }
    expectEqual(limiter.snapshot.queued, 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    expectEqual(limiter.snapshot.queued, 0)
    let second = Task { [scheduler] in
      let clock = JumpingClock(whenAsleep: nil)
      scheduler.advance(by: 1)
      return try await limiter.run(time: clock.time) { 2 }
    }
    try await expectEqual(second.value, 2)
  }

  @Test("lets no more begin than may, however many ask on real threads", arguments: 0..<5)
  func race(round: Int) throws {
    let policy = try RateLimiterPolicy.fixedWindow(50, per: .seconds(1))
    let limiter = RateLimiter("search", policy: policy)
    let begun = EventLog<Int>()
    let scheduler = scheduler
    for second in 1...3 {
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for _ in 0..<40 where (try? limiter.acquire(on: scheduler.time)) != nil { begun.write(thread) }
      }
      expectEqual(begun.count, 50 * second)
      scheduler.advance(by: 1)
    }
  }
}
