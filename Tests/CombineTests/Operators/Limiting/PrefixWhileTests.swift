import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("prefix(while:)")
struct PrefixWhileTests {
  @Test("the first value refused cancels the upstream, then finishes, and is not published")
  func finishes() {
    var cancelCountAtEnd = 0
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(2),
      answering: { _, _ in .max(3) },
      whenCompleted: { cancelCountAtEnd = upstream.cancelCount }
    )
    upstream.prefix { $0 < 3 }.subscribe(recorder)
    expectEqual(upstream.send(1), .max(3))
    expectEqual(upstream.send(3), .none)
    expectEqual(upstream.send(1), .none)

    expectEqual(upstream.requests, [.max(2)])
    expectEqual(recorder.events, [.subscription, .value(1), .completion(.finished)])
    expectEqual(cancelCountAtEnd, 1)
  }

  @Test("the end of the upstream passes")
  func end() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>()
    upstream.prefix { $0 < 3 }.subscribe(recorder)
    upstream.send(completion: .failure(.expected))

    expectEqual(recorder.completion, .failure(.expected))
  }

  @Test("it holds one subscription, cancels it once and lets go")
  func laws() {
    SubscriptionLaws.check(named: "PrefixWhile", children: ["downstream"]) { $0.prefix { $0 < 3 } }
  }
}

@Suite("tryPrefix(while:)")
struct TryPrefixWhileTests {
  private func isSmall(_ value: Int) throws -> Bool {
    if value < 0 { throw TestFailure.expected }
    return value < 3
  }

  @Test("the first value refused cancels the upstream, then finishes, and is not published")
  func finishes() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, any Error>()
    upstream.tryPrefix(while: isSmall).subscribe(recorder)
    upstream.send(1)
    upstream.send(3)

    expectEqual(recorder.values, [1])
    #expect(recorder.isFinished)
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("an error thrown cancels the upstream, then ends the stream")
  func throwing() {
    var cancelCountAtEnd = 0
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, any Error>(whenCompleted: { cancelCountAtEnd = upstream.cancelCount })
    upstream.tryPrefix(while: isSmall).subscribe(recorder)
    upstream.send(-1)

    #expect(recorder.values.isEmpty)
    expectEqual(cancelCountAtEnd, 1)
    #expect(throws: TestFailure.expected) { try recorder.completion?.rethrow() }
  }

  @Test("it holds one subscription, cancels it once and lets go")
  func laws() {
    SubscriptionLaws.check(named: "TryPrefixWhile", children: ["downstream"]) { $0.tryPrefix(while: isSmall) }
  }
}
