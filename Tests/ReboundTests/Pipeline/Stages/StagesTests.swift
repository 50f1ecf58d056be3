import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("The stages of a Pipeline", .virtualTime)
struct StagesTests {
  private let scheduler = TestScheduler.current
  private let events = PolicyEvents()

  /// Runs a call as a publisher that answers at once, and then as a function: the result and the events of each.
  private func both(
    _ pipeline: Pipeline<Int>,
    _ call: @escaping @Sendable () throws -> Int
  ) async -> [(result: Result<Int, any Error>?, lines: [String])] {
    var log = PolicyEventLog(of: events)
    let recorder = Recorder<Int, any Error>()
    Deferred { Result { try call() }.publisher }.protected(by: pipeline).subscribe(recorder)
    scheduler.advance(by: .seconds(60))
    let published: Result<Int, any Error>? =
      if let failure = recorder.failure { .failure(failure) } else { recorder.values.first.map { .success($0) } }
    let first = (result: published, lines: log.events.map(\.description))

    log = PolicyEventLog(of: events)
    do {
      let value = try await pipeline.run(call)
      return [first, (.success(value), log.events.map(\.description))]
    } catch {
      return [first, (.failure(error), log.events.map(\.description))]
    }
  }

  @Test("Fallback tells both errors where it fails, too")
  func fallbackFails() async throws {
    let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) {
      Fallback { _ in throw TestFailure.permanent }
    }
    for (result, lines) in await both(pipeline, { throw TestFailure.transient }) {
      let failed = #expect(throws: FallbackFailed.self) { try result?.get() }
      expectEqual(failed?.failure as? TestFailure, .permanent)
      expectEqual(failed?.original as? TestFailure, .transient)
      expectEqual(
        lines,
        [
          "weather: fallback: falling back from transient",
          "weather: fallback: fallback failed (permanent) after transient",
        ]
      )
    }
  }

  @Test("Fallback leaves out failures that are not its own")
  func fallbackPasses() async throws {
    let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) {
      Fallback(to: 0, when: { $0 is TimedOut })
    }
    for (result, lines) in await both(pipeline, { throw TestFailure.transient }) {
      #expect(throws: TestFailure.transient) { try result?.get() }
      expectEqual(lines, ["weather: fallback: no fallback for transient"])
    }
  }

  @Test("CacheFirst makes one call while the value is fresh")
  func cache() async throws {
    let cache = Cache<String, Int, any Error>(policy: try CachePolicy(fresh: .seconds(600)))
    let calls = Log<Void>()
    let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) { CacheFirst(cache, for: "oslo") }
    let runs = await both(pipeline) { calls.number(()) }
    try expectEqual(runs.map { try $0.result?.get() }, [1, 1])
    expectEqual(
      runs.map(\.lines),
      [
        ["weather: cache: oslo: missed", "weather: cache: oslo: stored"],
        ["weather: cache: oslo: hit, 60.0 seconds old"],
      ]
    )
  }

  @Test("SingleFlight starts afresh once the call has ended")
  func singleFlight() async throws {
    let calls = Log<Void>()
    let coalescer = Coalescer<String, Int, any Error>()
    let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) {
      SingleFlight(by: coalescer, for: "oslo")
    }
    let runs = await both(pipeline) { calls.number(()) }
    try expectEqual(runs.map { try $0.result?.get() }, [1, 2])
    for run in runs {
      expectEqual(run.lines, ["weather: coalescing: oslo: started", "weather: coalescing: oslo: ended"])
    }
  }

  @Test("SingleFlight lets those who ask at the same time share one call")
  func shares() throws {
    let coalescer = Coalescer<String, Int, any Error>()
    let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) {
      SingleFlight(by: coalescer, for: "oslo")
    }
    let upstream = TestPublisher<Int, TestFailure>()
    let recorders = (0..<3).map { _ in Recorder<Int, any Error>() }
    for recorder in recorders { upstream.protected(by: pipeline).subscribe(recorder) }
    upstream.send(7)
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(recorders.map(\.values), [[7], [7], [7]])
  }

  @Test("Authentication has the credential renewed once, and makes the call again with the new one")
  func authentication() async throws {
    for _ in 1...2 {
      let session = TokenRefresher<String>(
        rejectedWhen: { (_: TestFailure) in true },
        refreshingWith: { _ in Just("new").setFailureType(to: TestFailure.self).eraseToAnyPublisher() }
      )
      session.signIn(with: "old")
      let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) {
        Authentication(by: session) { $0 as? TestFailure == .permanent }
      }
      let runs = await both(pipeline) {
        guard session.credential == "new" else { throw TestFailure.permanent }
        return 7
      }
      try expectEqual(runs.map { try $0.result?.get() }, [7, 7])
      expectEqual(
        runs[0].lines,
        [
          "weather: authentication: credential 1: refresh begins (refused)",
          "weather: authentication: credential 2: refreshed; 1 waiting requests go on",
        ]
      )
      #expect(runs[1].lines.isEmpty)
    }
  }

  @Test("Hedge goes on with another attempt when one fails")
  func hedge() async throws {
    let calls = Log<Void>()
    let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) {
      Hedge(try HedgePolicy(delay: .afterFailure))
    }
    let runs = await both(pipeline) {
      let number = calls.number(())
      if number % 2 == 1 { throw TestFailure.transient }
      return number
    }
    try expectEqual(runs.map { try $0.result?.get() }, [2, 4])
    expectEqual(runs[0].lines.count, 3)
    for run in runs {
      expectEqual(run.lines.first, "weather: hedge: primary attempt failed after 0.0 seconds (transient)")
    }
    expectEqual(runs[0].lines, runs[1].lines)
  }

  @Test("Chaos is told and retried")
  func chaos() async throws {
    let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) {
      Retry(.init(clamping: 1, backoff: .immediate))
      Chaos<Int, any Error>().fault(at: 1) { TestFailure.transient }
    }
    for (result, lines) in await both(pipeline, { 7 }) {
      #expect(throws: TestFailure.transient) { try result?.get() }
      expectEqual(
        lines,
        [
          "weather: chaos: fault (transient)",
          "weather: retry: attempt 1 failed (transient); retrying in 0.0 seconds (computed)",
          "weather: chaos: fault (transient)",
          "weather: retry: attempt 2 failed (transient); stopped: attempts exhausted",
        ]
      )
    }
  }

  @Test("Bulkhead and RateLimiter let calls in, and give their places back")
  func admission() async throws {
    let bulkhead = Bulkhead("search", policy: try BulkheadPolicy(maxConcurrent: 1))
    let limiter = RateLimiter("quota", policy: try .tokenBucket(2, per: .seconds(3_600)))
    let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) {
      bulkhead
      limiter
    }
    for run in await both(pipeline, { 7 }) {
      try expectEqual(run.result?.get(), 7)
      expectEqual(
        run.lines,
        [
          "search: bulkhead: admitted; 1 of 1 run", "quota: rate limiter: admitted",
          "search: bulkhead: released; 0 run",
        ]
      )
    }
    for run in await both(pipeline, { 7 }) {
      #expect(throws: RateLimited.self) { try run.result?.get() }
    }
  }

  @Test("A pipeline without events tells nobody, and what is shared tells the pipelines that listen")
  func quiet() async throws {
    let breaker = CircuitBreaker("host", policy: try CircuitBreakerPolicy(consecutiveFailures: 1))
    let quiet = try Pipeline<Int>("quiet") {
      Retry(.never)
      breaker
    }
    _ = try Pipeline<Int>("weather", events: events, time: scheduler.time) { breaker }
    let log = PolicyEventLog(of: events)
    await #expect(throws: TestFailure.transient) { try await quiet.run { throw TestFailure.transient } }
    expectEqual(log.events.map(\.description), ["host: circuit breaker: closed, now open for 30.0 seconds"])
  }
}
