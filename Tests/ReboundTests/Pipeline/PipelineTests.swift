import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("Pipeline", .virtualTime)
struct PipelineTests {
  private let scheduler = TestScheduler.current

  @Test("asks for what is owed, and for nothing before", arguments: [0, 1, 2, 5])
  func demand(owed: Int) throws {
    let pipeline = try Pipeline<Int>("weather") {
      Fallback(to: 0)
      Timeout(total: .seconds(30))
      Retry()
      CircuitBreaker("weather", policy: try CircuitBreakerPolicy())
      Timeout(attempt: .seconds(10))
    }
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, any Error>(requesting: .max(owed))
    upstream.protected(by: pipeline).subscribe(recorder)
    expectEqual(upstream.requests.reduce(Subscribers.Demand.none, +), .max(owed))
    for value in 1...3 { upstream.send(value) }
    expectEqual(recorder.values, Array((1...3).prefix(owed)))
    recorder.cancel()
  }

  @Test("cancels what is under way, and gives everything back", arguments: [false, true])
  func cancel(whileWaiting: Bool) throws {
    let bulkhead = Bulkhead("weather", policy: try BulkheadPolicy(maxConcurrent: 1))
    let budget = try RetryBudget.bucket(tokens: 10, cost: 5)
    let pipeline = try Pipeline<Int>("weather") {
      bulkhead
      Timeout(total: .seconds(30))
      Retry(.init(clamping: 2, backoff: .constant(.seconds(1))), budget: budget)
      Timeout(attempt: .seconds(10))
    }
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, any Error>()
    upstream.protected(by: pipeline).subscribe(recorder)
    if whileWaiting { upstream.send(completion: .failure(.transient)) }
    expectEqual(bulkhead.snapshot.running, 1)
    recorder.cancel()
    scheduler.advance(by: .seconds(60))
    expectEqual(bulkhead.snapshot.running, 0)
    expectEqual(budget.snapshot().available, 2)
    expectEqual(budget.snapshot().queued, 0)
    expectEqual(scheduler.pendingCount, 0)
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(upstream.cancelCount, whileWaiting ? 0 : 1)
    #expect(recorder.completion == nil)
  }

  @Test("counts the attempts of each subscription apart")
  func statePerSubscription() throws {
    let pipeline = try Pipeline<Int>("weather") { Retry(.init(clamping: 1, backoff: .immediate)) }
    let upstream = TestPublisher<Int, TestFailure> { $0.send(completion: .failure(.transient)) }
    let protected = upstream.protected(by: pipeline)
    for attempts in [2, 4, 6] {
      protected.subscribe(Recorder<Int, any Error>())
      expectEqual(upstream.subscriptionCount, attempts)
    }
  }

  @Test("keeps the type of failures when told how")
  func typedFailure() throws {
    let pipeline = try Pipeline<Int>("weather") { Timeout(total: .seconds(1)) }
    let (recorder, late) = (Recorder<Int, TestFailure>(), Recorder<Int, TestFailure>())
    let failing = Fail<Int, TestFailure>(error: .numbered(7))
    failing.protected(by: pipeline) { $0 as? TestFailure ?? .permanent }.subscribe(recorder)
    expectEqual(recorder.failure, .numbered(7))
    let silent = Empty<Int, TestFailure>(completeImmediately: false)
    silent.protected(by: pipeline) { $0 as? TestFailure ?? .permanent }.subscribe(late)
    scheduler.advance(by: .seconds(1))
    expectEqual(late.failure, .permanent)
  }

