/// What a shared object holds at one moment.
public struct PolicyGauge: Sendable {
  /// The name of the object; that of the first pipeline that holds it, if it has none itself.
  public let name: String
  /// The kind of the object.
  public let kind: PolicyKind
  /// What was read.
  ///
  /// Whoever wants to know more asks for the type: `if let bulkhead = gauge.reading as? Bulkhead.Snapshot`.
  public let reading: any PolicyReading

  /// Describes what was read.
  public init(name: String, kind: PolicyKind, reading: any PolicyReading) {
    self.name = name
    self.kind = kind
    self.reading = reading
  }
}

extension PolicyGauge: CustomStringConvertible {
  /// One line for a log: "weather: bulkhead: 3 of 10 run, 0 wait".
  public var description: String { "\(name): \(kind): \(reading)" }
}

/// What a shared object holds: conformed to by the snapshot of each kind, also of one's own.
///
/// The description is for a log: "3 of 10 run, 0 wait".
public protocol PolicyReading: Sendable, CustomStringConvertible {
  /// Its numbers, for metrics.
  var measurements: [PolicyMeasurement] { get }
  /// What programs are told of it by `JSONLines` of ReboundTelemetry: numbers and words; nothing, if nothing is said.
  var details: [EventField] { get }
}

extension PolicyReading {
  /// Nothing.
  public var details: [EventField] { [] }
}
