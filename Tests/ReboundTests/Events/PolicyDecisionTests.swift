import Combine
import Expectations
import Rebound
import ReboundTelemetry
import ReboundTesting
import Testing

@Suite("PolicyDecision")
struct PolicyDecisionTests {
  static let error = TestFailure.transient

  static let table: [(any PolicyDecision, PolicyEvent.Severity)] = [
    (RetryEvent(attempt: 1, error: error, outcome: .retrying), .warning),
    (RetryEvent(attempt: 3, error: error, outcome: .stopped(.attemptsExhausted)), .error),
    (TimeoutEvent.timedOut(TimedOut(.attempt, limit: .seconds(1))), .warning),
    (TimeoutEvent.timedOut(TimedOut(.total, limit: .seconds(1))), .error),
    (HedgeEvent.begins(hedge: 1, because: .parallel, elapsed: .zero), .info),
    (HedgeEvent.won(hedge: 1, cancelled: [0], elapsed: .zero), .info),
    (HedgeEvent.refused(.budgetExhausted, elapsed: .zero), .warning),
    (HedgeEvent.failed(hedge: 1, error: error, isFatal: false, elapsed: .zero), .warning),
    (HedgeEvent.failed(hedge: 1, error: error, isFatal: true, elapsed: .zero), .error),
    (HedgeEvent.exhausted(attempts: 2, elapsed: .zero), .error),
    (FallbackEvent.fallingBack(from: error), .warning),
    (FallbackEvent.passingOn(error), .error),
    (FallbackEvent.failed(FallbackFailed(failure: error, original: error)), .error),
    (change(to: .open), .error),
    (change(to: .halfOpen), .warning),
    (change(to: .closed), .info),
    (
      CircuitBreakerEvent(name: "host", kind: .refused(CircuitOpen(name: "host", retryAfter: nil))),
      .warning
    ),
    (BulkheadEvent.admitted(running: 1, limit: 2), .info),
    (BulkheadEvent.rejected(queued: 0, limit: 2), .warning),
    (BulkheadEvent.timedOut(queued: 0), .warning),
    (RateLimiterEvent.admitted, .info),
    (RateLimiterEvent.rejected(retryAfter: .seconds(1)), .warning),
    (RateLimiterEvent.throttled(share: 0.5, pause: nil), .warning),
    (CacheEvent<String>.hit("oslo", age: .zero), .info),
    (CacheEvent<String>.staleIfError("oslo", age: .zero, error), .warning),
    (CoalescingEvent<String>.started("oslo"), .info),
    (TokenRefreshEvent.signedIn(version: 1), .info),
    (TokenRefreshEvent.failed(version: 1, error, cooldown: .zero, waiters: 1), .warning),
    (TokenRefreshEvent.rejected(version: 1, error, waiters: 1), .error),
    (ChaosEvent.outcome, .warning),
    (UnrepeatableUpstream(pipeline: "weather", stage: .retry, upstream: "Future"), .error),
  ]

  static func change(to state: CircuitBreaker.State) -> CircuitBreakerEvent {
    CircuitBreakerEvent(name: "host", kind: .changed(from: .closed, to: state, openTime: nil))
  }

  @Test("follows from the decision", arguments: table)
  func severity(decision: any PolicyDecision, severity: PolicyEvent.Severity) {
    expectEqual(decision.severity, severity)
    expectEqual(PolicyEvent(decision, source: "weather", time: .zero).severity, severity)
  }

  @Test("can be said otherwise, and has an order")
  func other() {
    expectEqual(PolicyEvent(ChaosEvent.outcome, source: "weather", time: .zero, severity: .info).severity, .info)
    #expect(PolicyEvent.Severity.info < .warning)
    #expect(PolicyEvent.Severity.warning < .error)
  }

  @Test("has one line for a log, which names the kind once and no source")
  func texts() {
    let unrepeatable = UnrepeatableUpstream(pipeline: "weather", stage: .retry, upstream: "Future")
    let told: [(any PolicyDecision, String)] = [
      (RepeatEvent.stopped(runs: 2), "repeat: run 2 finished; stopped"),
      (KeyedEvent.made(7), "keyed: 7: made"),
      (CacheEvent.missed(7), "cache: 7: missed"),
      (CoalescingEvent.ended(7), "coalescing: 7: ended"),
      (TokenRefreshEvent.lateResultDropped, "authentication: a refresh ended after its session; its result is dropped"),
      (ChaosEvent.outcome, "chaos: outcome replaced"),
      (Self.change(to: .open), "circuit breaker: closed, now open"),
      (unrepeatable, "misuse: \(unrepeatable)"),
    ]
    for (decision, text) in told {
      expectEqual(decision.text, text)
      expectEqual("\(PolicyEvent(decision, source: "a", time: .zero))", "a: \(text)")
    }
  }

