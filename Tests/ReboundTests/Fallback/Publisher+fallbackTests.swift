import Combine
import Expectations
import ReboundTesting
import Testing

@testable import Rebound

@Suite("fallback")
struct PublisherFallbackTests {
  private let upstream = TestPublisher<Int, TestFailure>()
  private let anyUpstream = TestPublisher<Int, any Error>()
  private let events = Log<String>()

  private func policy<Failure>(for: Failure.Type = Failure.self) -> FallbackPolicy<Failure> {
    FallbackPolicy<Failure>().onEvent { [events] in events.write($0.description) }
  }

  @Test("delivers a value in place of a failure, when one is requested, and keeps the failure in the event")
  func constant() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1))
    upstream.fallback(to: 0, policy()).subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .failure(.transient))
    expectEqual(events.entries, ["falling back from transient"])
    expectEqual(recorder.values, [1])
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    expectEqual(recorder.values, [1, 0])
    #expect(recorder.isFinished)
  }

  @Test("goes on with a publisher that cannot fail, whatever type the failures have")
  func cannotFail() {
    let recorders = (Recorder<Int, TestFailure>(), Recorder<Int, any Error>(), Recorder<Int, any Error>())
    upstream.fallback { _ in Just(1) }.subscribe(recorders.0)
    anyUpstream.fallback { _ in Just(1) }.subscribe(recorders.1)
    anyUpstream.fallback(policy()) { (_: any Error) in Just(1) }.subscribe(recorders.2)
    upstream.send(completion: .failure(.transient))
    for connection in anyUpstream.connections { connection.send(completion: .failure(TestFailure.transient)) }
    #expect(recorders.0.values == [1] && recorders.1.values == [1] && recorders.2.values == [1])
    #expect(recorders.0.isFinished && recorders.1.isFinished && recorders.2.isFinished)
  }

  @Test("passes on what the policy does not cover, unchanged")
  func predicate() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.fallback(to: 0, policy().when(\.isTransient).when { $0 != .numbered(1) }).subscribe(recorder)
    upstream.send(completion: .failure(.permanent))
    expectEqual(recorder.failure, .permanent)
    expectEqual(events.entries, ["no fallback for permanent"])
  }

  @Test("does nothing and tells nothing without a failure")
  func transparent() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.fallback(to: 0, policy()).subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .finished)
    expectEqual(recorder.values, [1])
    #expect(recorder.isFinished)
    expectEqual(events.count, 0)
  }

  @Test("goes on with another publisher, and carries both failures when that fails, too")
  func publisher() {
    let mirror = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, any Error>(requesting: .max(3))
    anyUpstream.fallback(policy()) { _ in mirror }.subscribe(recorder)
    anyUpstream.send(1)
    anyUpstream.send(completion: .failure(TestFailure.busy(.seconds(9))))
    expectEqual(mirror.requests, [.max(2)])
    mirror.send(2)
    mirror.send(completion: .failure(.permanent))
    expectEqual(recorder.values, [1, 2])
    let failed = recorder.failure as? FallbackFailed
    expectEqual(failed?.failure as? TestFailure, .permanent)
    expectEqual(failed?.original as? TestFailure, .busy(.seconds(9)))
    expectEqual(failed?.retryAfter, .seconds(9))
    expectEqual(failed?.description, "The fallback failed (permanent) after the request itself had: busy(9.0 seconds)")
    expectEqual(
      events.entries,
      ["falling back from busy(9.0 seconds)", "fallback failed (permanent) after busy(9.0 seconds)"]
    )
  }

  @Test("maps two failures into the publisher's own type")
  func typed() {
    let recorder = Recorder<Int, TestFailure>()
    upstream
      .fallback(policy(), failingWith: { original, other in original == .transient ? other : original }) { _ in
        Fail<Int, TestFailure>(error: .numbered(2))
      }
      .subscribe(recorder)
    upstream.send(completion: .failure(.transient))
    expectEqual(recorder.failure, .numbered(2))
    expectEqual(events.entries.last, "fallback failed (numbered(2)) after transient")
  }

  @Test("has no fallback for a cancel, and passes on one of the fallback's", arguments: [true, false])
  func cancellation(ofUpstream: Bool) {
    let recorder = Recorder<Int, any Error>()
    anyUpstream
      .fallback(policy()) { _ in Fail<Int, any Error>(error: CancellationError()) }
      .subscribe(recorder)
    anyUpstream.send(completion: .failure(ofUpstream ? CancellationError() : TestFailure.transient))
    #expect(recorder.failure is CancellationError)
    expectEqual(events.entries, ofUpstream ? [] : ["falling back from transient"])
  }

  @Test("has no fallback for a wait that has ended with the deadline of the subscription", arguments: [1, 2, 3])
  func overdueWait(seconds: Int) {
    let time = TestScheduler().time
    let recorder = Recorder<Int, any Error>()
    Deadline.$current.withValue(Deadline(in: .seconds(2), on: time)) {
      anyUpstream.fallback(to: 0, policy()).subscribe(recorder)
    }
    let overdue = TimedOut(waitingUntil: Deadline(in: .seconds(seconds), on: time), limit: .seconds(seconds))
    anyUpstream.send(completion: .failure(overdue))
    expectEqual(recorder.values, seconds < 2 ? [0] : [])
    expectEqual(recorder.failure as? TimedOut, seconds < 2 ? nil : overdue)
    expectEqual(events.count, seconds < 2 ? 1 : 0)
  }

  @Test("passes on a fallback's wait that has ended with the deadline of the subscription, as it is")
  func overdueFallback() {
    let deadline = Deadline(in: .seconds(2), on: TestScheduler().time)
    let recorder = Recorder<Int, any Error>()
    let mirror = TestPublisher<Int, any Error>()
    Deadline.$current.withValue(deadline) { anyUpstream.fallback(policy()) { _ in mirror }.subscribe(recorder) }
    anyUpstream.send(completion: .failure(TestFailure.transient))
    mirror.send(completion: .failure(TimedOut(waitingUntil: deadline, limit: .seconds(2))))
    #expect(recorder.failure is TimedOut)
    expectEqual(events.entries, ["falling back from transient"])
  }

  @Test("cancels the fallback that runs")
  func cancels() {
    let mirror = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>()
    upstream.fallback(failingWith: { original, _ in original }) { _ in mirror }.subscribe(recorder)
    upstream.send(completion: .failure(.transient))
    recorder.cancel()
    expectEqual(mirror.cancelCount, 1)
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("delivers what an asynchronous function returns")
  func asynchronous() async throws {
    var answers: [Int] = []
    let upstream = Fail<Int, any Error>(error: TestFailure.numbered(7))
    let fallback = upstream.fallback(async: { error in (error as? TestFailure) == .numbered(7) ? 42 : 0 })
    for try await answer in fallback.values { answers.append(answer) }
    expectEqual(answers, [42])
    let failing = upstream.fallback(async: { _ in throw TestFailure.permanent })
    let failed = await #expect(throws: FallbackFailed.self) { for try await _ in failing.values {} }
    expectEqual(failed?.original as? TestFailure, .numbered(7))
    expectEqual(failed?.failure as? TestFailure, .permanent)
  }
}
