import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import StreamSupport
import Testing

@Suite("CircuitBreaker", .virtualTime)
struct CircuitBreakerTests {
  private let scheduler = TestScheduler.current
  private let upstream = TestPublisher<Int, any Error>()

  private func makeBreaker(
    opensAfter failures: Int = 1,
    probes: Int = 1,
    jitter: Double = 0,
    random: RandomSource = .system,
    counting: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) throws -> CircuitBreaker {
    CircuitBreaker(
      "weather",
      policy: try CircuitBreakerPolicy(
        consecutiveFailures: failures,
        openTime: .seconds(10),
        openJitter: jitter,
        probes: probes
      ),
      random: random,
      failingWhen: counting
    )
  }

  // MARK: Publishers

  @Test("asks the breaker for each subscription, not when the publisher is made")
  func admission() throws {
    let breaker = try makeBreaker()
    let protected = upstream.protected(by: breaker)
    let first = Recorder<Int, any Error>()
    protected.subscribe(first)
    upstream.send(completion: .failure(TestFailure.transient))
    let second = Recorder<Int, any Error>()
    protected.subscribe(second)
    expectEqual(first.failure as? TestFailure, .transient)
    let refusal = second.failure as? CircuitOpen
    expectEqual(refusal?.retryAfter, .seconds(10))
    expectEqual(refusal?.lastError as? TestFailure, .transient)
    expectEqual(second.subscriptionCount, 1)
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(
      refusal?.description,
      "weather does not answer as it should; try again in 10.0 seconds. Last error: transient."
    )
  }

  @Test("fails with the publisher's own type of error when told how")
  func typedRefusal() throws {
    let breaker = try makeBreaker()
    breaker.isolate()
    let recorder = Recorder<Int, TestFailure>()
    TestPublisher<Int, TestFailure>().protected(by: breaker) { _ in .permanent }.subscribe(recorder)
    expectEqual(recorder.failure, .permanent)
  }

