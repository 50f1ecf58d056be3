import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("rateLimited(by:)", .virtualTime)
struct PublisherRateLimitedTests {
  private let scheduler = TestScheduler.current
  private let upstream = TestPublisher<Int, any Error>()
  private let log = EventLog<RateLimiterEvent>()

  private func makeLimiter(_ permits: Int = 1, maxWait: Duration = .seconds(10)) throws -> RateLimiter {
    let policy = try RateLimiterPolicy.tokenBucket(permits, per: .seconds(1), burst: 1).waiting(atMost: maxWait)
    return RateLimiter("search", policy: policy).onEvent(log.write)
  }

  private func subscribe(
    _ limiter: RateLimiter,
    requesting demand: Subscribers.Demand = .unlimited
  ) -> Recorder<Int, any Error> {
    let recorder = Recorder<Int, any Error>(requesting: demand, on: scheduler)
    upstream.rateLimited(by: limiter, time: scheduler.time).subscribe(recorder)
    return recorder
  }

  @Test("subscribes each in its turn, in order, with one timer for all")
  func turns() throws {
    let limiter = try makeLimiter()
    let recorders = (0..<4).map { _ in subscribe(limiter, requesting: .max(2)) }
    expectEqual(scheduler.pendingCount, 1)
    var counts: [Int] = []
    for _ in 0..<4 {
      counts.append(upstream.subscriptionCount)
      scheduler.advance(by: .nanoseconds(999_999_999))
      counts.append(upstream.subscriptionCount)
      scheduler.advance(by: .nanoseconds(1))
    }
    expectEqual(counts, [1, 1, 2, 2, 3, 3, 4, 4])
    expectEqual(scheduler.pendingCount, 0)
    for (index, connection) in upstream.connections.enumerated() {
      expectEqual(connection.requests, [.max(2)])
      connection.send(index)
    }
    expectEqual(recorders.map(\.values), [[0], [1], [2], [3]])
    expectEqual(log.lines.prefix(3), ["admitted", "queued for 1.0 seconds; 1 wait", "queued for 2.0 seconds; 2 wait"])
  }

  @Test("refuses whose turn would come too late, with the time until then, also as the publisher's own error")
  func refuses() throws {
    let limiter = try makeLimiter(maxWait: .seconds(1))
    _ = (subscribe(limiter), subscribe(limiter))
    let refused = subscribe(limiter)
    expectEqual(refused.failure as? RateLimited, RateLimited(name: "search", retryAfter: .seconds(2), queued: 1))
    let typed = Recorder<Int, TestFailure>()
    TestPublisher<Int, TestFailure>().rateLimited(by: limiter, time: scheduler.time) { .busy($0.retryAfter ?? .zero) }
      .subscribe(typed)
    expectEqual(typed.failure, .busy(.seconds(2)))
  }

  @Test("moves the others up when one who waits cancels, the first or another")
  func cancel() throws {
    let limiter = try makeLimiter()
    let recorders = (0..<4).map { _ in subscribe(limiter) }
    recorders[1].cancel()
    recorders[3].cancel()
    expectEqual(limiter.snapshot.queued, 1)
    scheduler.advance(by: 1)
    expectEqual(upstream.subscriptionCount, 2)
    expectEqual(limiter.snapshot.queued, 0)
    expectEqual(scheduler.pendingCount, 0)
    upstream.send(7)
    expectEqual(recorders.map(\.values), [[], [], [7], []])
  }

  @Test("stops the timer when the last one who waits cancels")
  func lastCancel() throws {
    let limiter = try makeLimiter()
    let recorders = (0..<3).map { _ in subscribe(limiter) }
    recorders[2].cancel()
    recorders[1].cancel()
    expectEqual(scheduler.pendingCount, 0)
    recorders[0].cancel()
    expectEqual(upstream.cancelCount, 1)
    expectEqual(log.lines.last, "cancelled while queued; 0 wait")
  }

  @Test("pauses all when the service says that it was called too often, and refuses those whom that makes too late")
  func throttled() throws {
    let limiter = try makeLimiter(maxWait: .seconds(6))
    let recorders = (0..<3).map { _ in subscribe(limiter) }
    upstream.send(completion: .failure(TestFailure.busy(.seconds(5))))
    expectEqual(recorders[0].failure as? TestFailure, .busy(.seconds(5)))
    expectEqual(limiter.snapshot.share, 0.7)
    // The second in 5 s, the third 1 / 0.7 s after it: later than the 6 s that it may wait.
    #expect(recorders[1].completions.isEmpty)
    expectEqual((recorders[2].failure as? RateLimited)?.queued, 1)
    scheduler.advance(by: .nanoseconds(4_999_999_999))
    expectEqual(upstream.subscriptionCount, 1)
    scheduler.advance(by: .nanoseconds(1))
    expectEqual(upstream.subscriptionCount, 2)
    scheduler.advance(by: 100)
    upstream.send(completion: .finished)
    expectEqual(limiter.snapshot.share, 1)
    #expect(log.lines.contains("throttled to 0.7 of the full rate after a pause of 5.0 seconds"))
    expectEqual(log.lines.last, "recovered to 1.0 of the full rate")
  }

