import Combine
import Expectations
import Rebound
import ReboundTesting
import StreamSupport
import Testing

/// Who reads the time twice for one decision has two presents, and numbers that do not agree.
@Suite("One decision has one present")
struct DecisionTimeTests {
  private typealias Upstream = TestPublisher<Int, any Error>

  private let scheduler = TestScheduler()
  private let upstream = Upstream()

  /// A time that moves on with each reading, as a real one may.
  private final class MovingTime: Sendable {
    private let state = Locked((now: Duration.zero, reads: 0, timers: 0))
    private let due = EventLog<(delay: Duration, ring: @Sendable () -> Void)>()

    var reads: Int { state.withLock { $0.reads } }
    var timers: Int { state.withLock { $0.timers } }
    var delays: [Duration] { due.entries.map(\.delay) }

    /// Rings the timer that was set last.
    func ring() {
      guard let last = due.entries.last else { return }
      state.withLock { $0.now += last.delay }
      last.ring()
    }

    func advance(by duration: Duration) { state.withLock { $0.now += duration } }

    var source: TimeSource {
      TimeSource(
        now: {
          self.state.withLock { state in
            state.reads += 1
            state.now += .milliseconds(1)
            return state.now
          }
        },
        after: { delay, action in
          self.state.withLock { $0.timers += 1 }
          self.due.write((delay, action))
          return AnyCancellable {}
        }
      )
    }
  }

  // MARK: How often

  @Test("between two decisions the time is read to set a timer, and for nothing else", arguments: PolicyUnderTest.all)
  func betweenDecisions(row: PolicyUnderTest) throws {
    for isCancelled in [false, true] {
      let subject = try row.make(scheduler)
      let recorder = Recorder<Int, any Error>()
      try subject.block()
      subject.protect(upstream.eraseToAnyPublisher(), scheduler.time).subscribe(recorder)
      subject.release()
      for end in [row.again, row.again, row.passing] where !isCancelled {
        upstream.send(1)
        upstream.send(completion: end)
        subject.release()
      }
      recorder.cancel()
      let log = subject.log
      #expect(log.readsBetween <= log.timers + row.readsOfOthers)
      #expect(log.mostReadsInADecision <= 1)
    }
  }

  @Test(
    "a stage reads it once at most for what happens, and once for each timer that it sets",
    arguments: StageUnderTest.all
  )
  func stages(row: StageUnderTest) throws {
    for end in [.finished, .failure(TestFailure.transient)] as [Subscribers.Completion<any Error>] {
      for values in [0, 1] {
        let time = MovingTime()
        let (subject, upstream) = (try row.make(time.source), Upstream())
        var (reads, timers) = (time.reads, time.timers)
        func expectOneReading(_ happening: String, decisions: Int = 1) {
          #expect(time.reads - reads <= decisions + time.timers - timers, "\(happening)")
          (reads, timers) = (time.reads, time.timers)
        }
        func begin() -> Recorder<Int, any Error> {
          let recorder = Recorder<Int, any Error>(requesting: .none)
          subject.protect(upstream.eraseToAnyPublisher()).subscribe(recorder)
          expectOneReading("it begins")
          recorder.request(.unlimited)
          expectOneReading("it is asked for values")
          return recorder
        }
        let recorder = begin()
        time.ring()
        expectOneReading("a timer rings")
        for value in 0..<values {
          upstream.send(value)
          expectOneReading("a value comes")
          time.ring()
          expectOneReading("a timer for the value rings")
        }
        for connection in upstream.connections {
          connection.send(completion: end)
          // Whoever shares a call decides what its failure means to it.
          expectOneReading("an attempt ends", decisions: row.sharesCalls ? 2 : 1)
        }
        expectEqual(recorder.completions.count, 1)
        begin().cancel()
        expectOneReading("it is cancelled")
      }
    }
  }

  // MARK: What is said

  @Test("a failure and the hedge that it brings about are told with one moment")
  func hedge() throws {
    let (time, log) = (MovingTime(), EventLog<HedgeEvent>())
    let policy = try HedgePolicy<any Error>(maxHedges: 1, delay: .afterFailure).onEvent(log.write)
    let recorder = Recorder<Int, any Error>()
    upstream.hedged(policy, time: time.source).subscribe(recorder)
    upstream.send(completion: .failure(TestFailure.transient))
    upstream.send(completion: .failure(TestFailure.transient))
    let elapsed = log.entries.map { event -> Duration in
      switch event {
      case .begins(_, _, let elapsed), .refused(_, let elapsed), .failed(_, _, _, let elapsed), .won(_, _, let elapsed),
        .exhausted(_, let elapsed):
        elapsed
      }
    }
    expectEqual(elapsed.count, 4)
    expectEqual(elapsed[0], elapsed[1])
    expectEqual(elapsed[2], elapsed[3])
    #expect(elapsed[1] < elapsed[2])
  }