  // MARK: Of one's own

  private enum ThrottleEvent: PolicyDecision, Equatable {
    case sped
    case slowed(to: Int, wait: Duration)

    static let kind = PolicyKind("request throttle")

    var severity: PolicyEvent.Severity { self == .sped ? .info : .warning }
    var word: String { self == .sped ? "sped" : "slowed" }

    var description: String {
      switch self {
      case .sped: "at full rate"
      case .slowed(let rate, let wait): "down to \(rate) a second after \(wait)"
      }
    }

    var measurements: [PolicyMeasurement] {
      guard case .slowed(_, let wait) = self else { return [] }
      let labels = [Metric.Label("by", "hand")]
      return [PolicyMeasurement("throttle_wait_seconds", wait / .seconds(1), "What it waits.", labels: labels)]
    }
  }

  private struct Note: PolicyDecision {
    static let kind = PolicyKind("note")
    let word = "noted"
    let description = "all is well"
  }

  @Test("of one's own has a severity, a line in the log, and its type")
  func ownInLog() throws {
    let events = PolicyEvents(time: TimeSource(now: { .seconds(3) }, after: { _, _ in AnyCancellable {} }))
    let log = PolicyEventLog(of: events)
    events.tell(ThrottleEvent.slowed(to: 5, wait: .seconds(2)), of: "weather")
    events.tell(ThrottleEvent.sped, of: "weather")
    expectEqual(
      log.lines,
      [
        "3.0 seconds warning weather: request throttle: down to 5 a second after 2.0 seconds",
        "3.0 seconds info weather: request throttle: at full rate",
      ]
    )
    expectEqual(log.events.map(\.kind), [ThrottleEvent.kind, PolicyKind("request throttle")])
    expectEqual(log.events.compactMap { $0.decision as? ThrottleEvent }.last, .sped)
  }

  @Test("of one's own is counted and measured, and its metric is described once it is there")
  func ownInMetrics() {
    let events = PolicyEvents()
    let table = MetricsTable(bounds: [1])
    let reporting = events.report(to: table)
    #expect(!table.openMetrics().contains("throttle"))
    for _ in 1...2 { events.tell(ThrottleEvent.slowed(to: 5, wait: .seconds(2)), of: "weather") }
    events.tell(ThrottleEvent.sped, of: "weather")
    expectEqual(
      table.openMetrics(),
      #"""
      # TYPE rebound_decisions counter
      # HELP rebound_decisions Decisions of policies.
      rebound_decisions_total{source="weather",policy="request_throttle",decision="slowed"} 2
      rebound_decisions_total{source="weather",policy="request_throttle",decision="sped"} 1
      # TYPE rebound_metrics_left_out gauge
      # HELP rebound_metrics_left_out Series that this page leaves out, since all of it would be refused for them.
      rebound_metrics_left_out 0
      # TYPE rebound_metrics_refused counter
      # HELP rebound_metrics_refused Measurements that had no place in the table.
      rebound_metrics_refused_total 0
      # TYPE throttle_wait_seconds histogram
      # UNIT throttle_wait_seconds seconds
      # HELP throttle_wait_seconds What it waits.
      throttle_wait_seconds_bucket{source="weather",by="hand",le="1.0"} 0
      throttle_wait_seconds_bucket{source="weather",by="hand",le="+Inf"} 2
      throttle_wait_seconds_count{source="weather",by="hand"} 2
      throttle_wait_seconds_sum{source="weather",by="hand"} 4.0
      # EOF

      """#
    )
    reporting.cancel()
  }

  @Test("need say no more than its kind, a word and a description")
  func defaults() {
    let note = Note()
    expectEqual(note.severity, .info)
    expectEqual(note.text, "note: all is well")
    #expect(note.measurements.isEmpty)
  }
}
