import ReboundTelemetry

extension ErrorExamples {
  static let telemetry = ErrorExamples(
    module: "ReboundTelemetry",
    errors: [("``InvalidMetric``", InvalidMetric.repeatedLabel("city"))]
  )
}
