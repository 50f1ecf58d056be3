import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@testable import ReboundTelemetry

@Suite("PolicySpans")
struct PolicySpansTests {
  private let scheduler = TestScheduler()
  private let events: PolicyEvents
  private let ended = Log<PolicySpan>()

  init() {
    events = PolicyEvents(time: scheduler.time)
  }

  private var collected: PolicySpans { PolicySpans(of: events, whenEnded: ended.write) }

  /// One line for each span and each event, those inside of a span after it.
  private func lines(_ spans: [PolicySpan]) -> [String] {
    spans.flatMap { span in
      let parent = span.parent.map { " in \($0)" } ?? ""
      let line = "\(span.id)\(parent): \(span.part) \(span.outcome), \(span.start) + \(span.duration)"
      return [line] + span.events.map { "\(span.id): \($0.time) \($0.kind) \($0.decision.word)" } + lines(span.children)
    }
  }

  private func pipeline(retries: Int? = 1, pause: Duration = .seconds(2)) throws -> Pipeline<Int> {
    try Pipeline("weather", events: events, time: scheduler.time) {
      Stopwatch()
      Retry(RetryPolicy(clamping: retries, backoff: .constant(pause)))
      Stopwatch("attempt")
      Timeout(attempt: .seconds(3))
    }
  }

  /// Subscribes, and leaves the upstream to the test.
  private func begin(_ pipeline: Pipeline<Int>) -> (upstream: TestPublisher<Int, TestFailure>, Recorder<Int, any Error>)
  {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, any Error>()
    upstream.protected(by: pipeline).subscribe(recorder)
    return (upstream, recorder)
  }

  @Test("an execution is a span with its attempts inside of it, each with what was decided in it and the time of that")
  func tree() throws {
    let spans = collected
    scheduler.advance(by: .seconds(1))
    let (upstream, _) = begin(try pipeline())
    scheduler.advance(by: .seconds(7))
    expectEqual(ended.count, 0)
    upstream.send(7)
    upstream.send(completion: .finished)
    expectEqual(
      lines(ended.entries),
      [
        "1.1: pipeline succeeded, 1.0 seconds + 7.0 seconds",
        "1.1: 4.0 seconds retry retrying",
        "1.2 in 1.1: attempt failed, 1.0 seconds + 3.0 seconds",
        "1.2: 4.0 seconds timeout attempt",
        "1.3 in 1.1: attempt succeeded, 6.0 seconds + 2.0 seconds",
      ]
    )
    expectEqual(ended.entries.map(\.name), ["weather"])
    withExtendedLifetime(spans) {}
  }

  @Test("a cancelled execution is one, too, and so is what was under way in it")
  func cancelled() throws {
    let spans = collected
    let (_, recorder) = begin(try pipeline())
    scheduler.advance(by: .seconds(1))
    recorder.cancel()
    expectEqual(
      lines(ended.entries),
      [
        "1.1: pipeline cancelled, 0.0 seconds + 1.0 seconds",
        "1.2 in 1.1: attempt cancelled, 0.0 seconds + 1.0 seconds",
      ]
    )
    withExtendedLifetime(spans) {}
  }

