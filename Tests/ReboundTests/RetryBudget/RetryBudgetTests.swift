import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("RetryBudget", .virtualTime)
struct RetryBudgetTests {
  private let scheduler = TestScheduler.current

  private func ratio(_ ratio: Double, floor: Int) throws -> RetryBudget {
    try .ratio(ratio, window: .seconds(10), floor: floor)
  }

  // MARK: Ratio

  @Test("grants a share of the requests on top of the floor")
  func share() throws {
    let budget = try ratio(0.1, floor: 2)
    expectEqual(budget.snapshot().available, 2)
    for _ in 0..<30 { budget.begin() }
    expectEqual(budget.snapshot().available, 5)
    let retries = (0..<9).compactMap { _ in budget.grant() }
    expectEqual(retries.count, 5)
    expectEqual(budget.snapshot(), .init(available: 0, queued: 5, granted: 5, denied: 4))
  }

  @Test("grants a share in full where floating point falls just short of it")
  func exactShare() throws {
    let budget = try ratio(0.29, floor: 0)
    for _ in 0..<100 { budget.begin() }
    expectEqual(budget.snapshot().available, 29)
  }

  @Test("counts a retry while it waits, however long, and for a window from when it begins")
  func waiting() throws {
    let budget = try ratio(0, floor: 1)
    let retry = budget.grant()
    scheduler.advance(by: 3_600)
    #expect(budget.grant() == nil)
    retry?.begin()
    scheduler.advance(by: 8)
    #expect(budget.grant() == nil)
    scheduler.advance(by: 2)
    #expect(budget.grant() != nil)
  }

  @Test("forgets requests that the window has left behind")
  func window() throws {
    let budget = try ratio(1, floor: 0)
    for _ in 0..<4 {
      budget.begin()
      scheduler.advance(by: 1)
    }
    expectEqual(budget.snapshot().available, 4)
    scheduler.advance(by: 7)
    expectEqual(budget.snapshot().available, 2)
    scheduler.advance(by: 1_000_000)
    expectEqual(budget.snapshot().available, 0)
  }

  @Test("takes back a retry that is given back or forgotten, once")
  func refund() throws {
    let budget = try ratio(0, floor: 1)
    let retry = budget.grant()
    retry?.giveBack()
    retry?.giveBack()
    retry?.begin()
    expectEqual(budget.snapshot().available, 1)
    _ = budget.grant()
    expectEqual(budget.snapshot().queued, 0)
    expectEqual(budget.snapshot().available, 1)
  }

  // MARK: Tokens

  @Test("throttles at half of the tokens, which failures take and successes earn in parts")
  func throttle() throws {
    let budget = try RetryBudget.throttle(tokens: 4, successRatio: 0.5)
    budget.fail()
    #expect(budget.grant() != nil)
    budget.fail()
    #expect(budget.grant() == nil)
    budget.succeed()
    expectEqual(budget.snapshot().available, 1)
    for _ in 0..<99 { budget.succeed() }
    expectEqual(budget.snapshot().available, 2)
    for _ in 0..<99 { budget.fail() }
    expectEqual(budget.snapshot().available, 0)
    for _ in 0..<5 { budget.succeed() }
    #expect(budget.grant() != nil)
  }

  @Test("takes a retry's cost from the bucket, and puts it back on success or cancel")
  func bucket() throws {
    let budget = try RetryBudget.bucket(tokens: 10, cost: 5)
    let first = budget.grant()
    let second = budget.grant()
    #expect(budget.grant() == nil)
    second?.giveBack()
    expectEqual(budget.snapshot().available, 1)
    first?.begin()
    budget.succeed(after: first)
    expectEqual(budget.snapshot().available, 2)
    let third = budget.grant()
    third?.begin()
    for _ in 0..<4 { budget.succeed() }
    expectEqual(budget.snapshot().available, 1)
    budget.succeed()
    expectEqual(budget.snapshot().available, 2)
  }

  @Test("takes the highest numbers for numbers without end")
  func highest() throws {
    let floor = try ratio(0.2, floor: .max)
    for _ in 0..<5 { floor.begin() }
    #expect(floor.grant() != nil)
    let buckets = [try RetryBudget.bucket(tokens: .max), try .bucket(tokens: .max, cost: .max)]
    for budget in buckets {
      budget.succeed()
      budget.grant()?.giveBack()
      let retry = budget.grant()
      retry?.begin()
      budget.succeed(after: retry)
      expectEqual(budget.snapshot().granted, 2)
      #expect(budget.snapshot().available > 0)
    }
  }

  // MARK: With retry

