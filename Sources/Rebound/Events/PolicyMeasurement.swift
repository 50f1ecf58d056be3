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

  /// Describes a measurement, by a name that ends in the unit, where there is one.
  public init(_ name: String, _ value: Double, _ meaning: String? = nil, labels: [Metric.Label] = []) {
    self.name = name
    self.value = value
    self.labels = labels
    self.meaning = meaning
  }

  /// Describes a number of something.
  public init(_ name: String, _ number: Int, _ meaning: String? = nil, labels: [Metric.Label] = []) {
    self.init(name, Double(number), meaning, labels: labels)
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
