import Combine
import Expectations
import Rebound
import ReboundTelemetry
import ReboundTesting
import Testing

@Suite("PolicyEvents+metrics")
struct PolicyEventsMetricsTests {
  private func decisions(_ table: MetricsTable) -> [String: Int] {
    let counters = table.snapshot.counters.map { metric, count in
      (metric.labels.map(\.value).joined(separator: "/"), count)
    }
    return Dictionary(uniqueKeysWithValues: counters)
  }

  @Test("counts what a pipeline decides, and measures its pauses")
  func pipeline() throws {
    let scheduler = TestScheduler()
    let events = PolicyEvents(time: scheduler.time)
    let table = MetricsTable()
    let reporting = events.report(to: table)
    let policy = try RetryPolicy<TestFailure>(maxRetries: 2, backoff: .constant(.seconds(3)))
      .onEvent { events.tell($0, of: "weather") }
    let recorder = Recorder<Int, TestFailure>(on: scheduler)
    Fail(outputType: Int.self, failure: TestFailure.transient).retry(policy, time: scheduler.time).subscribe(recorder)
    try scheduler.run()
    expectEqual(recorder.completion, .failure(.transient))
    expectEqual(decisions(table), ["weather/retry/retrying": 2, "weather/retry/attempts_exhausted": 1])
    let histograms = table.snapshot.histograms
    let delays = histograms[
      Metric("rebound_retry_delay_seconds", .init("source", "weather"), .init("from", "computed"))
    ]
    expectEqual(delays?.count, 2)
    expectEqual(delays?.sum, 6)
    let elapsed = histograms[
      Metric("rebound_retry_elapsed_seconds", .init("source", "weather"), .init("reason", "attempts_exhausted"))
    ]
    expectEqual(elapsed?.sum, 6)
    reporting.cancel()
  }

  @Test("has a word for each kind of decision")
  func words() {
    let open = CircuitBreakerEvent(name: "host", kind: .changed(from: .closed, to: .halfOpen, openTime: nil))
    let told: [(any PolicyDecision, String)] = [
      (
        TimeoutEvent.timedOut(TimedOut(.betweenValues, limit: .seconds(1), elapsed: .seconds(1))),
        "timeout/between_values"
      ),
      (HedgeEvent.won(hedge: 0, cancelled: [], elapsed: .zero), "hedge/first_won"),
      (HedgeEvent.won(hedge: 1, cancelled: [], elapsed: .zero), "hedge/hedge_won"),
      (HedgeEvent.refused(.budgetExhausted, elapsed: .zero), "hedge/budget_exhausted"),
      (FallbackEvent.fallingBack(from: TestFailure.transient), "fallback/falling_back"),
      (open, "circuit_breaker/half_open"),
      (BulkheadEvent.timedOut(queued: 1), "bulkhead/timed_out"),
      (RateLimiterEvent.queued(wait: .seconds(2), queued: 1), "rate_limiter/queued"),
      (CacheEvent<String>.staleIfError("Rome", age: .zero, TestFailure.transient), "cache/stale_if_error"),
      (CoalescingEvent<String>.joined("Rome", subscribers: 2), "coalescing/joined"),
      (TokenRefreshEvent.refreshed(version: 1, waiters: 3), "authentication/refreshed"),
      (ChaosEvent.outcome, "chaos/injected"),
      (UnrepeatableUpstream(pipeline: "a", stage: .retry, upstream: "Future"), "pipeline/misuse"),
      (RepeatEvent.stopped(runs: 2), "repeat/stopped"),
      (KeyedEvent.evicted("Rome"), "keyed/evicted"),
    ]
    let events = PolicyEvents()
    let table = MetricsTable()
    let reporting = events.report(to: table)
    for (decision, _) in told { events.tell(decision, of: "all") }
    expectEqual(decisions(table), Dictionary(uniqueKeysWithValues: told.map { ("all/\($0.1)", 1) }))
    let wait = table.snapshot.histograms[Metric("rebound_queue_wait_seconds", .init("source", "all"))]
    expectEqual(wait?.sum, 2)
    reporting.cancel()
  }

  @Test("labels hold no keys, addresses or errors")
  func lowCardinality() {
    let events = PolicyEvents()
    let table = MetricsTable()
    let reporting = events.report(to: table)
    for user in 1...100 {
      events.tell(CacheEvent<String>.hit("user \(user)", age: .seconds(user)), of: "users")
      events.tell(FallbackEvent.passingOn(TestFailure.permanent), of: "users")
    }
    expectEqual(table.snapshot.counters.count, 2)
    reporting.cancel()
  }

  @Test("reports from when it is asked to until it is cancelled, and keeps neither side alive")
  func lifetime() {
    var events: PolicyEvents? = PolicyEvents()
    weak let goneEvents = events
    let table = MetricsTable()
    events?.tell(BulkheadEvent.queued(1), of: "weather")
    let reporting = events?.report(to: table)
    events?.tell(BulkheadEvent.queued(2), of: "weather")
    reporting?.cancel()
    events?.tell(BulkheadEvent.queued(3), of: "weather")
    expectEqual(decisions(table), ["weather/bulkhead/queued": 1])
    events = nil
    #expect(goneEvents == nil)
  }

  @Test("says on the page what each of its names stands for")
  func descriptions() {
    let events = PolicyEvents()
    let table = MetricsTable()
    let reporting = events.report(to: table)
    events.tell(RateLimiterEvent.queued(wait: .seconds(2), queued: 1), of: "weather")
    let lines = table.openMetrics().split(separator: "\n")
    for name in ["rebound_decisions", "rebound_queue_wait_seconds"] {
      expectEqual(lines.count { $0.hasPrefix("# HELP \(name) ") }, 1)
    }
    reporting.cancel()
  }
}
