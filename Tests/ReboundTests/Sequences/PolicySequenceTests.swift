import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("Asynchronous sequences under policies", .virtualTime)
struct PolicySequenceTests {
  private let scheduler = TestScheduler.current
  private let clock = JumpingClock()
  /// 1, 2, 3, without end.
  private let numbers = MadeSequence { _, number in number }
  /// 1, and then nothing until it is cancelled.
  private let silent = MadeSequence { _, number in
    if number > 1 { await untilCancelled() }
    return number
  }
  /// Each iterator delivers its number and fails, but for the third, which ends.
  private let failing = MadeSequence { iterator, number in
    if number == 1 { return iterator }
    if iterator < 3 { throw TestFailure.numbered(iterator) }
    return nil
  }

  @Test("retry makes a new iterator for each attempt, after the pause that the policy names")
  func retry() async {
    let log = RetryLog()
    let policy = RetryPolicy<any Error>(clamping: 5, backoff: .steps(.seconds(1), .seconds(4))).onEvent(log.write)
    let (elements, error) = await failing.retry(policy, time: clock.time).gathered()
    expectEqual(elements, [1, 2, 3])
    #expect(error == nil)
    expectEqual(failing.iteratorCount, 3)
    expectEqual(log.delays, [.seconds(1), .seconds(4)])
    expectEqual(clock.now.sinceStart, .seconds(5))
  }

  @Test("retry throws what the last attempt threw")
  func exhausted() async {
    let policy = RetryPolicy<any Error>(clamping: 1, backoff: .constant(.zero))
    let (elements, error) = await failing.retry(policy).gathered()
    expectEqual(elements, [1, 2])
    expectEqual(error as? TestFailure, .numbered(2))
  }

  @Test("retry leaves out what was delivered before, if the policy says so")
  func duplicates() async {
    let sequence = MadeSequence<Int> { iterator, number in
      if number > iterator { if iterator == 3 { return nil } else { throw TestFailure.transient } }
      return number
    }
    let policy = RetryPolicy<any Error>(clamping: 2, backoff: .constant(.zero)).onDuplicates(.skipDelivered)
    await expectEqual(sequence.retry(policy).gathered().elements, [1, 2, 3])
  }

  @Test("a stream that can be iterated only once repeats nothing: the second attempt finds it at its end")
  func onlyOnce() async {
    let (stream, continuation) = AsyncThrowingStream<Int, any Error>.makeStream()
    continuation.yield(1)
    continuation.finish(throwing: TestFailure.transient)
    let (elements, error) = await stream.retry(RetryPolicy(clamping: 3, backoff: .constant(.zero))).gathered()
    expectEqual(elements, [1])
    #expect(error == nil)
  }

  @Test("timeout ends a sequence that falls silent, and cancels it")
  func timeout() async {
    let limited = silent.timeout(.betweenValues(.seconds(10)))
    let loop = Task { await limited.gathered() }
    await silent.pulls.until(2)
    scheduler.advance(by: .seconds(10))
    let (elements, error) = await loop.value
    expectEqual(elements, [1])
    expectEqual((error as? TimedOut)?.kind, .betweenValues)
    await silent.untilReleased()
    #expect(scheduler.nextDue == nil)
  }

  @Test("timeout does not count while nobody awaits an element")
  func slowLoop() async throws {
    var iterator = numbers.timeout(.betweenValues(.seconds(10))).makeAsyncIterator()
    try await expectEqual(iterator.next(), 1)
    scheduler.advance(by: .seconds(60))
    try await expectEqual(iterator.next(), 2)
  }

  @Test("the sequence can read the deadline of its timeout")
  func deadline() async {
    let sequence = MadeSequence { _, number in number == 1 ? Deadline.current?.remaining : nil }
    await expectEqual(sequence.timeout(.total(.seconds(30))).gathered().elements, [.seconds(30)])
  }

  @Test("a breaker counts iterations, and refuses when it is open")
  func breaker() async throws {
    let breaker = CircuitBreaker("numbers", policy: try .consecutive(2, openFor: .seconds(30)))
    let protected = failing.protected(by: breaker)
    await expectEqual(protected.gathered().error as? TestFailure, .numbered(1))
    await expectEqual(protected.gathered().error as? TestFailure, .numbered(2))
    #expect(await protected.gathered().error is CircuitOpen)
    expectEqual(failing.iteratorCount, 2)
    scheduler.advance(by: .seconds(30))
    let (elements, error) = await protected.gathered()
    expectEqual(elements, [3])
    #expect(error == nil)
    #expect(await failing.protected(by: breaker).gathered().error == nil)
  }

