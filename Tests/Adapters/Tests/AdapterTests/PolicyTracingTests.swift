import Combine
import Rebound
import ReboundTelemetry
import ReboundTesting
import ReboundTracing
import Testing
import Tracing

@Suite struct PolicyTracingTests {
  private let tracer = RecordingTracer()
  private let scheduler = TestScheduler()

  /// Its error tells what it must not.
  private struct Loose: Error, CustomStringConvertible {
    let description = "https://a.example/?access_token=hush"
  }

  /// An execution whose first attempt fails at once; the second one ends 5 seconds later.
  private func execute(
    wallClock: Duration = .seconds(1_000),
    ending completion: Subscribers.Completion<any Error> = .finished
  ) throws {
    let scheduler = scheduler
    let time = scheduler.time.withWallClock { wallClock + scheduler.time.now }
    let events = PolicyEvents(time: time)
    let spans = PolicySpans(of: events, whenEnded: PolicyTracing(tracer: tracer).write)
    let pipeline = try Pipeline<Int>("weather", events: events, time: time) {
      Stopwatch()
      Retry(RetryPolicy(clamping: 1, backoff: .constant(.seconds(2))), when: { _ in true })
      Stopwatch("attempt")
    }
    let upstream = TestPublisher<Int, any Error>()
    upstream.protected(by: pipeline).subscribe(Recorder<Int, any Error>())
    upstream.send(completion: .failure(Loose()))
    scheduler.advance(by: .seconds(5))
    upstream.send(completion: completion)
    withExtendedLifetime(spans) {}
  }

  @Test func anExecutionIsASpanWithItsTimesAndItsAttemptsWithinIt() throws {
    try execute()
    let spans = tracer.spans
    try #require(spans.count == 3)
    #expect(spans.map(\.operationName) == ["weather", "weather", "weather"])
    #expect(spans.map(\.parent) == [nil, spans[0].number, spans[0].number])
    #expect(spans.map { $0["rebound.part"] } == [.string("pipeline"), .string("attempt"), .string("attempt")])
    #expect(spans.map { $0["rebound.execution"] } == [.int64(1), .int64(1), .int64(1)])
    #expect(spans.map(\.startTime) == [1_000_000_000_000, 1_000_000_000_000, 1_002_000_000_000])
    #expect(spans.map(\.endTime) == [1_005_000_000_000, 1_000_000_000_000, 1_005_000_000_000])
    #expect(spans.map(\.endCount) == [1, 1, 1])
    #expect(spans.map { $0["error.type"] } == [nil, .string("failed"), nil])
    #expect(spans.map { $0.status?.code } == [nil, .error, nil])
  }

  @Test func whatPoliciesDecideAreEventsWithoutSecrets() throws {
    try execute(ending: .failure(Loose()))
    let events = try #require(tracer.spans.first).events
    #expect(events.map(\.name) == ["retry.retrying", "retry.attempts_exhausted"])
    #expect(events.map(\.nanosecondsSinceEpoch) == [1_000_000_000_000, 1_005_000_000_000])
    #expect(
      events.map { $0.attributes["rebound.severity"]?.toSpanAttribute() } == [.string("warning"), .string("error")]
    )
    let texts = events.map { "\(String(describing: $0.attributes["rebound.text"]))" }
    #expect(texts.allSatisfy { $0.contains("failed") && !$0.contains("hush") })
  }

  @Test func aSpanIsPartOfTheContextOfTheTaskThatItEndsIn() async throws {
    let events = PolicyEvents()
    let spans = PolicySpans(of: events, whenEnded: PolicyTracing(tracer: tracer).write)
    let pipeline = try Pipeline<Int>("weather", events: events) { Stopwatch() }
    var context = ServiceContext.topLevel
    context[RecordingTracer.NumberKey.self] = 7
    try await ServiceContext.$current.withValue(context) { _ = try await pipeline.run { 1 } }
    #expect(tracer.spans.map(\.parent) == [7])
    withExtendedLifetime(spans) {}
  }

  @Test(arguments: [Duration.seconds(-5), .seconds(Int64.max / 2)])
  func aClockThatIsSetWildlyIsNoReasonToStop(wallClock: Duration) throws {
    try execute(wallClock: wallClock)
    #expect(tracer.spans.first?.startTime == (wallClock < .zero ? 0 : .max))
  }
}