  @Test("lets few of a thousand calls that fail at once wait for a retry; the others fail with their own error")
  func thundering() throws {
    let budget = try ratio(0.1, floor: 3)
    let log = RetryLog()
    let policy = RetryPolicy<TestFailure>(clamping: 2, backoff: .constant(.seconds(60))).within(budget).onEvent(
      log.write
    )
    let upstream = TestPublisher<Int, TestFailure>()
    let recorders = (0..<1_000).map { _ in
      let recorder = Recorder<Int, TestFailure>()
      upstream.retry(policy, time: scheduler.time).subscribe(recorder)
      return recorder
    }
    for (number, connection) in upstream.connections.enumerated() {
      connection.send(completion: .failure(.numbered(number)))
    }
    expectEqual(recorders.enumerated().count { $1.failure == .numbered($0) }, 897)
    expectEqual(log.outcomes.count { $0 == .stopped(.budgetExhausted) }, 897)
    expectEqual(budget.snapshot(), .init(available: 0, queued: 103, granted: 103, denied: 897))
    for recorder in recorders { recorder.cancel() }
    expectEqual(budget.snapshot().queued, 0)
    expectEqual(budget.snapshot().available, 103)
  }

  @Test("counts a retry as begun when its attempt begins, and its success for the bucket", arguments: [0, 1])
  func settles(delay: Int) throws {
    let budget = try RetryBudget.bucket(tokens: 5, cost: 5)
    let upstream = TestPublisher<Int, TestFailure>()
    let policy = RetryPolicy<TestFailure>(clamping: 2, backoff: .constant(.seconds(delay))).within(budget)
    let recorder = Recorder<Int, TestFailure>()
    upstream.retry(policy, time: scheduler.time).subscribe(recorder)
    upstream.send(completion: .failure(.transient))
    expectEqual(budget.snapshot().queued, delay)
    scheduler.advance(by: 1)
    expectEqual(budget.snapshot().queued, 0)
    expectEqual(budget.snapshot().available, 0)
    upstream.send(completion: .finished)
    #expect(recorder.isFinished)
    expectEqual(budget.snapshot().available, 1)
  }

  @Test("counts the success of an attempt of which only the first value is taken")
  func firstValue() throws {
    let budget = try RetryBudget.bucket(tokens: 5, cost: 5)
    let upstream = TestPublisher<Int, TestFailure>()
    let policy = RetryPolicy<TestFailure>(clamping: 2, backoff: .immediate).within(budget)
    let recorder = Recorder<Int, TestFailure>()
    upstream.retry(policy, time: scheduler.time).prefix(1).subscribe(recorder)
    upstream.send(completion: .failure(.transient))
    expectEqual(budget.snapshot().available, 0)
    upstream.send(1)
    #expect(recorder.values == [1] && recorder.isFinished)
    expectEqual(budget.snapshot().available, 1)
  }

  @Test("counts no success when the wait behind an attempt is cancelled that had sent a value and failed")
  func valueBeforeFailure() throws {
    let budget = try RetryBudget.throttle(tokens: 10, successRatio: 1)
    let upstream = TestPublisher<Int, TestFailure>()
    let policy = RetryPolicy<TestFailure>(clamping: 2, backoff: .constant(.seconds(1))).within(budget)
    let recorder = Recorder<Int, TestFailure>()
    upstream.retry(policy, time: scheduler.time).subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .failure(.transient))
    expectEqual(budget.snapshot().queued, 1)
    recorder.cancel()
    expectEqual(budget.snapshot().queued, 0)
    expectEqual(budget.snapshot().available, 4)
  }

  @Test("counts no failure that the policy decides not to retry, and those that only the count of retries ends")
  func decidedFailures() async throws {
    let budget = try RetryBudget.throttle(tokens: 10, successRatio: 1)
    let policy = RetryPolicy<TestFailure>(clamping: 0).within(budget).deciding { error, _ in
      error == .permanent ? .stop : .retry()
    }
    for _ in 0..<3 { _ = try? await policy.run { () throws(TestFailure) in throw .permanent } }
    expectEqual(budget.snapshot().available, 5)
    for _ in 0..<3 { _ = try? await policy.run { () throws(TestFailure) in throw .transient } }
    expectEqual(budget.snapshot().available, 2)
  }

  @Test("grants no more than there is, whoever asks at the same time")
  func concurrency() throws {
    let budget = try ratio(0, floor: 100)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      // Other threads know nothing of the task's time.
      for _ in 0..<100 { budget.grant(at: .zero)?.begin(at: .zero) }
    }
    expectEqual(budget.snapshot(), .init(available: 0, queued: 0, granted: 100, denied: 300))
  }
}
