/// What a policy has decided: conformed to by the event type of each policy, also of one's own.
///
///     enum ThrottleEvent: PolicyDecision {
///       case slowedDown
///
///       static let kind = PolicyKind("throttle")
///       var severity: PolicyEvent.Severity { .warning }
///       var word: String { "slowed_down" }
///       var description: String { "slowed down" }
///     }
///
///     events.tell(ThrottleEvent.slowedDown, of: "weather")
///
/// That is all it takes for a line in the log, "weather: throttle: slowed down", and a count among the metrics.
/// Whoever wants to know more asks for the type: `if let throttle = event.decision as? ThrottleEvent`.
public protocol PolicyDecision: Sendable, CustomStringConvertible {
  /// The kind of the policy.
  static var kind: PolicyKind { get }
  /// How much it matters, unless somebody says otherwise; ``PolicyEvent/Severity/info`` if nothing is said.
  var severity: PolicyEvent.Severity { get }
  /// The decision in a word, for a label of metrics: "retrying".
  ///
  /// One of few, never a key, an address or an error: each becomes a series of its own.
  var word: String { get }
  /// One line for a log, without the source: the kind and the description, if nothing is said.
  var text: String { get }
  /// What else is measured, besides that it was decided; nothing, if nothing is said.
  var measurements: [PolicyMeasurement] { get }
  /// What programs are told of it by `JSONLines` of ReboundTelemetry: numbers and words, never an error, an address or a key; nothing, if
  /// nothing is said.
  var details: [EventField] { get }
}

extension PolicyDecision {
  /// All is well.
  public var severity: PolicyEvent.Severity { .info }
  /// The kind and the description: "retry: attempt 1 failed (timedOut); retrying in 1.0 seconds (computed)".
  public var text: String { "\(Self.kind): \(self)" }
  /// Nothing.
  public var measurements: [PolicyMeasurement] { [] }
  /// Nothing.
  public var details: [EventField] { [] }
}
