import Foundation
import Rebound
import ReboundTelemetry

/// What a client did, as a few facts for a person; none as long as it did nothing.
struct ClientTotals: Encodable, Equatable {
  struct Fact: Encodable, Equatable {
    let id: String
    let name: String
    let value: String
  }

  let facts: [Fact]

  /// How many kinds of answers are told, the most frequent ones.
  static let mostAnswers = 5

  /// Reads the facts from metrics.
  ///
  /// - Parameters:
  ///   - snapshot: What was measured.
  ///   - gauges: What shared policies hold.
  init(_ snapshot: MetricsTable.Snapshot, gauges: [PolicyGauge]) {
    var facts: [Fact] = []
    func add(_ id: String, _ name: String, _ count: Int, _ words: (Int) -> String = { "\($0)" }) {
      if count > 0 { facts.append(Fact(id: id, name: name, value: words(count))) }
    }
    let decided = { (policy: String, decision: String) in
      snapshot.count(of: "rebound_decisions", .init("policy", policy), .init("decision", decision))
    }
    add("requests", "Requests sent", snapshot.count(of: "http_client_attempts"))
    if let attempts = snapshot.histogram(of: "http_client_attempt_duration_seconds") {
      let answers = snapshot.histograms(of: "http_client_attempt_duration_seconds", by: "outcome")
      add("answers", "Answers", attempts.count) { _ in Self.words(answers: answers.mapValues(\.count)) }
      add("mean", "Mean time", attempts.count) { Self.words(seconds: attempts.sum / Double($0)) }
    }
    add("retries", "Tried again", decided("retry", "retrying")) { count in
      "\(count), waiting \(Self.words(seconds: snapshot.histogram(of: "rebound_retry_delay_seconds")?.sum ?? 0))"
    }
    add("stopped", "Given up", decided("retry", "attempts_exhausted") + decided("retry", "budget_exhausted"))
    add("saved", "Saved copies", decided("fallback", "falling_back"))
    add("tokens", "New tokens", decided("authentication", "refreshed"))
    add("dispatches", "Store actions", snapshot.count(of: "app_dispatches"))
    // What all pages share is news only to a page that has taken part.
    for case let budget as RetryBudget.Snapshot in gauges.map(\.reading) where !facts.isEmpty {
      facts.append(Fact(id: "budget", name: "Retries left", value: "\(budget.available)"))
    }
    self.facts = facts
  }

  private static func words(answers counts: [String: Int]) -> String {
    let most = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(mostAnswers)
    // In an order that does not change when a number does.
    return most.sorted { $0.key < $1.key }
      .map { "\($0.key) × \($0.value)" }
      .joined(separator: ", ")
  }

  private static func words(seconds: Double) -> String {
    seconds < 1 ? String(format: "%.0f ms", seconds * 1_000) : String(format: "%.1f s", seconds)
  }
}