  @Test("a policy of one's own need say nothing for it; what it refuses has failed")
  func ownPolicy() async throws {
    let spans = collected
    let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) {
      Stopwatch()
      ClosedDoor()
      Stopwatch("attempt")
    }
    await #expect(throws: TestFailure.permanent) { try await pipeline.run { 7 } }
    expectEqual(
      lines(ended.entries),
      ["1.1: pipeline failed, 0.0 seconds + 0.0 seconds", "1.1: 0.0 seconds door closed"]
    )
    withExtendedLifetime(spans) {}
  }

  @Test("attempts side by side are a span each, and each decision is in that of its own")
  func hedged() throws {
    let spans = collected
    let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) {
      Stopwatch()
      Hedge(try HedgePolicy(delay: .after(.seconds(1))))
      Stopwatch("attempt")
      Retry(RetryPolicy(clamping: 1, backoff: .constant(.seconds(4))))
      Stopwatch("try")
    }
    let (upstream, _) = begin(pipeline)
    scheduler.advance(by: .seconds(2))
    // Both are under way, and the first one fails.
    upstream.connections.first?.send(completion: .failure(.transient))
    scheduler.advance(by: .seconds(1))
    upstream.connections.last?.send(7)
    upstream.connections.last?.send(completion: .finished)
    expectEqual(
      lines(ended.entries),
      [
        "1.1: pipeline succeeded, 0.0 seconds + 3.0 seconds",
        "1.1: 1.0 seconds hedge begins",
        "1.1: 3.0 seconds hedge hedge_won",
        "1.2 in 1.1: attempt cancelled, 0.0 seconds + 3.0 seconds",
        "1.2: 2.0 seconds retry retrying",
        "1.3 in 1.2: try failed, 0.0 seconds + 2.0 seconds",
        "1.4 in 1.1: attempt succeeded, 1.0 seconds + 2.0 seconds",
        "1.5 in 1.4: try succeeded, 1.0 seconds + 2.0 seconds",
      ]
    )
    withExtendedLifetime(spans) {}
  }

  @Test("a part that ends after the one around it, as a joined call may, comes by itself")
  func late() throws {
    let spans = collected
    let forecasts = Coalescer<String, Int, any Error>()
    let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) {
      Stopwatch()
      SingleFlight(by: forecasts, for: "Rome")
      Stopwatch("flight")
    }
    let upstream = TestPublisher<Int, TestFailure>()
    let recorders = [Recorder<Int, any Error>(), Recorder<Int, any Error>()]
    for recorder in recorders { upstream.protected(by: pipeline).subscribe(recorder) }
    scheduler.advance(by: .seconds(1))
    recorders[0].cancel()
    scheduler.advance(by: .seconds(1))
    upstream.send(completion: .finished)
    expectEqual(
      lines(ended.entries),
      [
        "1.1: pipeline cancelled, 0.0 seconds + 1.0 seconds",
        "1.2 in 1.1: flight succeeded, 0.0 seconds + 2.0 seconds",
        "2.1: pipeline succeeded, 0.0 seconds + 2.0 seconds",
      ]
    )
    withExtendedLifetime(spans) {}
  }

  @Test("a part comes by itself, too, if the one around it ends while its own end is being told")
  func lateAtTheSameTime() throws {
    let forecasts = Coalescer<String, Int, any Error>()
    let recorders = [Recorder<Int, any Error>(), Recorder<Int, any Error>()]
    // As another thread might do it there.
    let events = PolicyEvents(time: scheduler.time) { event in
      if (event.decision as? StopwatchEvent)?.part == "flight" { recorders[0].cancel() }
      return event
    }
    let spans = PolicySpans(of: events, whenEnded: ended.write)
    let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) {
      Stopwatch()
      SingleFlight(by: forecasts, for: "Rome")
      Stopwatch("flight")
    }
    let upstream = TestPublisher<Int, TestFailure>()
    for recorder in recorders { upstream.protected(by: pipeline).subscribe(recorder) }
    scheduler.advance(by: .seconds(1))
    upstream.send(completion: .finished)
    expectEqual(
      lines(ended.entries),
      [
        "1.1: pipeline cancelled, 0.0 seconds + 1.0 seconds",
        "1.2 in 1.1: flight succeeded, 0.0 seconds + 1.0 seconds",
        "2.1: pipeline succeeded, 0.0 seconds + 1.0 seconds",
      ]
    )
    withExtendedLifetime(spans) {}
  }

  @Test("a pipeline inside of another one's function is an execution of its own, and knows in which span it was run")
  func nested() async throws {
    let spans = collected
    let others = PolicyEvents(time: scheduler.time)
    let othersEnded = Log<PolicySpan>()
    let otherSpans = PolicySpans(of: others, whenEnded: othersEnded.write)
    let (outer, time) = (try pipeline(), scheduler.time)
    let inner = try Pipeline<Int>("cache", events: events, time: time) { Stopwatch() }
    let other = try Pipeline<Int>("other", events: others, time: time) { Stopwatch() }
    let value = try await outer.run {
      let first = try await inner.run { try await other.run { 3 } }
      for try await second in Just(4).setFailureType(to: TestFailure.self).protected(by: inner).values {
        return first + second
      }
      return first
    }
    expectEqual(value, 7)
    expectEqual(
      ended.entries.map { "\($0.name) \($0.id) \($0.parent?.description ?? "-")" },
      [
        "cache 2.1 1.2", "cache 3.1 1.2", "weather 1.1 -",
      ]
    )
    expectEqual(othersEnded.entries.map(\.parent), [nil])
    withExtendedLifetime((spans, otherSpans)) {}
  }

  @Test(
    "of more executions than it keeps, the one of which nothing was heard for the longest time loses its events, and is counted"
  )
  func bounded() throws {
    let spans = PolicySpans(of: events, limit: 2, whenEnded: ended.write)
    let pipeline = try pipeline(retries: nil)
    var (calls, number) = ([TestPublisher<Int, TestFailure>](), 0)
    for _ in 1...3 {
      let (upstream, _) = begin(pipeline)
      upstream.send(completion: .failure(.transient))
      calls.append(upstream)
      if calls.count == 2 {
        // The first one is heard of again, so the second one is to go.
        scheduler.advance(by: .seconds(2))
        calls[0].send(completion: .failure(.transient))
      }
    }
    expectEqual(spans.droppedCount, 1)
    scheduler.advance(by: .seconds(2))
    for call in calls {
      call.send(completion: .finished)
      number += 1
      expectEqual(ended.count, number)
    }
    expectEqual(ended.entries.map(\.events.count), [2, 0, 1])
    expectEqual(ended.entries.map(\.children.count), [3, 1, 2])
    // What has ended is forgotten.
    expectEqual(spans.droppedCount, 1)
  }

  @Test("has so many events and spans inside of a span, and no more: events are counted then, spans come by themselves")
  func boundedSpan() throws {
    let spans = collected
    let (upstream, _) = begin(try pipeline(retries: nil, pause: .zero))
    let failures = PolicySpan.limit + 2
    for _ in 0..<failures {
      scheduler.advance()
      upstream.send(completion: .failure(.transient))
    }
    scheduler.advance()
    upstream.send(completion: .finished)
    let whole = try #require(ended.entries.last)
    expectEqual(whole.events.count, PolicySpan.limit)
    expectEqual(whole.droppedEventCount, 2)
    expectEqual(whole.children.count, PolicySpan.limit)
    expectEqual(ended.entries.dropLast().map(\.parent), [whole.id, whole.id, whole.id])
    withExtendedLifetime(spans) {}
  }

  @Test("listens as long as it is there; what has begun before is no span")
  func listening() throws {
    let pipeline = try pipeline()
    let (early, _) = begin(pipeline)
    var spans: PolicySpans? = collected
    #expect(events.isListened)
    let (other, _) = begin(pipeline)
    early.send(completion: .finished)
    other.send(completion: .finished)
    expectEqual(ended.entries.map { "\($0.id)" }, ["1.1"])
    withExtendedLifetime(spans) {}
    spans = nil
    #expect(!events.isListened)
  }

  @Test("says when a span began by the device's clock, as it is when the span ends")
  func wallClock() throws {
    let scheduler = scheduler
    let time = scheduler.time.withWallClock { .seconds(1_000) + scheduler.time.now }
    let events = PolicyEvents(time: time)
    let spans = PolicySpans(of: events, whenEnded: ended.write)
    let pipeline = try Pipeline<Int>("weather", events: events, time: time) { Stopwatch() }
    scheduler.advance(by: .seconds(3))
    let (upstream, _) = begin(pipeline)
    scheduler.advance(by: .seconds(2))
    upstream.send(completion: .finished)
    expectEqual(ended.entries.map(\.wallClockStart), [.seconds(1_003)])
    withExtendedLifetime(spans) {}
  }
}

/// Lets nobody in.
private struct ClosedDoor: Policy {
  struct Event: PolicyDecision {
    static let kind = PolicyKind("door")
    let word = "closed"
    let description = "closed"
  }

  struct Machine: PolicyMachine {
    mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> {
      execution.tell(Event())
      return .refuse(TestFailure.permanent)
    }
  }

  var descriptor: StageDescriptor { StageDescriptor(Event.kind) }
  func makeMachine(_ execution: ExecutionContext) -> Machine { Machine() }
}
