import Rebound
import ReboundTelemetry
import Testing

@testable import App

@Suite("ClientTotals")
struct ClientTotalsTests {
  private let table = MetricsTable()

  private func facts(gauges: [PolicyGauge] = []) -> [String: String] {
    let facts = ClientTotals(table.snapshot, gauges: gauges).facts
    return Dictionary(uniqueKeysWithValues: facts.map { ($0.name, $0.value) })
  }

  private func attempt(_ operation: String, _ outcome: String, took seconds: Double, resend: Bool = false) {
    let operation = Metric.Label("operation", operation)
    table.add(1, to: Metric("http_client_attempts", operation, .init("resend", "\(resend)")))
    let outcome = Metric.Label("outcome", outcome)
    table.record(seconds, in: Metric("http_client_attempt_duration_seconds", operation, outcome))
  }

  private func decide(_ policy: String, _ decision: String) {
    let labels = (Metric.Label("policy", policy), Metric.Label("decision", decision))
    table.add(1, to: Metric("rebound_decisions", .init("source", "weather"), labels.0, labels.1))
  }

  @Test("a client that did nothing has nothing to tell, whatever others share with it")
  func nothing() throws {
    let budget = try RetryBudget.bucket().snapshot()
    #expect(facts(gauges: [PolicyGauge(name: "weather", kind: .budget, reading: budget)]).isEmpty)
  }

  @Test("requests of all kinds are added up, their answers told by outcome")
  func answers() {
    attempt("Weather", "200", took: 0.01)
    attempt("Token", "200", took: 0.02)
    attempt("Weather", "timeout", took: 0.06, resend: true)
    #expect(facts() == ["Requests sent": "3", "Answers": "200 × 2, timeout × 1", "Mean time": "30 ms"])
  }

  @Test("a mean of a second and more is told in seconds")
  func mean() {
    attempt("Animal", "200", took: 1)
    attempt("Animal", "200", took: 1.5)
    #expect(facts()["Mean time"] == "1.2 s")
  }

  @Test("only the most frequent kinds of answers are told, in a steady order")
  func mostAnswers() {
    for status in 500...519 { attempt("Weather", "\(status)", took: 0) }
    for _ in 1...2 { attempt("Weather", "519", took: 0) }
    #expect(facts()["Answers"] == "500 × 1, 501 × 1, 502 × 1, 503 × 1, 519 × 3")
  }

  @Test("retries are told with their pauses, and those that end without an answer apart")
  func retries() {
    for delay in [1.0, 3.0] {
      decide("retry", "retrying")
      table.record(delay, in: Metric("rebound_retry_delay_seconds", .init("source", "weather"), .init("from", "hint")))
    }
    decide("retry", "attempts_exhausted")
    decide("retry", "budget_exhausted")
    decide("retry", "not_retryable")
    #expect(facts() == ["Tried again": "2, waiting 4.0 s", "Given up": "2"])
  }

  @Test("copies, tokens and actions are told once there are any")
  func others() {
    decide("fallback", "falling_back")
    decide("authentication", "refreshed")
    decide("authentication", "refresh_begins")
    table.add(4, to: Metric("app_dispatches", .init("app", "animals"), .init("action", "fetch")))
    #expect(facts() == ["Saved copies": "1", "New tokens": "1", "Store actions": "4"])
  }

  @Test("what is left of a shared budget is told to whoever has taken part")
  func budget() throws {
    attempt("Weather", "200", took: 0.01)
    let budget = try RetryBudget.bucket(tokens: 7, cost: 1)
    #expect(
      facts(gauges: [PolicyGauge(name: "weather", kind: .budget, reading: budget.snapshot())])["Retries left"] == "7"
    )
  }
}