  @Test("names itself in the errors of its limits")
  func names() async throws {
    let pipeline = try Pipeline<Int>("weather") { Timeout(total: .seconds(1)) }
    let recorder = Recorder<Int, any Error>()
    Empty<Int, TestFailure>(completeImmediately: false).protected(by: pipeline).subscribe(
      recorder
    )
    scheduler.advance(by: .seconds(1))
    let expected = TimedOut(.total, limit: .seconds(1), name: "weather")
    expectEqual(recorder.failure as? TimedOut, expected)
    let hurried = try Pipeline<Int>("weather", time: JumpingClock().time) { Timeout(total: .seconds(1)) }
    await #expect(throws: expected) {
      try await hurried.run {
        await untilCancelled()
        return 0
      }
    }
  }

  @Test("of an asynchronous function passes a cancel on, and nobody counts it")
  func cancelledTask() async throws {
    let breaker = CircuitBreaker("weather", policy: try CircuitBreakerPolicy(consecutiveFailures: 1))
    let pipeline = try Pipeline<Int>("weather") {
      Fallback(to: 1)
      Retry()
      breaker
    }
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let task = Task {
      try await pipeline.run {
        continuation.yield()
        await untilCancelled()
        throw CancellationError()
      }
    }
    for await _ in stream { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    expectEqual(breaker.state, .closed)
  }

  @Test("knows the type of its values from its first stage")
  func inference() async throws {
    let pipeline = try Pipeline("weather") {
      Fallback { _ in "saved" }
      Retry(.never)
    }
    try await expectEqual(pipeline.run { throw TestFailure.transient }, "saved")
  }

  @Test("of 10,000 attempts that fail at once uses as little stack as one")
  func flatStack() throws {
    let pipeline = try Pipeline<Int>("weather") {
      Timeout(total: .seconds(1))
      Retry(.init(clamping: 10_000, backoff: .immediate))
      CircuitBreaker("weather", policy: try CircuitBreakerPolicy(failureRatio: nil, consecutiveFailures: 20_000))
      Timeout(attempt: .milliseconds(1))
    }
    var attempts = 0
    let recorder = Recorder<Int, any Error>()
    Deferred {
      attempts += 1
      return Fail<Int, TestFailure>(error: .numbered(attempts))
    }
    .protected(by: pipeline)
    .subscribe(recorder)
    expectEqual(recorder.failure as? TestFailure, .numbered(10_001))
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("can be cancelled from inside of a value")
  func cancelInside() throws {
    let bulkhead = Bulkhead("weather", policy: try BulkheadPolicy(maxConcurrent: 1))
    let pipeline = try Pipeline<Int>("weather") {
      Fallback(to: 0)
      bulkhead
      Timeout(total: .seconds(1))
      Retry()
    }
    let recorder = Recorder<Int, any Error>(answering: { _, recorder in
      recorder.cancel()
      return .none
    })
    let upstream = TestPublisher<Int, TestFailure>()
    upstream.protected(by: pipeline).subscribe(recorder)
    upstream.send(1)
    upstream.send(2)
    expectEqual(recorder.values, [1])
    expectEqual(upstream.cancelCount, 1)
    expectEqual(bulkhead.snapshot.running, 0)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("releases the upstream and what it holds when the subscription is cancelled", arguments: [false, true])
  func releases(whileWaiting: Bool) throws {
    final class Held: Sendable {}
    let events = PolicyEvents()
    let pipeline = try Pipeline<Int>("weather", events: events) {
      Fallback(to: 0)
      Timeout(total: .seconds(30))
      Retry(.init(clamping: 1, backoff: .constant(.seconds(1))))
      Timeout(attempt: .seconds(1))
    }
    weak var held: Held?
    let recorder = Recorder<Int, any Error>()
    let connection = TestPublisher<Int, TestFailure> { connection in
      if whileWaiting { connection.send(completion: .failure(.transient)) }
    }
    do {
      let object = Held()
      held = object
      connection.map { value in withExtendedLifetime(object) { value } }
        .protected(by: pipeline)
        .subscribe(recorder)
    }
    #expect(held != nil)
    recorder.cancel()
    for connection in connection.connections { connection.letGo() }
    #expect(held == nil)
  }

  @Test("lets many tasks through at the same time, no more than it may, and gets every place back")
  func concurrentTasks() async throws {
    let bulkhead = Bulkhead("weather", policy: try BulkheadPolicy(maxConcurrent: 4, maxQueue: 400))
    let budget = try RetryBudget.ratio(1, floor: 1_000)
    let pipeline = try Pipeline<Int>("weather", events: PolicyEvents()) {
      Fallback(to: -1)
      Retry(.init(clamping: 2, backoff: .immediate), budget: budget)
      bulkhead
      Timeout(attempt: .seconds(600))
    }
    let running = Log<Int>()
    let calls = Log<Void>()
    let values = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<400 {
        group.addTask {
          try await pipeline.run {
            running.write(bulkhead.snapshot.running)
            await Task.yield()
            if calls.number(()) % 3 == 0 { throw TestFailure.transient }
            return number
          }
        }
      }
      return try await group.reduce(into: [Int]()) { $0.append($1) }
    }
    expectEqual(values.count, 400)
    #expect(running.entries.allSatisfy { (1...4).contains($0) })
    expectEqual(bulkhead.snapshot.running, 0)
    expectEqual(bulkhead.snapshot.queued, 0)
    expectEqual(budget.snapshot().queued, 0)
  }
}
