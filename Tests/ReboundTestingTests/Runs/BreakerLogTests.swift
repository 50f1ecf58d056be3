import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("BreakerLog")
struct BreakerLogTests {
  @Test("writes down the present state and each change, with the times")
  func writes() throws {
    let scheduler = TestScheduler()
    let policy = try CircuitBreakerPolicy(failureRatio: nil, consecutiveFailures: 1, openTime: .seconds(5))
    let breaker = CircuitBreaker("forecast", policy: policy)
    let log = BreakerLog(of: breaker, on: scheduler)
    scheduler.advance(by: 2)
    try breaker.acquire(on: scheduler.time).fail(with: CancellationError())
    try breaker.acquire(on: scheduler.time).fail(with: InvalidPolicy(.retry, "maxRetries", -1, "Give 0."))
    scheduler.advance(by: 5)
    try breaker.acquire(on: scheduler.time).succeed()
    expectEqual(log.entries.map(\.state), [.closed, .open, .halfOpen, .closed])
    expectEqual(log.entries.map(\.time), [0, 2, 7, 7].map { .start.advanced(by: .seconds($0)) })
  }
}