  @Test("fallback delivers an element in place of a failure that its policy covers")
  func fallbackElement() async {
    let covered = await failing.fallback(to: 9).gathered()
    #expect(covered.elements == [1, 9] && covered.error == nil)
    let passed = await failing.fallback(to: 9, FallbackPolicy().when { _ in false }).gathered()
    expectEqual(passed.elements, [2])
    expectEqual(passed.error as? TestFailure, .numbered(2))
  }

  @Test("fallback goes on with another sequence, or with what a function returns")
  func fallbackSequence() async {
    let other = MadeSequence { _, number in number <= 2 ? number * 10 : nil }
    await expectEqual(failing.fallback { _ in other }.gathered().elements, [1, 10, 20])
    await expectEqual(failing.fallback(async: { _ in 30 }).gathered().elements, [2, 30])
  }

  @Test("fallback throws both errors if the other one fails, too")
  func fallbackFailed() async {
    let other = MadeSequence<Int> { _, _ in throw TestFailure.permanent }
    let (elements, error) = await failing.fallback { _ in other }.gathered()
    expectEqual(elements, [1])
    expectEqual((error as? FallbackFailed)?.failure as? TestFailure, .permanent)
    expectEqual((error as? FallbackFailed)?.original as? TestFailure, .numbered(1))
  }

  @Test("the policies of a pipeline stand around a sequence")
  func pipeline() async throws {
    let events = PolicyEvents(time: clock.time)
    let log = PolicyEventLog(of: events)
    let pipeline = try Pipeline<Int>("numbers", events: events, time: clock.time) {
      Retry(RetryPolicy(clamping: 2, backoff: .constant(.seconds(1))))
      CircuitBreaker("numbers", policy: try .consecutive(9, openFor: .seconds(30)))
    }
    let (elements, error) = await failing.protected(by: pipeline).gathered()
    expectEqual(elements, [1, 2, 3])
    #expect(error == nil)
    expectEqual(log.events.map(\.kind), [.retry, .retry])
  }

  @Test("operators stand on each other: a retry around a timeout")
  func chained() async {
    let sequence = silent.timeout(.betweenValues(.seconds(10))).retry(
      RetryPolicy(clamping: 1, backoff: .constant(.zero))
    )
    let loop = Task { await sequence.gathered() }
    for attempt in 1...2 {
      await silent.pulls.until(2 * attempt)
      scheduler.advance(by: .seconds(10))
    }
    let (elements, error) = await loop.value
    expectEqual(elements, [1, 1])
    #expect(error is TimedOut)
    expectEqual(silent.iteratorCount, 2)
  }

  @Test("each iterator is an execution of its own")
  func iteratedAgain() async throws {
    let sequence = numbers.protected(by: RetryPolicy<any Error>(clamping: 1))
    for _ in 1...2 {
      var first = sequence.makeAsyncIterator()
      try await expectEqual(first.next(), 1)
    }
    expectEqual(numbers.iteratorCount, 2)
  }

  @Test("a cancel of the task that iterates reaches the sequence, and ends the loop without an error")
  func cancel() async {
    let log = RetryLog()
    let sequence = silent.retry(RetryPolicy(clamping: 3).onEvent(log.write))
    let loop = Task { await sequence.gathered() }
    await silent.pulls.until(2)
    loop.cancel()
    let (elements, error) = await loop.value
    expectEqual(elements, [1])
    #expect(error == nil)
    await silent.untilReleased()
    #expect(log.events.isEmpty)
    expectEqual(silent.iteratorCount, 1)
  }

  @Test("who leaves the loop ends the sequence, and no element was pulled that nobody awaited")
  func leavesEarly() async throws {
    for try await number in numbers.retry(RetryPolicy(clamping: 3)).timeout(.total(.seconds(60))) where number == 3 {
      break
    }
    await numbers.untilReleased()
    expectEqual(numbers.pulls.count, 3)
    #expect(scheduler.nextDue == nil)
  }
}
