import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("ExecutionID", .virtualTime)
struct ExecutionIDTests {
  private let time = TimeSource.current
  private let events = PolicyEvents()

  private func pipeline(failures: Int = 1) throws -> Pipeline<Int> {
    try Pipeline("weather", events: events) {
      Stopwatch()
      Retry(RetryPolicy(clamping: failures, backoff: .immediate))
      Stopwatch("attempt")
      Timeout(attempt: .seconds(2))
    }
  }

  private static var failing: Fail<Int, TestFailure> { Fail(error: .transient) }

  private func ids(_ log: PolicyEventLog) -> [String] {
    log.events.map { "\($0.kind) \($0.execution?.description ?? "-") \($0.span?.description ?? "-")" }
  }

  /// Two attempts of one execution.
  private static func twoAttempts(_ number: Int) -> [String] {
    [
      "stopwatch \(number) \(number).2", "retry \(number) \(number).1", "stopwatch \(number) \(number).3",
      "retry \(number) \(number).1", "stopwatch \(number) \(number).1",
    ]
  }

  @Test("is the same in all stages of an execution, and another one for each, in all forms")
  func allForms() async throws {
    let log = PolicyEventLog(of: events)
    let pipeline = try pipeline()
    Self.failing.protected(by: pipeline).subscribe(Recorder<Int, any Error>())
    await #expect(throws: TestFailure.transient) { try await pipeline.run { throw TestFailure.transient } }
    _ = await MadeSequence<Int> { _, _ in throw TestFailure.transient }.protected(by: pipeline).gathered()
    expectEqual(ids(log), Self.twoAttempts(1) + Self.twoAttempts(2) + Self.twoAttempts(3))
  }

  @Test("is another one for each subscription of a publisher, also if they are under way together")
  func subscriptions() throws {
    let log = PolicyEventLog(of: events)
    let upstreams = [TestPublisher<Int, TestFailure>(), TestPublisher<Int, TestFailure>()]
    let pipeline = try pipeline(failures: 0)
    for upstream in upstreams { upstream.protected(by: pipeline).subscribe(Recorder<Int, any Error>()) }
    for upstream in upstreams.reversed() { upstream.send(completion: .failure(.permanent)) }
    let executions = log.events.map(\.execution?.number)
    expectEqual(executions, [2, 2, 2, 1, 1, 1])
  }

  @Test("is none for an execution that has begun while nobody listened, whatever it tells later")
  func late() throws {
    let upstream = TestPublisher<Int, TestFailure>()
    let pipeline = try pipeline()
    upstream.protected(by: pipeline).subscribe(Recorder<Int, any Error>())
    let log = PolicyEventLog(of: events)
    upstream.send(completion: .failure(.transient))
    upstream.send(completion: .failure(.transient))
    expectEqual(ids(log), ["retry - -", "stopwatch - -", "retry - -"])
    Self.failing.protected(by: pipeline).subscribe(Recorder<Int, any Error>())
    expectEqual(ids(log).dropFirst(3), Self.twoAttempts(1)[...])
  }

  @Test("is none for what a shared object tells of itself")
  func shared() throws {
    let log = PolicyEventLog(of: events)
    let pipeline = try Pipeline<Int>("weather", events: events) {
      Fallback(to: 0)
      CircuitBreaker("host", policy: try .consecutive(1, openFor: .seconds(1)))
    }
    Self.failing.protected(by: pipeline).subscribe(Recorder<Int, any Error>())
    expectEqual(ids(log), ["circuit breaker - -", "fallback 1 -"])
  }

  @Test("stays with an event that is made anew on its way")
  func revised() throws {
    let events = PolicyEvents { PolicyEvent($0.decision, source: "hidden", time: $0.time) }
    let log = PolicyEventLog(of: events)
    let pipeline = try Pipeline<Int>("weather", events: events) { Stopwatch() }
    Just(1).setFailureType(to: TestFailure.self).protected(by: pipeline).subscribe(Recorder<Int, any Error>())
    expectEqual(log.events.map(\.source), ["hidden"])
    expectEqual(ids(log), ["stopwatch 1 1.1"])
  }

  @Test("takes no function away from the actor of its caller", arguments: [false, true])
  @MainActor
  func isolation(isListened: Bool) async throws {
    let log = isListened ? PolicyEventLog(of: events) : nil
    let pipeline = try Pipeline<Bool>("weather", events: events) {
      Stopwatch()
      Retry(RetryPolicy(clamping: 1, backoff: .immediate))
      Stopwatch("attempt")
    }
    #expect(try await pipeline.run { #isolation === MainActor.shared })
    expectEqual(log?.events.count, isListened ? 2 : nil)
  }
}
