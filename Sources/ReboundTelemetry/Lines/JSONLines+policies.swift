import Rebound

extension JSONLines {
  /// Writes a decision, if anybody reads; called for what is followed.
  public func write(_ event: PolicyEvent) {
    write(
      "policy",
      [
        EventField("source", event.source), EventField("policy", event.kind.word),
        EventField("decision", event.decision.word), EventField("severity", "\(event.severity)"),
        EventField("text", event.text),
      ] + Self.numbers(event.decision.details, event.decision.measurements)
    )
  }

  /// Writes what shared objects hold, a line for each, if anybody reads.
  public func write(_ gauges: [PolicyGauge]) {
    for gauge in gauges {
      write(
        "gauge",
        [
          EventField("source", gauge.name), EventField("policy", gauge.kind.word),
          EventField("text", "\(gauge.reading)"),
        ] + Self.numbers(gauge.reading.details, gauge.reading.measurements)
      )
    }
  }

  private static func numbers(_ details: [EventField], _ measurements: [PolicyMeasurement]) -> [EventField] {
    var fields: [EventField] = []
    if !details.isEmpty { fields.append(EventField("details", details)) }
    if !measurements.isEmpty {
      fields.append(EventField("measurements", measurements.map { EventField($0.name, $0.value) }))
    }
    return fields
  }
}
