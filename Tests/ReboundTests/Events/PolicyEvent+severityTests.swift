import Rebound
import Testing

@Suite("The severity of a PolicyEvent")
struct PolicyEventSeverityTests {
  static let error = TestFailure.transient

  static let table: [(PolicyEvent.Decision, PolicyEvent.Severity)] = [
    (.retry(RetryEvent(attempt: 1, error: error, outcome: .retrying)), .warning),
    (.retry(RetryEvent(attempt: 3, error: error, outcome: .stopped(.attemptsExhausted))), .error),
    (.timeout(.timedOut(TimedOut(.attempt, limit: .seconds(1)))), .warning),
    (.timeout(.timedOut(TimedOut(.total, limit: .seconds(1)))), .error),
    (.hedge(.begins(hedge: 1, because: .parallel, elapsed: .zero)), .info),
    (.hedge(.won(hedge: 1, cancelled: [0], elapsed: .zero)), .info),
    (.hedge(.refused(.budgetExhausted, elapsed: .zero)), .warning),
    (.hedge(.failed(hedge: 1, error: error, isFatal: false, elapsed: .zero)), .warning),
    (.hedge(.failed(hedge: 1, error: error, isFatal: true, elapsed: .zero)), .error),
    (.hedge(.exhausted(attempts: 2, elapsed: .zero)), .error),
    (.fallback(.fallingBack(from: error)), .warning),
    (.fallback(.passingOn(error)), .error),
    (.fallback(.failed(FallbackFailed(failure: error, original: error))), .error),
    (.circuitBreaker(change(to: .open)), .error),
    (.circuitBreaker(change(to: .halfOpen)), .warning),
    (.circuitBreaker(change(to: .closed)), .info),
    (
      .circuitBreaker(CircuitBreakerEvent(name: "host", kind: .refused(CircuitOpen(name: "host", retryAfter: nil)))),
      .warning
    ),
    (.bulkhead(.admitted(running: 1, limit: 2)), .info),
    (.bulkhead(.rejected(queued: 0, limit: 2)), .warning),
    (.bulkhead(.timedOut(queued: 0)), .warning),
    (.rateLimiter(.admitted), .info),
    (.rateLimiter(.rejected(retryAfter: .seconds(1))), .warning),
    (.rateLimiter(.throttled(share: 0.5, pause: nil)), .warning),
    (.cache(.hit("oslo", age: .zero)), .info),
    (.cache(.staleIfError("oslo", age: .zero, error)), .warning),
    (.coalescing(.started("oslo")), .info),
    (.tokenRefresh(.signedIn(version: 1)), .info),
    (.tokenRefresh(.failed(version: 1, error, cooldown: .zero, waiters: 1)), .warning),
    (.tokenRefresh(.rejected(version: 1, error, waiters: 1)), .error),
    (.chaos(.outcome), .warning),
    (.misuse(UnrepeatableUpstream(pipeline: "weather", stage: .retry, upstream: "Future")), .error),
  ]

  static func change(to state: CircuitBreaker.State) -> CircuitBreakerEvent {
    CircuitBreakerEvent(name: "host", kind: .changed(from: .closed, to: state, openTime: nil))
  }

  @Test("follows from the decision", arguments: table)
  func severity(decision: PolicyEvent.Decision, severity: PolicyEvent.Severity) {
    #expect(decision.severity == severity)
    #expect(PolicyEvent(decision, source: "weather", time: .zero).severity == severity)
  }

  @Test("can be said otherwise, and has an order")
  func other() {
    #expect(PolicyEvent(.chaos(.outcome), source: "weather", time: .zero, severity: .info).severity == .info)
    #expect(PolicyEvent.Severity.info < .warning)
    #expect(PolicyEvent.Severity.warning < .error)
  }
}
