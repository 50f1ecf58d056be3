import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("The events of a Pipeline", .virtualTime)
struct PipelineEventsTests {
  /// What the first three calls are in for: one that hangs among failures, a refusal, and a good answer in the end.
  static let answers: [Answer] = [.fails, .hangs, .fails, .fails, .succeeds]

  enum Answer {
    case fails
    case hangs
    case succeeds
  }

  static func pipeline(_ events: PolicyEvents, time: TimeSource) throws -> Pipeline<Int> {
    let breaker = CircuitBreaker(
      "host",
      policy: try CircuitBreakerPolicy(consecutiveFailures: 3, openTime: .seconds(10))
    )
    let budget = try RetryBudget.bucket(tokens: 15, cost: 5)
    return try Pipeline("weather", events: events, time: time) {
      Fallback(to: 0)
      Timeout(total: .seconds(60))
      Retry(.init(clamping: 5, backoff: .constant(.seconds(1))), budget: budget)
      breaker
      Timeout(attempt: .seconds(2))
    }
  }

  /// Every decision of three executions, at 0 s, at 20 s and at 50 s.
  static let golden: [String] = {
    let slow = TimedOut(.attempt, limit: .seconds(2), name: "weather")
    let open = CircuitOpen(name: "host", retryAfter: .seconds(9), lastError: TestFailure.transient)
    return [
      "0.0 seconds warning weather: retry: attempt 1 failed (transient); retrying in 1.0 seconds (computed)",
      "3.0 seconds warning weather: timeout: weather timed out after 2.0 seconds (attempt, limit 2.0 seconds, values: 0)",
      "3.0 seconds warning weather: retry: attempt 2 failed (\(slow)); retrying in 1.0 seconds (computed)",
      "4.0 seconds error host: circuit breaker: closed, now open for 10.0 seconds",
      "4.0 seconds warning weather: retry: attempt 3 failed (transient); retrying in 1.0 seconds (computed)",
      "5.0 seconds warning host: circuit breaker: call refused, try again in 9.0 seconds",
      "5.0 seconds error weather: retry: attempt 4 failed (\(open)); stopped: circuit open",
      "5.0 seconds warning weather: fallback: falling back from \(open)",
      "20.0 seconds warning host: circuit breaker: open, now halfOpen",
      "20.0 seconds error host: circuit breaker: halfOpen, now open for 20.0 seconds",
      "20.0 seconds error weather: retry: attempt 1 failed (transient); stopped: budget exhausted",
      "20.0 seconds warning weather: fallback: falling back from transient",
      "50.0 seconds warning host: circuit breaker: open, now halfOpen",
      "50.0 seconds info host: circuit breaker: halfOpen, now closed",
    ]
  }()

  static let gauges = [
    "weather: budget: 0 left, 3 granted, 1 denied",
    "host: circuit breaker: closed, 0 of 0 calls failed",
  ]

  @Test("tell the whole story of a publisher, in order")
  func publisher() throws {
    let scheduler = TestScheduler.current
    let events = PolicyEvents(time: scheduler.time)
    let log = PolicyEventLog(of: events)
    let pipeline = try Self.pipeline(events, time: scheduler.time)
    var answers = Self.answers.makeIterator()
    let upstream = TestPublisher<Int, TestFailure> { connection in
      switch answers.next() {
      case .fails: connection.send(completion: .failure(.transient))
      case .succeeds:
        connection.send(7)
        connection.send(completion: .finished)
      case .hangs, nil: break
      }
    }
    let recorder = Recorder<Int, any Error>()
    for pause in [0, 15, 25] {
      scheduler.advance(by: .seconds(pause))
      upstream.protected(by: pipeline).subscribe(recorder)
      scheduler.advance(by: .seconds(5))
    }
    expectEqual(recorder.values, [0, 0, 7])
    expectEqual(log.lines, Self.golden)
    expectEqual(events.gauges.map(\.description), Self.gauges)
  }

  @Test("tell the same story of an asynchronous function")
  func asynchronous() async throws {
    let clock = SteppedClock()
    let time = clock.time
    let events = PolicyEvents(time: time)
    let log = PolicyEventLog(of: events)
    let pipeline = try Self.pipeline(events, time: time)
    let (retries, continuation) = AsyncStream<Void>.makeStream()
    // A retry is told before its wait begins, and by then the timer of the attempt is gone.
    let subscription = events.sink { if $0.kind == .retry { continuation.yield() } }
    let calls = Log<Void>()
    let operation: @Sendable () async throws -> Int = {
      switch Self.answers[calls.number(()) - 1] {
      case .fails: throw TestFailure.transient
      case .succeeds: return 7
      case .hangs:
        await untilCancelled()
        throw CancellationError()
      }
    }
    var retried = retries.makeAsyncIterator()
    let first = Task { try await pipeline.run(operation) }
    for wait in [Duration.seconds(1), .seconds(2), .seconds(1), .seconds(1)] {
      if wait == .seconds(1) { await retried.next() }
      try await clock.untilAsleep(2)
      clock.advance(by: wait)
    }
    try await expectEqual(first.value, 0)
    clock.advance(by: .seconds(15))
    try await expectEqual(pipeline.run(operation), 0)
    clock.advance(by: .seconds(30))
    try await expectEqual(pipeline.run(operation), 7)
    withExtendedLifetime(subscription) {}
    expectEqual(log.lines, Self.golden)
    expectEqual(events.gauges.map(\.description), Self.gauges)
  }

  /// A retry whose pause is as long as the time there is.
  private static func hurried(_ events: PolicyEvents, time: TimeSource) throws -> Pipeline<Int> {
    try Pipeline("weather", events: events, time: time) {
      Timeout(total: .seconds(5))
      Retry(.init(clamping: nil, backoff: .constant(.seconds(2))))
    }
  }

  @Test("say that a limit outside leaves no time for a retry, of a publisher and of an asynchronous function")
  func deadline() async throws {
    let scheduler = TestScheduler.current
    let events = PolicyEvents(time: scheduler.time)
    let log = PolicyEventLog(of: events)
    let recorder = Recorder<Int, any Error>(on: scheduler)
    Fail<Int, TestFailure>(error: .transient)
      .protected(by: try Self.hurried(events, time: scheduler.time))
      .subscribe(recorder)
    try scheduler.run()
    expectEqual(recorder.failure as? TestFailure, .transient)
    expectEqual(recorder.completionTime, VirtualTime.start.advanced(by: .seconds(4)))

    let clock = SteppedClock()
    let asyncEvents = PolicyEvents(time: clock.time)
    let asyncLog = PolicyEventLog(of: asyncEvents)
    let pipeline = try Self.hurried(asyncEvents, time: clock.time)
    let task = Task { try await pipeline.run { throw TestFailure.transient } }
    for _ in 0..<2 {
      // The limit's timer, and the pause.
      try await clock.untilAsleep(2)
      clock.advance(by: .seconds(2))
    }
    await #expect(throws: TestFailure.transient) { try await task.value }
    expectEqual(asyncLog.lines, log.lines)
    expectEqual(
      log.lines,
      [
        "0.0 seconds warning weather: retry: attempt 1 failed (transient); retrying in 2.0 seconds (computed)",
        "2.0 seconds warning weather: retry: attempt 2 failed (transient); retrying in 2.0 seconds (computed)",
        "4.0 seconds error weather: retry: attempt 3 failed (transient); stopped: deadline exceeded",
      ]
    )
  }
}