  @Test("a wait for a limiter is as long as it is said to be, and so is a refusal")
  func limiter() throws {
    let (time, log) = (MovingTime(), EventLog<RateLimiterEvent>())
    let limiter = RateLimiter("service", policy: try .tokenBucket(1, per: .seconds(10)).waiting(atMost: .seconds(10)))
      .onEvent(log.write)
    let recorders = (0..<3).map { _ in Recorder<Int, any Error>() }
    for recorder in recorders {
      upstream.protected(by: limiter, time: time.source).subscribe(recorder)
    }
    guard case .queued(let wait, 1) = log.entries[1], case .rejected(let retryAfter) = log.entries[2] else {
      Issue.record("\(log.entries)")
      return
    }
    // From the second reading on to ten seconds after the first.
    expectEqual(wait, .milliseconds(9_999))
    expectEqual(time.delays, [wait])
    expectEqual((recorders[2].failure as? RateLimited)?.retryAfter, retryAfter)
  }

  @Test("a breaker that refuses names one moment")
  func breaker() throws {
    let (time, log) = (MovingTime(), EventLog<CircuitBreakerEvent>())
    let breaker = try CircuitBreaker("service", policy: .consecutive(1, openFor: .seconds(10))).onEvent(log.write)
    let (failing, refused) = (Recorder<Int, any Error>(), Recorder<Int, any Error>())
    upstream.protected(by: breaker, time: time.source).subscribe(failing)
    upstream.send(completion: .failure(TestFailure.transient))
    upstream.protected(by: breaker, time: time.source).subscribe(refused)
    let refusal = try #require(refused.failure as? CircuitOpen)
    let (retryAfter, outFor) = (try #require(refusal.retryAfter), try #require(refusal.outFor))
    expectEqual(retryAfter + outFor, .seconds(10))
  }

  @Test("a retry that has no time left has waited as long as it says")
  func retry() throws {
    let (time, log) = (MovingTime(), EventLog<RetryEvent>())
    let policy = RetryPolicy<any Error>(clamping: 1, backoff: .constant(.seconds(1)))
      .onExhaustion { ExhaustedAfter(elapsed: $0.elapsed) }
      .onEvent(log.write)
    let recorder = Recorder<Int, any Error>()
    upstream.retry(policy, time: time.source).subscribe(recorder)
    upstream.send(completion: .failure(TestFailure.transient))
    time.ring()
    upstream.send(completion: .failure(TestFailure.transient))
    expectEqual(log.entries.count, 2)
    expectEqual(time.delays, [.seconds(1)])
    expectEqual((recorder.failure as? ExhaustedAfter)?.elapsed, log.entries.last?.elapsed)
  }

  @Test("a limit of time that is reached has been waited for as long as it says")
  func timeout() throws {
    let (time, log) = (MovingTime(), EventLog<TimeoutEvent>())
    let recorder = Recorder<Int, any Error>()
    upstream.timeout(TimeoutPolicy.total(.seconds(1)).onEvent(log.write), time: time.source).subscribe(recorder)
    time.ring()
    let failure = try #require(recorder.failure as? TimedOut)
    guard case .timedOut(let told) = log.entries.first else {
      Issue.record("\(log.entries)")
      return
    }
    expectEqual(told, failure)
    #expect(failure.elapsed >= failure.limit)
  }

  @Test("a value in a cache that is served after a failure has the age that is told")
  func cache() throws {
    let (time, log) = (MovingTime(), EventLog<CacheEvent<String>>())
    let lifetime = try CachePolicy(fresh: .seconds(1), staleIfError: .seconds(100))
    let cache = Cache<String, Int, any Error>(policy: lifetime).onEvent(log.write)
    let recorders = (0..<2).map { _ in Recorder<Cached<Int>, any Error>() }
    for (recorder, end) in zip(
      recorders,
      [.finished, .failure(TestFailure.transient)] as [Subscribers.Completion<any Error>]
    ) {
      upstream.cached(in: cache, for: "key", time: time.source).subscribe(recorder)
      if case .finished = end { upstream.send(1) }
      upstream.send(completion: end)
      time.advance(by: .seconds(10))
    }
    let served = try #require(recorders[1].values.first)
    let ages = log.entries.compactMap { if case .staleIfError(_, let age, _) = $0 { age } else { nil } }
    expectEqual(ages, [served.age])
  }
}

/// What a retry has failed with, in the words of its policy.
private struct ExhaustedAfter: Error {
  let elapsed: Duration
}
