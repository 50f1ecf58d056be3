import Foundation
import Rebound

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
    let attempts = snapshot.histograms(of: "http_client_attempt_duration_seconds")
    let decided = { (policy: String, decision: String) in
      snapshot.count(of: "rebound_decisions", ["policy": policy, "decision": decision])
    }
    add("requests", "Requests sent", snapshot.count(of: "http_client_attempts"))
    add("answers", "Answers", attempts.count) { _ in Self.answers(attempts) }
    add("mean", "Mean time", attempts.reduce(0) { $0 + $1.histogram.count }) { count in
      Self.words(seconds: attempts.reduce(0) { $0 + $1.histogram.sum } / Double(count))
    }
    add("retries", "Tried again", decided("retry", "retrying")) { count in
      let waits = snapshot.histograms(of: "rebound_retry_delay_seconds").reduce(0) { $0 + $1.histogram.sum }
      return "\(count), waiting \(Self.words(seconds: waits))"
    }
    add(
      "stopped",
      "Given up",
      ["attempts_exhausted", "budget_exhausted"].reduce(0) { $0 + decided("retry", $1) }
    )
    add("saved", "Saved copies", decided("fallback", "falling_back"))
    add("tokens", "New tokens", decided("authentication", "refreshed"))
    add("dispatches", "Store actions", snapshot.count(of: "app_dispatches"))
    // What all pages share is news only to a page that has taken part.
    for case .budget(let budget) in gauges.map(\.reading) where !facts.isEmpty {
      facts.append(Fact(id: "budget", name: "Retries left", value: "\(budget.available)"))
    }
    self.facts = facts
  }

  private static func answers(_ attempts: [(labels: [String: String], histogram: MetricsTable.Histogram)]) -> String {
    let counts = Dictionary(attempts.map { ($0.labels["outcome"] ?? "", $0.histogram.count) }, uniquingKeysWith: +)
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

extension MetricsTable.Snapshot {
  /// The sum of all counters of a name that have these labels, beside any others.
  fileprivate func count(of name: String, _ labels: [String: String] = [:]) -> Int {
    counters.reduce(0) { sum, series in
      let values = series.key.values
      return series.key.name == name && labels.allSatisfy { values[$0.key] == $0.value } ? sum + series.value : sum
    }
  }

  /// All histograms of a name.
  fileprivate func histograms(of name: String) -> [(labels: [String: String], histogram: MetricsTable.Histogram)] {
    histograms.filter { $0.key.name == name }.map { ($0.key.values, $0.value) }
  }
}

extension Metric {
  fileprivate var values: [String: String] {
    Dictionary(labels.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
  }
}
