import Combine
import Expectations
import Foundation
import Rebound
import ReboundHTTPTesting
import ReboundTelemetry
import ReboundTesting
import Testing

@testable import ReboundHTTP

@Suite("JSONLines+http")
struct JSONLinesHTTPTests {
  private let kept = ValueLog<String>()

  /// A client whose calls are written, and nobody else watches.
  private func test(_ script: [ScriptedTransport.Step], _ middleware: [any HTTPMiddleware] = []) -> (
    ClientUnderTest, JSONLines
  ) {
    var test = ClientUnderTest(script, middleware)
    let lines = JSONLines(time: test.scheduler.time, hiding: Redaction.standard.line)
    test.client = WebAPIClient(
      baseURL: .service,
      transport: test.transport,
      middleware: middleware,
      deliveringOn: nil,
      time: test.scheduler.time,
      random: .seeded(1)
    )
    .writing(to: lines)
    return (test, lines)
  }

  private func objects() throws -> [[String: Any]] {
    try kept.values.map { try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
  }

  @Test("a call that is retried is a line for each thing that happens, all with its id")
  func retried() throws {
    let (test, lines) = test(
      [.status(503, retryAfter: 2).after(.milliseconds(250)), .ok("{}").after(.milliseconds(500))],
      [Retrying(RetryPolicy(clamping: 2, backoff: .constant(.seconds(1))))]
    )
    let reading = lines.read { [kept] in kept.append($0) }
    _ = try test.run(Anything(query: ["appid": "s3cret", "q": "Rome"]))
    let objects = try objects()
    expectEqual(
      objects.compactMap { $0["event"] as? String },
      [
        "began", "attempt_began", "responded", "attempt_failed", "retry", "attempt_began", "responded", "downloaded",
        "attempt_succeeded", "succeeded",
      ]
    )
    expectEqual(Set(objects.compactMap { $0["call"] as? String }).count, 1)
    #expect(objects.allSatisfy { $0["type"] as? String == "http" && $0["operation"] as? String == "Anything" })
    expectEqual(objects.compactMap { $0["attempt"] as? Int }, [1, 1, 2, 2])
    expectEqual(objects.compactMap { $0["status"] as? Int }, [503, 503, 200, 200])
    expectEqual(objects[3]["retry_after"] as? Double, 2)
    expectEqual(objects[3]["outcome"] as? String, "503")
    expectEqual((objects[4]["details"] as? [String: Any])?["delay"] as? Double, 2)
    expectEqual(objects[9]["elapsed"] as? Double, 2.75)
    #expect(!kept.values.contains { $0.contains("s3cret") })
    reading.cancel()
  }

  @Test("what other policies decide about a call is a line with the policy, the decision and its details")
  func decided() throws {
    let (test, lines) = test(
      [.silence, .ok("{}")],
      [Hedging(try HedgePolicy(delay: .after(.seconds(2))))]
    )
    let reading = lines.read { [kept] in kept.append($0) }
    _ = try test.run(Anything())
    let decided = try objects().filter { $0["event"] as? String == "decided" }
    expectEqual(decided.map { $0["policy"] as? String }, ["hedge", "hedge"])
    expectEqual(decided.map { $0["decision"] as? String }, ["begins", "hedge_won"])
    expectEqual((decided.first?["details"] as? [String: Any])?["hedge"] as? Int, 1)
    reading.cancel()
  }

  @Test("while nobody reads no event is built, and a call that has begun then is not written either")
  func unread() throws {
    let (test, lines) = test([.ok("{}").after(.seconds(1)), .ok("{}")])
    let recorder = test.send(Anything())
    let reading = lines.read { [kept] in kept.append($0) }
    try test.scheduler.run()
    #expect(recorder.isFinished)
    #expect(kept.values.isEmpty)
    _ = try test.run(Anything())
    #expect(!kept.values.isEmpty)
    reading.cancel()
  }

  /// How often a call asks the clock, whose events are written to these lines or nowhere.
  private func clockCalls(isWriting: Bool) throws -> (count: Int, isObserved: Bool) {
    let (scheduler, asked) = (TestScheduler(), ValueLog<Void>())
    let virtual = scheduler.time
    let time = TimeSource(
      now: {
        asked.append(())
        return virtual.now
      },
      after: { delay, action in virtual.after(delay, action) }
    )
    var client = WebAPIClient(
      baseURL: .service,
      transport: ScriptedTransport([.status(503), .ok("{}")], time: virtual),
      middleware: [Retrying(RetryPolicy(clamping: 1, backoff: .constant(.seconds(1))))],
      deliveringOn: nil,
      time: time,
      random: .seeded(1)
    )
    if isWriting { client = client.writing(to: JSONLines(time: virtual, hiding: Redaction.standard.line)) }
    let recorder = Recorder<Anything.Response, NetworkFailure>()
    client.publisher(for: Anything()).subscribe(recorder)
    try scheduler.run()
    #expect(recorder.isFinished)
    return (asked.values.count, client.observer != nil)
  }

  @Test("a client whose lines nobody reads has no observer, and asks the clock as often as one without lines")
  func unreadCostsNothing() throws {
    let (without, with) = (try clockCalls(isWriting: false), try clockCalls(isWriting: true))
    #expect(without.count > 0)
    expectEqual(with.count, without.count)
    #expect(!with.isObserved)
  }

  @Test("who watches besides is told all the same, whether anybody reads or not")
  func observers() throws {
    var (test, lines) = test([.ok("{}"), .ok("{}")])
    test.client = test.client.onEvent(test.log.write)
    _ = try test.run(Anything())
    let count = test.log.events.count
    let reading = lines.read { [kept] in kept.append($0) }
    _ = try test.run(Anything())
    #expect(count > 0)
    expectEqual(test.log.events.count, 2 * count)
    expectEqual(kept.values.count, count)
    reading.cancel()
  }

  @Test("a failure and a refusal say what they are; a cancel is a line, too")
  func ends() throws {
    let breaker = CircuitBreaker(
      "service",
      policy: try .consecutive(1, openFor: .seconds(30)),
      failingWhen: NetworkFailure.speaksAgainstService
    )
    let (test, lines) = test([.reset, .silence], [Protecting(with: breaker)])
    let reading = lines.read { [kept] in kept.append($0) }
    _ = try test.run(Anything())
    _ = try test.run(Anything())
    breaker.close()
    test.send(Anything()).cancel()
    test.scheduler.advance()
    let ends = try objects().filter { ["failed", "refused", "cancelled"].contains($0["event"] as? String) }
    expectEqual(ends.compactMap { $0["event"] as? String }, ["failed", "refused", "failed", "cancelled"])
    expectEqual(ends.compactMap { $0["outcome"] as? String }, ["reset", "circuit_open"])
    expectEqual(ends[1]["retry_after"] as? Double, 30)
    reading.cancel()
  }

  @Test("a span is a line with its attributes")
  func span() throws {
    let scheduler = TestScheduler()
    let lines = JSONLines(time: scheduler.time, hiding: Redaction.standard.line)
    let tracing = Tracing(time: scheduler.time.withWallClock { .seconds(1_000) }, whenEnded: lines.write)
    var test = ClientUnderTest([.status(503).after(.seconds(1))], [tracing])
    test.client = test.client.onEvent(tracing.write)
    let reading = lines.read { [kept] in kept.append($0) }
    _ = try test.run(Anything())
    scheduler.advance()
    let objects = try objects()
    expectEqual(objects.compactMap { $0["type"] as? String }, ["span", "span"])
    expectEqual(objects.compactMap { $0["is_attempt"] as? Bool }, [true, false])
    expectEqual(objects.compactMap { $0["duration"] as? Double }, [1, 1])
    expectEqual(objects[0]["parent"] as? String, objects[1]["span"] as? String)
    expectEqual((objects[0]["attributes"] as? [String: Any])?["http.response.status_code"] as? Int, 503)
    reading.cancel()
  }
}
