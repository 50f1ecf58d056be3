import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("stateChanges(on:)", .virtualTime)
struct CircuitBreakerStateChangesTests {
  private let scheduler = TestScheduler.current

  private func makeBreaker() throws -> CircuitBreaker {
    CircuitBreaker(
      "weather",
      policy: try CircuitBreakerPolicy(consecutiveFailures: 1, openTime: .seconds(10))
    )
  }

  @Test("shows that the open time is over although nobody calls, as often as it opens")
  func halfOpens() throws {
    let breaker = try makeBreaker()
    let recorder = Recorder<CircuitBreaker.State, Never>(on: scheduler)
    breaker.stateChanges(on: scheduler.time).subscribe(recorder)
    try breaker.acquire().fail(with: TestFailure.transient)
    scheduler.advance(by: 60)
    try breaker.acquire().fail(with: TestFailure.transient)
    scheduler.advance(by: 60)
    expectEqual(recorder.values, [.closed, .open, .halfOpen, .open, .halfOpen])
    // Open for 10 s, then for 20 s.
    expectEqual(recorder.timedValues.map(\.time.nanoseconds).map { $0 / 1_000_000_000 }, [0, 0, 10, 60, 80])
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("stops the timer when the state changes otherwise, or nobody observes any more", arguments: [true, false])
  func stops(cancels: Bool) throws {
    let breaker = try makeBreaker()
    let recorder = Recorder<CircuitBreaker.State, Never>()
    breaker.stateChanges(on: scheduler.time).subscribe(recorder)
    try breaker.acquire().fail(with: TestFailure.transient)
    expectEqual(scheduler.pendingCount, 1)
    if cancels { recorder.cancel() } else { breaker.isolate() }
    expectEqual(scheduler.pendingCount, 0)
    scheduler.advance(by: 60)
    expectEqual(breaker.state, cancels ? .open : .isolated)
  }

  @Test("looks at once after a breaker that was open before")
  func openBefore() throws {
    let breaker = try makeBreaker()
    try breaker.acquire().fail(with: TestFailure.transient)
    scheduler.advance(by: 4)
    let recorder = Recorder<CircuitBreaker.State, Never>()
    breaker.stateChanges(on: scheduler.time).subscribe(recorder)
    scheduler.advance(by: 5.9)
    expectEqual(recorder.values, [.open])
    scheduler.advance(by: 0.1)
    expectEqual(recorder.values, [.open, .halfOpen])
  }

  @Test("takes a timer that is early by a tolerance for the end of the open time", arguments: [0.001, 10])
  func earlyTimer(tolerance: Double) throws {
    let scheduler = scheduler
    let early = TimeSource(
      now: { scheduler.time.now },
      after: { delay, action in scheduler.time.after(delay - .seconds(tolerance), action) }
    )
    let breaker = try makeBreaker()
    let recorder = Recorder<CircuitBreaker.State, Never>()
    breaker.stateChanges(on: early).subscribe(recorder)
    try breaker.acquire().fail(with: TestFailure.transient)
    scheduler.advance(by: 60)
    expectEqual(recorder.values, [.closed, .open, .halfOpen])
  }
}
