import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("retry", .virtualTime)
struct PublisherRetryTests {
  private let scheduler = TestScheduler.current
  private let upstream = TestPublisher<Int, TestFailure>()
  private let log = RetryLog()

  private func record<P: Publisher<Int, TestFailure>>(_ publisher: P) -> Recorder<Int, TestFailure> {
    let recorder = Recorder<Int, TestFailure>(on: scheduler)
    publisher.subscribe(recorder)
    return recorder
  }

  /// Lets the current attempt fail, does what is due within an hour, and says whether another attempt began.
  private func failAndWait(_ error: TestFailure = .transient) -> Bool {
    let before = upstream.subscriptionCount
    upstream.send(completion: .failure(error))
    scheduler.advance(by: 3_600)
    return upstream.subscriptionCount > before
  }

  // MARK: Counting

  @Test("subscribes n + 1 times for n retries, and passes the last error on", arguments: 0...4)
  func counts(retries: Int) {
    let recorder = record(upstream.retry(retries, after: .seconds(1), time: scheduler.time))
    for number in 0...retries {
      #expect(recorder.completion == nil)
      _ = failAndWait(.numbered(number))
    }
    expectEqual(upstream.subscriptionCount, retries + 1)
    expectEqual(recorder.failure, .numbered(retries))
    expectEqual(recorder.completions.count, 1)
    expectEqual(recorder.subscriptionCount, 1)
  }

