import Rebound

/// A decision of a policy that nobody else has.
struct Decision: PolicyDecision {
  static let kind = PolicyKind("door keeper")
  var severity = PolicyEvent.Severity.info
  var description = "let in"
  var word = "let_in"
  var measurements: [PolicyMeasurement] = []
}
