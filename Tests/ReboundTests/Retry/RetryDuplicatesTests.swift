import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("Retry: duplicates, rows, rejected values, exhaustion", .virtualTime)
struct RetryDuplicatesTests {
  private let scheduler = TestScheduler.current
  private let upstream = TestPublisher<Int, TestFailure>()
  private let log = RetryLog()

  private func record(
    _ policy: RetryPolicy<TestFailure>,
    requesting demand: Subscribers.Demand = .unlimited
  ) -> Recorder<Int, TestFailure> {
    let recorder = Recorder<Int, TestFailure>(requesting: demand)
    upstream.retry(policy.onEvent(log.write), time: scheduler.time).subscribe(recorder)
    return recorder
  }

  private let atOnce = RetryPolicy<TestFailure>(clamping: 3, backoff: .immediate)

  @Test("replays what was delivered, unless told otherwise")
  func replay() {
    let recorder = record(atOnce)
    upstream.send(1)
    upstream.send(completion: .failure(.transient))
    upstream.send(1)
    expectEqual(recorder.values, [1, 1])
  }

  @Test("fails once a value was delivered, in whichever attempt")
  func failIfEmitted() {
    let recorder = record(atOnce.onDuplicates(.failIfEmitted))
    upstream.send(completion: .failure(.transient))
    upstream.send(1)
    #expect(recorder.completion == nil)
    upstream.send(completion: .failure(.numbered(2)))
    expectEqual(recorder.failure, .numbered(2))
    expectEqual(log.outcomes, [.retrying, .stopped(.valuesDelivered)])
  }

  @Test("leaves out as many values as were delivered, and makes them good")
  func skipDelivered() {
    let recorder = record(atOnce.onDuplicates(.skipDelivered), requesting: .max(4))
    upstream.send(1)
    upstream.send(2)
    upstream.send(completion: .failure(.transient))
    expectEqual(upstream.connections[1].requests, [.max(2)])
    expectEqual(upstream.send(1), .max(1))
    upstream.send(completion: .failure(.transient))
    expectEqual(upstream.send(1), .max(1))
    expectEqual(upstream.send(2), .max(1))
    expectEqual(upstream.send(3), .none)
    upstream.send(4)
    upstream.send(5)
    expectEqual(recorder.values, [1, 2, 3, 4])
  }

  @Test("starts count and back-off afresh after a value when it counts in a row")
  func inARow() {
    let recorder = record(RetryPolicy(clamping: 2, backoff: .linear(.seconds(1))).countingInARow())
    for value in 1...3 {
      upstream.send(value)
      upstream.send(completion: .failure(.transient))
      scheduler.advance(by: 10)
      upstream.send(completion: .failure(.transient))
      scheduler.advance(by: 10)
    }
    expectEqual(log.delays, [.seconds(1), .seconds(2), .seconds(1), .seconds(2), .seconds(1), .seconds(2)])
    expectEqual(log.events.map(\.attempt), [1, 2, 3, 4, 5, 6])
    upstream.send(completion: .failure(.numbered(9)))
    expectEqual(recorder.failure, .numbered(9))
    expectEqual(recorder.values, [1, 2, 3])
  }

  @Test("drops a value that counts as a failure, and cancels its attempt")
  func rejects() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2))
    upstream.retry(atOnce, rejecting: { $0 == 503 ? .transient : nil }, time: scheduler.time).subscribe(recorder)
    for _ in 0..<2 { upstream.send(503) }
    upstream.send(200)
    upstream.send(completion: .finished)
    expectEqual(upstream.connections.map(\.cancelCount), [1, 1, 0])
    expectEqual(upstream.connections.map(\.requests), [[.max(2)], [.max(2)], [.max(2)]])
    expectEqual(recorder.values, [200])
    #expect(recorder.isFinished)
  }

  @Test("ends with the failure that a value stands for, or with the value itself")
  func rejectsLast() {
    let (failing, delivering) = (Recorder<Int, TestFailure>(), Recorder<Int, TestFailure>())
    upstream.retry(.never, rejecting: { .numbered($0) }, time: scheduler.time).subscribe(failing)
    upstream.send(503)
    expectEqual(failing.events, [.subscription, .completion(.failure(.numbered(503)))])
    upstream.retry(.never, rejecting: { .numbered($0) }, whenExhausted: .isDelivered, time: scheduler.time)
      .subscribe(delivering)
    upstream.send(503)
    expectEqual(delivering.events, [.subscription, .value(503), .completion(.finished)])
    expectEqual(upstream.cancelCount, 2)
  }

  @Test("ends with what the last attempt has failed with, and not with the value of one before")
  func rejectsThenFails() {
    let recorder = Recorder<Int, TestFailure>()
    upstream
      .retry(
        atOnce.when(\.isTransient),
        rejecting: { $0 == 503 ? .transient : nil },
        whenExhausted: .isDelivered,
        time: scheduler.time
      )
      .subscribe(recorder)
    upstream.send(503)
    upstream.send(completion: .failure(.permanent))
    expectEqual(upstream.subscriptionCount, 2)
    #expect(recorder.values.isEmpty)
    expectEqual(recorder.failure, .permanent)
  }

  @Test("asks about no value that is not owed")
  func rejectsOwedOnly() {
    var asked = 0
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    upstream
      .retry(
        atOnce,
        rejecting: { _ in
          asked += 1
          return .transient
        },
        time: scheduler.time
      )
      .subscribe(recorder)
    upstream.send(1)
    expectEqual(asked, 0)
    expectEqual(upstream.subscriptionCount, 1)
  }

  @Test("tells all causes when it gives up, the last ones if there are too many", arguments: [1, 2, 10])
  func exhaustion(kept: Int) {
    nonisolated(unsafe) var causes: RetryExhausted<TestFailure>?  // Written and read on this thread alone.
    let recorder = record(
      atOnce.onExhaustion(keeping: kept) {
        causes = $0
        return .permanent
      }
    )
    for number in 1...4 { upstream.send(completion: .failure(.numbered(number))) }
    expectEqual(recorder.failure, .permanent)
    expectEqual(causes?.errors, Array([.numbered(1), .numbered(2), .numbered(3), .numbered(4)].suffix(kept)))
    expectEqual(causes?.attempts, 4)
    expectEqual(causes?.underlying, .numbered(4))
    if kept == 2 {
      expectEqual(
        causes?.description,
        "Gave up after 4 attempts in 0.0 seconds. Errors (the last 2 of 4): numbered(3); numbered(4)"
      )
    }
  }

  @Test("does not dress up an error that is not retried at all")
  func notExhausted() {
    let recorder = record(atOnce.when(\.isTransient).onExhaustion { _ in .numbered(0) })
    upstream.send(completion: .failure(.permanent))
    expectEqual(recorder.failure, .permanent)
  }
}
