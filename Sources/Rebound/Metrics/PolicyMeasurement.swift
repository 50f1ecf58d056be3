/// A number that a ``PolicyDecision`` or a ``PolicyReading`` has for metrics.
public struct PolicyMeasurement: Hashable, Sendable {
  /// The name of the metric, with the unit at the end where there is one: "rebound_retry_delay_seconds".
  public let name: String
  /// What was measured; durations are in seconds.
  public let value: Double
  /// The labels besides `source`; the same ones, in the same order, whenever the name is used.
  public let labels: [Metric.Label]
  /// What the name stands for, for people who read it; `nil` if nobody says.
  public let meaning: String?

  /// Describes a measurement.
  ///
  /// - Parameters:
  ///   - name: The name of the metric, with the unit at the end where there is one.
  ///   - value: What was measured; durations are in seconds.
  ///   - labels: The labels besides `source`, each of which has few values.
  ///   - meaning: What the name stands for, in a few words.
  public init(_ name: String, _ value: Double, labels: [Metric.Label] = [], meaning: String? = nil) {
    self.name = name
    self.value = value
    self.labels = labels
    self.meaning = meaning
  }
}

extension String {
  /// As labels are written: "budget exhausted" and "budgetExhausted" become "budget_exhausted".
  var asLabel: String {
    reduce(into: "") { label, character in
      if character.isUppercase, let last = label.last, last != "_" { label.append("_") }
      label += character == " " ? "_" : character.lowercased()
    }
  }
}