  @Test("recovers by calls of which only the first value is taken")
  func firstValues() throws {
    let limiter = try makeLimiter()
    limiter.throttle(at: scheduler.time.now)
    scheduler.advance(by: 100)
    let recorder = Recorder<Int, any Error>()
    upstream.rateLimited(by: limiter, time: scheduler.time).prefix(1).subscribe(recorder)
    upstream.send(1)
    #expect(recorder.values == [1] && upstream.cancelCount == 1)
    expectEqual(limiter.snapshot.share, 1)
  }

  @Test("may be cancelled from inside the making of its publisher")
  func cancelInside() throws {
    let limiter = try makeLimiter()
    let recorder = Recorder<Int, any Error>()
    Deferred { [upstream] in
      recorder.cancel()
      return upstream
    }
    .rateLimited(by: limiter, time: scheduler.time)
    .subscribe(recorder)
    expectEqual(upstream.cancelCount, 1)
    #expect(recorder.completions.isEmpty)
  }

  @Test("takes the time of a wait for over when its timer rings, whatever the clock says")
  func clockStandsStill() throws {
    let time = StillTime()
    let limiter = try makeLimiter()
    for _ in 0..<2 { upstream.rateLimited(by: limiter, time: time.source).subscribe(Recorder()) }
    expectEqual(upstream.subscriptionCount, 1)
    for fire in time.timers.entries { fire() }
    expectEqual(upstream.subscriptionCount, 2)
    expectEqual(time.timers.count, 1)
  }

  @Test("waits on the immediate scheduler, too, whose timers ring at once")
  func immediate() throws {
    let now = EventLog<Int>()
    let immediate = TimeSource(ImmediateScheduler.shared)
    let time = TimeSource(
      now: {
        now.write(0)
        return .milliseconds(now.count)
      },
      after: { immediate.after($0, $1) }
    )
    let policy = try RateLimiterPolicy.tokenBucket(1, per: .seconds(30), burst: 1).waiting(atMost: .seconds(60))
    let limiter = RateLimiter("search", policy: policy)
    let recorders = [Recorder<Int, any Error>(), Recorder<Int, any Error>()]
    for recorder in recorders {
      Just(1).setFailureType(to: (any Error).self)
        .rateLimited(by: limiter, time: time)
        .subscribe(recorder)
    }
    #expect(recorders.allSatisfy { $0.isFinished })
  }

  @Test("lets go of the downstream when it is cancelled in the queue or ends", arguments: [true, false])
  func releases(cancels: Bool) throws {
    let limiter = try makeLimiter()
    try limiter.acquire()
    weak var weakRecorder: Recorder<Int, any Error>?
    do {
      let recorder = subscribe(limiter)
      weakRecorder = recorder
      if cancels {
        recorder.cancel()
      } else {
        scheduler.advance(by: 1)
        upstream.send(completion: .finished)
      }
    }
    upstream.connections.forEach { $0.letGo() }
    #expect(weakRecorder == nil)
  }

  @Test("lets no more begin than may, whoever comes and goes on real threads", arguments: 0..<5 as Range<UInt64>)
  func race(seed: UInt64) throws {
    let policy = try RateLimiterPolicy.fixedWindow(10, per: .seconds(1)).waiting(atMost: .seconds(1_000))
    let limiter = RateLimiter("search", policy: policy)
    let all = EventLog<Recorder<Int, any Error>>()
    let (upstream, scheduler) = (upstream, scheduler)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      var numbers = SeededRandom(seed: seed * 4 + UInt64(thread))
      for _ in 0..<50 {
        let recorder = Recorder<Int, any Error>()
        upstream.rateLimited(by: limiter, time: scheduler.time).subscribe(recorder)
        all.write(recorder)
        if Int.random(in: 0..<3, using: &numbers) == 0 { recorder.cancel() }
      }
    }
    expectEqual(upstream.subscriptionCount, 10)
    for second in 1...3 {
      scheduler.advance(by: 1)
      expectEqual(upstream.subscriptionCount, 10 + 10 * second)
    }
    for recorder in all.events { recorder.cancel() }
    expectEqual(limiter.snapshot.queued, 0)
    expectEqual(scheduler.pendingCount, 0)
  }
}