  @Test("opens for others' sake if it is closed, and then goes by its own probes")
  func opensForOthers() throws {
    let breaker = try makeBreaker()
    let early = try breaker.acquire()
    #expect(breaker.open(for: .seconds(2)))
    #expect(!breaker.open(for: .seconds(60)))
    early.succeed()
    expectEqual(#expect(throws: CircuitOpen.self) { try breaker.acquire() }?.retryAfter, .seconds(2))
    scheduler.advance(by: 2)
    #expect(!breaker.open(for: .seconds(60)))
    try breaker.acquire().succeed()
    expectEqual(breaker.state, .closed)
  }

  @Test("passes demand, values and the end through, unchanged")
  func transparent() throws {
    let breaker = try makeBreaker()
    let recorder = Recorder<Int, any Error>(requesting: .max(1), answering: { _, _ in .max(2) })
    upstream.protected(by: breaker).subscribe(recorder)
    recorder.request(.max(3))
    expectEqual(upstream.send(1), .max(2))
    upstream.send(completion: .finished)
    upstream.send(2)
    upstream.send(completion: .finished)
    expectEqual(upstream.requests, [.max(1), .max(3)])
    expectEqual(recorder.values, [1])
    expectEqual(recorder.completions.count, 1)
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("a success of a call from before the breaker opened ends no row of failures after it has closed again")
  func lateSuccess() throws {
    let breaker = try makeBreaker(opensAfter: 2)
    let early = try breaker.acquire()
    for _ in 0..<2 { try breaker.acquire().fail(with: TestFailure.transient) }
    expectEqual(breaker.state, .open)
    scheduler.advance(by: 10)
    try breaker.acquire().succeed()
    expectEqual(breaker.state, .closed)
    try breaker.acquire().fail(with: TestFailure.transient)
    early.succeed()
    expectEqual(breaker.snapshot().failuresInARow, 1)
    try breaker.acquire().fail(with: TestFailure.transient)
    expectEqual(breaker.state, .open)
  }

  /// One that looks at the calls of ten seconds, and opens when half of at least ten have failed.
  private func makeRatioBreaker(minimumCalls: Int = 10) throws -> CircuitBreaker {
    let policy = try CircuitBreakerPolicy.ratio(
      0.5,
      minimumCalls: minimumCalls,
      window: .time(.seconds(10)),
      openFor: .seconds(10)
    )
    return CircuitBreaker("weather", policy: policy)
  }

  private func succeed(_ count: Int, on breaker: CircuitBreaker) throws {
    for _ in 0..<count { try breaker.acquire().succeed() }
  }

  @Test("counts each success once, those between failures and those of many at the same time")
  func successes() throws {
    let breaker = try makeRatioBreaker()
    let early = try breaker.acquire()
    try succeed(3, on: breaker)
    expectEqual(breaker.snapshot().calls, 3)
    try breaker.acquire().fail(with: TestFailure.transient)
    early.succeed()
    try succeed(2, on: breaker)
    expectEqual(breaker.snapshot().calls, 7)
    expectEqual(breaker.snapshot().failures, 1)
    // Of eleven calls five have failed, and of twelve six.
    for _ in 0..<4 { try breaker.acquire().fail(with: TestFailure.transient) }
    expectEqual(breaker.state, .closed)
    try breaker.acquire().fail(with: TestFailure.transient)
    expectEqual(breaker.state, .open)
  }

  @Test("counts no calls where only failures in a row matter, rather than the failures alone")
  func failuresInARowAlone() throws {
    let breaker = try makeBreaker(opensAfter: 5)
    try succeed(1_000, on: breaker)
    for _ in 0..<3 { try breaker.acquire().fail(with: TestFailure.transient) }
    let metrics = breaker.snapshot()
    expectEqual(metrics, CircuitBreaker.Snapshot(state: .closed, failuresInARow: 3))
    #expect(metrics.failureRatio == nil)
    expectEqual(metrics.description, "closed, 3 failures in a row")
    try succeed(1, on: breaker)
    expectEqual(breaker.snapshot(), CircuitBreaker.Snapshot(state: .closed))
  }

  @Test("forgets successes as their part of the window passes")
  func successesPass() throws {
    let breaker = try makeRatioBreaker()
    try succeed(3, on: breaker)
    scheduler.advance(by: 5)
    try succeed(2, on: breaker)
    expectEqual(breaker.snapshot().calls, 5)
    scheduler.advance(by: 5)
    expectEqual(breaker.snapshot().calls, 2)
    try succeed(1, on: breaker)
    expectEqual(breaker.snapshot().calls, 3)
    scheduler.advance(by: 10)
    expectEqual(breaker.snapshot().calls, 0)
  }

  @Test("a success of a call from before the breaker opened is not counted after it has closed again")
  func lateSuccessInWindow() throws {
    let breaker = try makeRatioBreaker(minimumCalls: 1)
    // From the second call on, what changes nothing passes the breaker without its lock.
    try succeed(1, on: breaker)
    let early = [try breaker.acquire(), try breaker.acquire()]
    breaker.open(scheduler)
    try succeed(1, on: breaker)
    expectEqual(breaker.state, .closed)
    early[0].succeed()
    expectEqual(breaker.snapshot().calls, 0)
    try succeed(2, on: breaker)
    expectEqual(breaker.snapshot().calls, 2)
    // Of those that pass without the lock now, this is none.
    try succeed(2, on: breaker)
    early[1].succeed()
    expectEqual(breaker.snapshot().calls, 4)
  }

  @Test("counts a cancel as a success after a value, and not at all before", arguments: [true, false])
  func cancel(hasValue: Bool) throws {
    let breaker = try makeBreaker()
    breaker.open(scheduler)
    let recorder = Recorder<Int, any Error>()
    upstream.protected(by: breaker).subscribe(recorder)
    if hasValue { upstream.send(1) }
    recorder.cancel()
    expectEqual(upstream.cancelCount, 1)
    expectEqual(breaker.state, hasValue ? .closed : .halfOpen)
  }

  @Test("judges a stream that never ends by its first value when told to")
  func firstValue() throws {
    let breaker = try makeBreaker()
    breaker.open(scheduler)
    upstream.protected(by: breaker, succeedingOn: .firstValue).subscribe(Recorder())
    expectEqual(breaker.state, .halfOpen)
    upstream.send(1)
    expectEqual(breaker.state, .closed)
    upstream.send(completion: .failure(TestFailure.transient))
    expectEqual(breaker.state, .closed)
  }

  @Test("does not count errors that do not speak against the service")
  func classification() throws {
    let breaker = try makeBreaker(counting: { ($0 as? TestFailure)?.isTransient ?? false })
    for error in [TestFailure.permanent, CancellationError()] as [any Error] {
      upstream.protected(by: breaker).subscribe(Recorder())
      upstream.send(completion: .failure(error))
      expectEqual(breaker.state, .closed)
    }
  }

  @Test("stays open for as long as the service asks for")
  func hint() throws {
    let breaker = try makeBreaker()
    upstream.protected(by: breaker).subscribe(Recorder())
    upstream.send(completion: .failure(TestFailure.busy(.seconds(60))))
    scheduler.advance(by: 59)
    #expect(throws: CircuitOpen.self) { try breaker.acquire() }
    scheduler.advance(by: 1)
    #expect(throws: Never.self) { try breaker.acquire() }
  }

  @Test("asks for a pause of whole nanoseconds, behind which it lets a call through")
  func hintWithRest() throws {
    let breaker = try makeBreaker()
    upstream.protected(by: breaker).subscribe(Recorder())
    // As a Double it is a little more than 60.1 seconds.
    upstream.send(completion: .failure(TestFailure.busy(.seconds(60.1))))
    let retryAfter = try #require(breaker.snapshot(on: scheduler.time).retryAfter)
    expectEqual(retryAfter, .nanoseconds(60_100_000_001))
    let refusal = #expect(throws: CircuitOpen.self) { try breaker.acquire() }
    expectEqual(refusal?.retryAfter, retryAfter)
    scheduler.advance(by: .init(retryAfter))
    #expect(throws: Never.self) { try breaker.acquire() }
  }

  @Test("moves the time that it is open by chance, whichever call completes those that a ratio needs", arguments: 0..<4)
  func jitterOfRatio(success: Int) throws {
    let policy = try CircuitBreakerPolicy(failureRatio: 0.5, minimumCalls: 4, openTime: .seconds(10), openJitter: 0.5)
    let breaker = CircuitBreaker("weather", policy: policy, random: RandomSource { 0 })
    for number in 0..<4 {
      let permit = try breaker.acquire()
      if number == success { permit.succeed() } else { permit.fail(with: TestFailure.transient) }
    }
    expectEqual(breaker.snapshot(on: scheduler.time).retryAfter, .seconds(5))
  }

  @Test("cancels a second subscription")
  func secondSubscription() throws {
    let intruder = TestPublisher<Int, any Error>()
    intruder.subscribe(Recorder(requesting: .none))
    upstream.protected(by: try makeBreaker()).subscribe(Recorder())
    upstream.connections[0].send(subscription: intruder.connections[0])
    expectEqual(intruder.cancelCount, 1)
  }

  @Test("gives back a probe that is forgotten")
  func forgotten() throws {
    let breaker = try makeBreaker()
    breaker.open(scheduler)
    _ = try breaker.acquire()
    #expect(throws: Never.self) { try breaker.acquire() }
  }

  // MARK: Functions

  @Test("runs functions, and refuses them when it is open")
  func functions() async throws {
    let breaker = try makeBreaker()
    try await expectEqual(breaker.run { 1 }, 1)
    await #expect(throws: TestFailure.transient) { try await breaker.run { throw TestFailure.transient } }
    var ran = false
    await #expect(throws: CircuitOpen.self) { try await breaker.run { ran = true } }
    #expect(!ran)
  }

  @Test("does not count a function that fails because its task is cancelled")
  func cancelledFunction() async throws {
    let breaker = try makeBreaker()
    let task = Task {
      try await breaker.run {
        withUnsafeCurrentTask { $0?.cancel() }
        throw TestFailure.transient
      }
    }
    await #expect(throws: TestFailure.transient) { try await task.value }
    expectEqual(breaker.state, .closed)
  }

  // MARK: Observation

  @Test("tells its state and each change of it, in order, also of changes that observers cause")
  func stateChanges() throws {
    let breaker = try makeBreaker()
    let recorder = Recorder<CircuitBreaker.State, Never>(answering: { state, _ in
      if state == .open { breaker.isolate() }
      return .none
    })
    breaker.stateChanges.subscribe(recorder)
    breaker.open(scheduler)
    breaker.close()
    expectEqual(recorder.values, [.closed, .open, .isolated, .closed])
  }

  @Test("tells observers of each change and each refusal, in order")
  func events() throws {
    let (first, second) = (Log<String>(), Log<String>())
    let breaker = try makeBreaker()
      .onEvent { first.write($0.description) }
      .onEvent { second.write($0.description) }
    breaker.stateChanges.subscribe(
      Recorder(answering: { state, _ in
        first.write("\(state)")
        return .unlimited
      })
    )
    (try? breaker.acquire())?.fail(with: TestFailure.transient)
    scheduler.advance(by: 4)
    _ = try? breaker.acquire()
    scheduler.advance(by: 6)
    try breaker.acquire().succeed()
    breaker.isolate()
    _ = try? breaker.acquire()
    expectEqual(
      second.entries,
      [
        "weather: closed, now open for 10.0 seconds", "weather: call refused, try again in 6.0 seconds",
        "weather: open, now halfOpen", "weather: halfOpen, now closed", "weather: closed, now isolated",
        "weather: call refused",
      ]
    )
    let states = ["closed", "open", "halfOpen", "closed", "isolated"]
    expectEqual(first.entries.filter(states.contains), states)
    expectEqual(first.entries.filter { !states.contains($0) }, second.entries)
    expectEqual(breaker.snapshot().refused, 2)
  }

  @Test("draws the open time from its own source of randomness, and asks that only for jitter", arguments: [0, 0.2])
  func jitter(ratio: Double) throws {
    let draws = Log<Void>()
    let random = RandomSource {
      draws.write(())
      return 0
    }
    let breaker = try makeBreaker(jitter: ratio, random: random)
    (try? breaker.acquire())?.fail(with: TestFailure.transient)
    expectEqual(breaker.snapshot().retryAfter, .seconds(10 * (1 - ratio)))
    expectEqual(draws.count, ratio == 0 ? 0 : 1)
  }

  @Test("says in a refusal for how long the service has been out")
  func outFor() throws {
    let breaker = try makeBreaker()
    breaker.open(scheduler)
    (try? breaker.acquire())?.fail(with: TestFailure.transient)
    scheduler.advance(by: 5)
    let refusal = #expect(throws: CircuitOpen.self) { try breaker.acquire() }
    expectEqual(refusal?.outFor, .seconds(15))
    breaker.isolate()
    #expect(#expect(throws: CircuitOpen.self) { try breaker.acquire() }?.outFor == nil)
  }

  @Test("stays at the latest moment that it was told, should a clock be set back")
  func clockSetBack() throws {
    let breaker = try makeBreaker()
    let moments = Log<Duration>()
    let time = TimeSource(now: { moments.entries.last ?? .zero }, after: { _, _ in AnyCancellable {} })
    moments.write(.seconds(100))
    try breaker.acquire(on: time).fail(with: TestFailure.transient)
    moments.write(.seconds(50))
    expectEqual(#expect(throws: CircuitOpen.self) { try breaker.acquire(on: time) }?.retryAfter, .seconds(10))
    moments.write(.seconds(110))
    try breaker.acquire(on: time).succeed()
    expectEqual(breaker.state, .closed)
  }

  @Test("lets exactly as many probes through as there are to be, whoever asks at the same time")
  func concurrency() throws {
    let breaker = try makeBreaker(probes: 5)
    breaker.open(scheduler)
    // Other threads know nothing of the task's time.
    let (granted, time) = (Keeper(), scheduler.time)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<50 { if let call = try? breaker.acquire(on: time) { granted.keep(call) } }
    }
    expectEqual(granted.count, 5)
  }

  @Test("loses no result, and counts none twice, on real threads", arguments: 0..<5 as Range<UInt64>)
  func concurrentResults(seed: UInt64) throws {
    let breaker = try makeRatioBreaker(minimumCalls: 1_000_000)
    let (failures, time) = (EventLog<Int>(), scheduler.time)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      var numbers = SeededRandom(seed: seed * 4 + UInt64(thread))
      for number in 0..<500 {
        guard let call = try? breaker.acquire(on: time) else { continue }
        // Runs of successes, so that failures find the way without the lock open, and shut it.
        if Int.random(in: 0..<20, using: &numbers) == 0 {
          failures.write(number)
          call.fail(with: TestFailure.transient)
        } else {
          call.succeed()
        }
        if number.isMultiple(of: 100) { _ = breaker.snapshot(on: time) }
      }
    }
    expectEqual(breaker.snapshot(on: time).calls, 2000)
    expectEqual(breaker.snapshot(on: time).failures, failures.events.count)
  }
}

extension CircuitBreaker {
  /// Fails a call, and lets the open time pass.
  fileprivate func open(_ scheduler: TestScheduler) {
    (try? acquire())?.fail(with: TestFailure.transient)
    scheduler.advance(by: 10)
  }
}

/// Keeps calls from being forgotten.
///
/// Unchecked, because the lock guards the list.
private final class Keeper: @unchecked Sendable {
  private let lock = Lock()
  private var calls: [CircuitBreaker.Call] = []

  var count: Int { lock.withLock { calls.count } }

  func keep(_ call: CircuitBreaker.Call) {
    lock.withLock { calls.append(call) }
  }
}
