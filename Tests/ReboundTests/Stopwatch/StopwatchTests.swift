import Combine
import Expectations
import ReboundTelemetry
import ReboundTesting
import Testing

@testable import Rebound

@Suite("Stopwatch")
struct StopwatchTests {
  private let scheduler = TestScheduler()
  private let clock = JumpingClock()

  private func pipeline(_ events: PolicyEvents, _ time: TimeSource) throws -> Pipeline<Int> {
    try Pipeline("weather", events: events, time: time) {
      Stopwatch()
      Retry(RetryPolicy(clamping: 1, backoff: .constant(.seconds(2))))
    }
  }

  private func told(_ log: PolicyEventLog) -> [String] {
    log.events.filter { $0.kind == .stopwatch }.map(\.description)
  }

  /// Fails so many times, and succeeds then.
  private func call(failing failures: Int) -> @Sendable () throws -> Int {
    let calls = Log<Void>()
    return {
      if calls.number(()) <= failures { throw TestFailure.transient }
      return 7
    }
  }

  private static let ends = [
    "weather: stopwatch: pipeline succeeded after 0.0 seconds",
    "weather: stopwatch: pipeline succeeded after 2.0 seconds",
    "weather: stopwatch: pipeline failed after 2.0 seconds",
  ]

  /// What is told when calls fail not at all, once, and twice.
  private func told(
    on time: TimeSource,
    _ execute: (Pipeline<Int>, _ call: @escaping @Sendable () throws -> Int) async -> Void
  ) async throws -> [String] {
    let events = PolicyEvents()
    let log = PolicyEventLog(of: events)
    let pipeline = try pipeline(events, time)
    for failures in 0...2 { await execute(pipeline, call(failing: failures)) }
    return told(log)
  }

  @Test("tells how each execution of a publisher ends, and how long all its attempts took")
  func publisher() async throws {
    let told = try await told(on: scheduler.time) { pipeline, call in
      Deferred { Result { try call() }.publisher }.protected(by: pipeline).subscribe(Recorder<Int, any Error>())
      scheduler.advance(by: .seconds(10))
    }
    expectEqual(told, Self.ends)
  }

  @Test("tells the same of an asynchronous function")
  func asynchronous() async throws {
    let told = try await told(on: clock.time) { pipeline, call in _ = try? await pipeline.run { try call() } }
    expectEqual(told, Self.ends)
  }

  @Test("tells the same of a sequence")
  func sequence() async throws {
    let told = try await told(on: clock.time) { pipeline, call in
      let sequence = MadeSequence { _, number in number == 1 ? try call() : nil }
      _ = await sequence.protected(by: pipeline).gathered()
    }
    expectEqual(told, Self.ends)
  }

  @Test("a cancel is told once, as one before a value and as a success after it")
  func cancelled() throws {
    let events = PolicyEvents()
    let log = PolicyEventLog(of: events)
    let pipeline = try pipeline(events, scheduler.time)
    let upstream = TestPublisher<Int, TestFailure>()
    for delivers in [false, true] {
      let recorder = Recorder<Int, any Error>()
      upstream.protected(by: pipeline).subscribe(recorder)
      scheduler.advance(by: .seconds(3))
      if delivers { upstream.send(7) }
      for _ in 1...2 { recorder.cancel() }
    }
    expectEqual(
      told(log),
      [
        "weather: stopwatch: pipeline cancelled after 3.0 seconds",
        "weather: stopwatch: pipeline succeeded after 3.0 seconds",
      ]
    )
  }

  @Test("a cancelled task is told once")
  func cancelledTask() async throws {
    let events = PolicyEvents()
    let log = PolicyEventLog(of: events)
    let pipeline = try pipeline(events, clock.time)
    let began = Log<Void>()
    let task = Task {
      try await pipeline.run {
        began.write(())
        await untilCancelled()
        throw CancellationError()
      }
    }
    await began.until(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    expectEqual(told(log), ["weather: stopwatch: pipeline cancelled after 0.0 seconds"])
  }

  @Test("reads no clock while nobody listens, and tells nothing of what has begun before somebody did")
  func unheard() throws {
    let readings = Log<Void>()
    let time = TimeSource(
      now: {
        readings.write(())
        return .zero
      },
      after: { _, _ in AnyCancellable {} }
    )
    let events = PolicyEvents(time: scheduler.time)
    let pipeline = try Pipeline<Int>("weather", events: events, time: time) { Stopwatch() }
    let upstream = TestPublisher<Int, TestFailure>()
    upstream.protected(by: pipeline).subscribe(Recorder<Int, any Error>())
    let log = PolicyEventLog(of: events)
    upstream.send(completion: .finished)
    expectEqual(readings.count, 0)
    #expect(log.events.isEmpty)
  }

  @Test("is a distribution of durations among the metrics, for each part and each outcome")
  func metrics() throws {
    let events = PolicyEvents()
    let table = MetricsTable()
    let reporting = events.report(to: table)
    let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) {
      Stopwatch()
      Retry(RetryPolicy(clamping: 1, backoff: .constant(.seconds(2))))
      Stopwatch("attempt")
    }
    let call = call(failing: 1)
    Deferred { Result { try call() }.publisher }.protected(by: pipeline).subscribe(Recorder<Int, any Error>())
    scheduler.advance(by: .seconds(10))
    func histogram(_ part: String, _ outcome: String) -> MetricsTable.Histogram? {
      table.snapshot.histograms[
        Metric(
          "rebound_pipeline_duration_seconds",
          .init("source", "weather"),
          .init("part", part),
          .init("outcome", outcome)
        )
      ]
    }
    expectEqual(histogram("pipeline", "succeeded")?.sum, 2)
    expectEqual(histogram("pipeline", "succeeded")?.count, 1)
    #expect(histogram("pipeline", "failed") == nil)
    expectEqual(histogram("attempt", "failed")?.count, 1)
    expectEqual(histogram("attempt", "succeeded")?.count, 1)
    reporting.cancel()
  }

  @Test("says what it is in the shape of a pipeline, and in the details of its events")
  func words() throws {
    expectEqual("\(Stopwatch().descriptor)", #"stopwatch "pipeline""#)
    let event = StopwatchEvent(part: "attempt", outcome: .failed, duration: .milliseconds(1_500))
    expectEqual(event.text, "stopwatch: attempt failed after 1.5 seconds")
    expectEqual(event.severity, .info)
    expectEqual(event.details, [EventField("part", "attempt"), EventField("duration", .milliseconds(1_500))])
  }
}
