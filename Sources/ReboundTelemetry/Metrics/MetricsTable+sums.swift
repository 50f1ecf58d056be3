import Rebound

extension MetricsTable.Snapshot {
  /// How much was counted under a name: the sum of all counters that have these labels, whatever others they have.
  ///
  ///     let retries = metrics.snapshot.count(of: "rebound_decisions", .init("decision", "retrying"))
  ///
  /// - Parameters:
  ///   - name: The name of the counters.
  ///   - labels: What they must have; the order does not matter.
  /// - Returns: Zero if there is none; the largest number that there is if the sum is larger.
  /// - Complexity: O(s) for s series.
  public func count(of name: String, _ labels: Metric.Label...) -> Int {
    counters.reduce(into: 0) { sum, series in
      if series.key.has(name, labels) { sum.addClamped(series.value) }
    }
  }

  /// How much was counted under a name, apart by what one of the labels says.
  ///
  /// - Parameters:
  ///   - name: The name of the counters.
  ///   - label: The label by which they are told apart. A counter without it counts as one where it is empty.
  /// - Complexity: O(s) for s series.
  public func counts(of name: String, by label: String) -> [String: Int] {
    counters.reduce(into: [:]) { counts, series in
      guard series.key.name == name else { return }
      counts[series.key.value(of: label), default: 0].addClamped(series.value)
    }
  }

  /// What was measured under a name: all histograms that have these labels put together, whatever others they have.
  ///
  /// - Parameters:
  ///   - name: The name of the histograms.
  ///   - labels: What they must have; the order does not matter.
  /// - Returns: `nil` if there is none.
  /// - Complexity: O(s · b) for s series of b buckets.
  public func histogram(of name: String, _ labels: Metric.Label...) -> MetricsTable.Histogram? {
    histograms.reduce(into: nil) { sum, series in
      guard series.key.has(name, labels) else { return }
      sum.add(series.value)
    }
  }

  /// What was measured under a name, apart by what one of the labels says.
  ///
  ///     for (outcome, durations) in snapshot.histograms(of: "http_client_call_duration_seconds", by: "outcome") { print(outcome, durations.count) }
  ///
  /// - Parameters:
  ///   - name: The name of the histograms.
  ///   - label: The label by which they are told apart. A histogram without it counts as one where it is empty.
  /// - Complexity: O(s · b) for s series of b buckets.
  public func histograms(of name: String, by label: String) -> [String: MetricsTable.Histogram] {
    histograms.reduce(into: [:]) { sums, series in
      guard series.key.name == name else { return }
      sums[series.key.value(of: label)].add(series.value)
    }
  }
}

extension Metric {
  fileprivate func has(_ name: String, _ labels: [Label]) -> Bool {
    self.name == name && labels.allSatisfy(self.labels.contains)
  }

  /// To OpenMetrics, a label that is empty is one that is not there.
  fileprivate func value(of label: String) -> String {
    labels.first { $0.name == label }?.value ?? ""
  }
}

extension Int {
  /// Adds another number that is not negative; stays at the largest one there is.
  mutating func addClamped(_ other: Int) {
    let (sum, overflows) = addingReportingOverflow(other)
    self = overflows ? .max : sum
  }
}

extension Optional<MetricsTable.Histogram> {
  fileprivate mutating func add(_ other: MetricsTable.Histogram) {
    if self == nil { self = other } else { self?.add(other) }
  }
}
