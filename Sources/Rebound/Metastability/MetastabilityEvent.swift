/// What a ``MetastabilityDetector`` has come to.
public enum MetastabilityEvent: Hashable, Sendable, PolicyDecision {
  /// Retries seem to keep the service down.
  case suspected(MetastabilityDetector.Snapshot)
  /// They do not any more.
  case cleared

  /// That of detectors.
  public static var kind: PolicyKind { .metastability }

  /// An error while it lasts.
  public var severity: PolicyEvent.Severity {
    switch self {
    case .suspected: .error
    case .cleared: .info
    }
  }

  /// The decision in a word.
  public var word: String {
    switch self {
    case .suspected: "suspected"
    case .cleared: "cleared"
    }
  }

  /// One line for a log: "suspected: 12 requests, 4 attempts succeeded, 60 failed".
  public var description: String {
    switch self {
    case .suspected(let snapshot): "suspected: \(snapshot)"
    case .cleared: "cleared"
    }
  }
}

extension MetastabilityDetector.Snapshot: PolicyReading {
  /// One line for a log: "12 requests, 4 attempts succeeded, 60 failed".
  public var description: String { "\(requests) requests, \(succeeded) attempts succeeded, \(failed) failed" }

  /// Whether it is suspected, as 1 or 0, and how many attempts there are for each request.
  public var measurements: [PolicyMeasurement] {
    [
      PolicyMeasurement(
        "rebound_metastability_suspected",
        isSuspected ? 1 : 0,
        meaning: "Whether retries seem to keep the service down."
      ),
      PolicyMeasurement(
        "rebound_metastability_amplification",
        Double(succeeded + failed) / Double(max(requests, 1)),
        meaning: "Attempts for each request."
      ),
    ]
  }
}

extension PolicyKind {
  /// That of a ``MetastabilityDetector``.
  public static let metastability = PolicyKind("metastability")
}
