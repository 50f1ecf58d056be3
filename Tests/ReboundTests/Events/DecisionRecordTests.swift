import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("DecisionRecord")
struct DecisionRecordTests {
  private struct Secret: Error, CustomStringConvertible {
    let description = "s3cret"
  }

  private static let decisions: [any PolicyDecision] = [
    RetryEvent(
      attempt: 2,
      error: Secret(),
      elapsed: .seconds(3),
      hint: .seconds(5),
      delay: .seconds(5),
      delaySource: .hint,
      outcome: .retrying
    ),
    RetryEvent(attempt: 3, error: Secret(), outcome: .stopped(.attemptsExhausted)),
    CircuitBreakerEvent(name: "s3cret", kind: .changed(from: .halfOpen, to: .open, openTime: .seconds(9))),
    CircuitBreakerEvent(
      name: "s3cret",
      kind: .refused(CircuitOpen(name: "s3cret", retryAfter: .seconds(4), lastError: Secret()))
    ),
    RateLimiterEvent.queued(wait: .milliseconds(250), queued: 2), RateLimiterEvent.rejected(retryAfter: .seconds(1)),
    RateLimiterEvent.throttled(share: 0.5, pause: .seconds(2)), BulkheadEvent.admitted(running: 1, limit: 4),
    BulkheadEvent.rejected(queued: 3, limit: 4), TokenRefreshEvent.refreshBegins(version: 1, .expiring),
    TokenRefreshEvent.failed(version: 1, Secret(), cooldown: .seconds(8), waiters: 6),
    HedgeEvent.failed(hedge: 1, error: Secret(), isFatal: true, elapsed: .seconds(1)),
    HedgeEvent.won(hedge: 1, cancelled: [0], elapsed: .seconds(2)),
  ]

  @Test("decisions say their numbers and words, and nothing of errors and names")
  func decisions() {
    let details = Self.decisions.map { decision in
      decision.details.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
    }
    expectEqual(
      details,
      [
        "attempt=whole(2) elapsed=number(3.0) hint=number(5.0) delay=number(5.0) from=text(\"hint\")",
        "attempt=whole(3) elapsed=number(0.0)", "before=text(\"half_open\") open_for=number(9.0)",
        "retry_after=number(4.0)", "wait=number(0.25) queued=whole(2)", "retry_after=number(1.0)",
        "share=number(0.5) pause=number(2.0)", "running=whole(1) limit=whole(4)", "limit=whole(4) queued=whole(3)",
        "version=whole(1) cause=text(\"expiring\")", "version=whole(1) retry_after=number(8.0) waiters=whole(6)",
        "hedge=whole(1) fatal=flag(true) elapsed=number(1.0)", "hedge=whole(1) cancelled=whole(1) elapsed=number(2.0)",
      ]
    )
  }

  @Test("gauges say what they hold")
  func gauges() throws {
    let breaker = CircuitBreaker("host", policy: try .consecutive(5, openFor: .seconds(30)))
    let words = { (reading: (any PolicyReading)?) in reading?.details.map { "\($0.name)=\($0.value)" } ?? [] }
    expectEqual(words(breaker.reading), ["state=text(\"closed\")", "failures_in_a_row=whole(0)", "refused=whole(0)"])
    let limiter = RateLimiter("quota", policy: try .tokenBucket(10, per: .seconds(1)))
    expectEqual(words(limiter.reading), ["queued=whole(0)", "share=number(1.0)"])
    let bulkhead = Bulkhead("search", policy: try BulkheadPolicy(maxConcurrent: 2))
    expectEqual(words(bulkhead.reading), ["running=whole(0)", "limit=whole(2)", "queued=whole(0)"])
  }

  @Test("a decision of one's own says nothing unless it is told what")
  func ownDecision() {
    enum Own: PolicyDecision {
      case done

      static let kind = PolicyKind("own")
      var word: String { "done" }
      var description: String { "done" }
    }
    #expect(Own.done.details.isEmpty)
  }
}
