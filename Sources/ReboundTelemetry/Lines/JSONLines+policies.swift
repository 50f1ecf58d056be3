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
      ] + Self.place(event.execution, event.span) + Self.numbers(event.decision.details, event.decision.measurements)
    )
  }

  /// Writes spans, if anybody reads: those inside of one before it; made to be handed to ``PolicySpans``.
  public func write(_ span: PolicySpan) {
    for child in span.children { write(child) }
    write("span", span.fields)
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

  fileprivate static func place(_ execution: ExecutionID?, _ span: ExecutionID.Span?) -> [EventField] {
    let execution = execution.map { [EventField("execution", $0.number)] } ?? []
    return execution + (span.map { [EventField("span", "\($0)")] } ?? [])
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

extension PolicySpan {
  fileprivate var fields: [EventField] {
    var fields = JSONLines.place(id.execution, id)
    if let parent { fields.append(EventField("parent", "\(parent)")) }
    fields += [
      EventField("name", name), EventField("part", part), EventField("outcome", outcome.rawValue),
      EventField("start", wallClockStart), EventField("duration", duration), EventField("events", events.count),
    ]
    if droppedEventCount > 0 { fields.append(EventField("dropped_events", droppedEventCount)) }
    return fields
  }
}