  @Test("is transparent with no retries, or fewer", arguments: [0, -1, .min])
  func transparent(retries: Int) {
    let recorder = record(upstream.retry(retries, after: .seconds(1), time: scheduler.time))
    upstream.send(1)
    upstream.send(completion: .failure(.transient))
    expectEqual(recorder.values, [1])
    expectEqual(recorder.failure, .transient)
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("retries for ever when told to")
  func forEver() {
    let recorder = record(upstream.retry(.constant(.seconds(1)), times: nil, time: scheduler.time))
    for _ in 0..<1_000 { #expect(failAndWait()) }
    upstream.send(completion: .finished)
    #expect(recorder.isFinished)
    expectEqual(upstream.subscriptionCount, 1_001)
  }

  @Test("passes values and the finish of the attempt that succeeds, and ends there")
  func succeeds() {
    let recorder = record(upstream.retry(3, after: .seconds(1), time: scheduler.time))
    #expect(failAndWait())
    upstream.send(7)
    upstream.send(completion: .finished)
    expectEqual(recorder.values, [7])
    #expect(recorder.isFinished)
    expectEqual(scheduler.pendingCount, 0)
  }

  // MARK: The call forms

  @Test("waits the same time before each retry, and not a nanosecond less")
  func fixedDelay() {
    let recorder = record(upstream.retry(2, after: .seconds(1), time: scheduler.time))
    for attempt in 1...2 {
      upstream.send(completion: .failure(.transient))
      scheduler.advance(by: .nanoseconds(999_999_999))
      expectEqual(upstream.subscriptionCount, attempt)
      scheduler.advance(by: .nanoseconds(1))
      expectEqual(upstream.subscriptionCount, attempt + 1)
    }
    upstream.send(completion: .failure(.transient))
    expectEqual(recorder.completionTime, VirtualTime(nanoseconds: 2_000_000_000))
  }

  @Test("retries only if the condition holds, which it asks on every failure")
  func condition() {
    let recorder = record(upstream.retry(5, after: .seconds(1), when: \.isTransient, time: scheduler.time))
    #expect(failAndWait(.transient))
    #expect(!failAndWait(.permanent))
    expectEqual(recorder.failure, .permanent)
  }

  @Test("takes the delay from the error, and stops where there is none")
  func delayFromError() {
    let recorder = record(
      upstream.retry(
        9,
        after: { error in
          if case .numbered(let seconds) = error { .seconds(seconds) } else { nil }
        },
        time: scheduler.time
      )
    )
    upstream.send(completion: .failure(.numbered(4)))
    expectEqual(scheduler.nextDue, VirtualTime(nanoseconds: 4_000_000_000))
    scheduler.advance(by: 4)
    upstream.send(completion: .failure(.numbered(2)))
    expectEqual(scheduler.nextDue, VirtualTime(nanoseconds: 6_000_000_000))
    scheduler.advance(by: 2)
    upstream.send(completion: .failure(.permanent))
    expectEqual(recorder.failure, .permanent)
    expectEqual(upstream.subscriptionCount, 3)
  }

  @Test("does what a strategy says for each error")
  func strategy() {
    let recorder = record(
      upstream.retry(time: scheduler.time) { error in
        switch error {
        case .busy(let duration): .retry(retries: 3, delay: duration)
        case .transient: .retry(retries: 2)
        default: .skip
        }
      }
    )
    upstream.send(completion: .failure(.busy(.seconds(5))))
    expectEqual(scheduler.nextDue, VirtualTime(nanoseconds: 5_000_000_000))
    scheduler.advance(by: 5)
    #expect(failAndWait(.transient))
    #expect(failAndWait(.busy(.zero)))
    #expect(!failAndWait(.transient))
    expectEqual(recorder.failure, .transient)

    let other = record(upstream.retry(time: scheduler.time) { _ in .stop(with: .numbered(9)) })
    upstream.send(completion: .failure(.permanent))
    expectEqual(other.failure, .numbered(9))
  }

  @Test("backs off exponentially, with a condition, in one line")
  func exponential() {
    let recorder = record(
      upstream.retry(
        .exponential(from: .milliseconds(500), upTo: .seconds(20), jitter: .none),
        times: 3,
        when: \.isTransient,
        time: scheduler.time
      )
    )
    for expected in [500, 1_500, 3_500] {
      upstream.send(completion: .failure(.transient))
      expectEqual(scheduler.nextDue, VirtualTime(nanoseconds: expected * 1_000_000))
      scheduler.advance(to: VirtualTime(nanoseconds: expected * 1_000_000))
    }
    upstream.send(completion: .failure(.transient))
    expectEqual(recorder.failure, .transient)
  }

  @Test("takes a whole policy, and tells its observer of every decision")
  func policy() throws {
    let policy = try RetryPolicy<TestFailure>(maxRetries: 2, backoff: .linear(.seconds(1)))
      .when(\.isTransient)
      .onEvent(log.write)
    let recorder = record(upstream.retry(policy, time: scheduler.time))
    upstream.send(completion: .failure(.transient))
    scheduler.advance(by: 2)
    upstream.send(completion: .failure(.busy(.seconds(7))))
    scheduler.advance(by: 7)
    upstream.send(completion: .failure(.permanent))
    expectEqual(recorder.failure, .permanent)
    expectEqual(log.delays, [.seconds(1), .seconds(7), nil])
    expectEqual(log.events.map(\.delaySource), [.computed, .hint, nil])
    expectEqual(log.events.map(\.elapsed), [.zero, .seconds(2), .seconds(9)])
    expectEqual(log.outcomes, [.retrying, .retrying, .stopped(.notRetryable)])
  }

  @Test("needs no scheduler when the main queue will do")
  func defaultScheduler() {
    let recorders = [
      record(upstream.retry(.never)),
      record(upstream.retry(.standard.when(\.isTransient))),
      record(upstream.retry(.exponential(from: .milliseconds(500), upTo: .seconds(20)), times: 2, when: \.isTransient)),
      record(upstream.retry(2, after: .seconds(1))),
      record(upstream.retry(2, after: .seconds(1), when: \.isTransient)),
      record(upstream.retry(2, after: { _ in nil })),
      record(upstream.retry { _ in .skip }),
    ]
    for connection in upstream.connections { connection.send(completion: .failure(.permanent)) }
    expectEqual(recorders.filter { $0.failure == .permanent }.count, 6)
    // Only the fixed delay without a condition retries a permanent error.
    #expect(recorders[3].completion == nil)
    recorders[3].cancel()
  }

  // MARK: Hints and the deadline

  @Test("never comes back earlier than the error asks")
  func hintIsFloor() {
    _ = record(upstream.retry(2, after: .seconds(1), time: scheduler.time))
    upstream.send(completion: .failure(.busy(.seconds(30))))
    scheduler.advance(by: .nanoseconds(29_999_999_999))
    expectEqual(upstream.subscriptionCount, 1)
    scheduler.advance(by: .nanoseconds(1))
    expectEqual(upstream.subscriptionCount, 2)
  }

  @Test("passes an error on at once that asks for too long a pause")
  func hintTooLong() {
    let recorder = record(upstream.retry(2, after: .seconds(1), time: scheduler.time))
    upstream.send(completion: .failure(.busy(.seconds(121))))
    expectEqual(recorder.failure, .busy(.seconds(121)))
    expectEqual(recorder.completionTime, .start)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("measures the deadline from the subscription, the time of the attempts included")
  func deadline() {
    scheduler.advance(by: 100)
    let policy = RetryPolicy<TestFailure>(clamping: nil, backoff: .constant(.seconds(2)), deadline: .seconds(10))
    let recorder = record(upstream.retry(policy, time: scheduler.time))
    scheduler.advance(by: 5)
    upstream.send(completion: .failure(.transient))
    scheduler.advance(by: 2)
    expectEqual(upstream.subscriptionCount, 2)
    scheduler.advance(by: 1)
    upstream.send(completion: .failure(.numbered(2)))
    expectEqual(recorder.failure, .numbered(2))
    expectEqual(recorder.completionTime, VirtualTime(nanoseconds: 108_000_000_000))
  }

  @Test("fails at once, with the last error, when the wait would end after the call's deadline")
  func callDeadline() {
    let log = RetryLog()
    let policy = RetryPolicy<TestFailure>(clamping: nil, backoff: .constant(.seconds(4))).onEvent(log.write)
    let publisher = upstream.retry(policy).timeout(.total(.seconds(10))) { _ in .permanent }
    let recorder = record(publisher)
    scheduler.advance(by: 1)
    upstream.send(completion: .failure(.numbered(1)))
    scheduler.advance(by: 5)
    expectEqual(upstream.subscriptionCount, 2)
    upstream.send(completion: .failure(.numbered(2)))
    expectEqual(recorder.failure, .numbered(2))
    expectEqual(recorder.completionTime, VirtualTime(nanoseconds: 6_000_000_000))
    expectEqual(log.outcomes, [.retrying, .stopped(.deadlineExceeded)])
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("gives each subscriber a deadline of its own")
  func callDeadlines() {
    let policy = RetryPolicy<TestFailure>(clamping: nil, backoff: .constant(.seconds(4)))
    let publisher = Fail<Int, TestFailure>(error: .transient).retry(policy)
      .timeout(.total(.seconds(5))) { _ in .permanent }
    let early = record(publisher)
    scheduler.advance(by: 2)
    let late = record(publisher)
    scheduler.advance(by: 10)
    expectEqual([early.failure, late.failure], [.transient, .transient])
    expectEqual([early, late].map { $0.completionTime?.nanoseconds }, [4_000_000_000, 6_000_000_000])
  }

  // MARK: Subscribers

  @Test("counts the attempts of each subscriber apart")
  func isolation() {
    let retrying = upstream.retry(1, after: .seconds(1), time: scheduler.time)
    let first = record(retrying)
    #expect(failAndWait())
    #expect(!failAndWait())
    let second = record(retrying)
    expectEqual(first.failure, .transient)
    #expect(failAndWait())
    upstream.send(5)
    expectEqual(second.values, [5])
    #expect(second.completion == nil)
  }

  @Test("draws decorrelated delays for each subscriber apart")
  func isolatedBackoff() {
    let policy = RetryPolicy<TestFailure>(
      clamping: nil,
      backoff: .exponential(from: .seconds(1), jitter: .decorrelated),
      random: .fixed(0.5)
    ).onEvent(log.write)
    let retrying = upstream.retry(policy, time: scheduler.time)
    for _ in 0..<2 {
      let recorder = record(retrying)
      _ = failAndWait()
      _ = failAndWait()
      recorder.cancel()
    }
    expectEqual(log.delays, [.seconds(2), .seconds(3.5), .seconds(2), .seconds(3.5)])
  }
}
