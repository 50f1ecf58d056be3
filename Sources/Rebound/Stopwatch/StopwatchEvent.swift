/// An execution has ended that a ``Stopwatch`` has measured.
public struct StopwatchEvent: Hashable, Sendable {
  /// How an execution has ended.
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// It has succeeded, or has delivered a value before it was cancelled.
    case succeeded
    /// It has failed, or was refused.
    case failed
    /// It was cancelled, or its deadline came while a policy waited.
    case cancelled
  }

  /// What was measured.
  public let part: String
  /// How it has ended.
  public let outcome: Outcome
  /// How long it took.
  public let duration: Duration

  /// Describes the end of an execution.
  public init(part: String = "pipeline", outcome: Outcome, duration: Duration) {
    self.part = part
    self.outcome = outcome
    self.duration = duration
  }
}

extension StopwatchEvent: PolicyDecision {
  /// That of stopwatches.
  public static var kind: PolicyKind { .stopwatch }
  /// Nothing to worry about: what went wrong is told by whoever has decided on it.
  public var severity: PolicyEvent.Severity { .info }
  /// How it has ended.
  public var word: String { outcome.rawValue }
  /// One line for a log: "pipeline succeeded after 1.5 seconds".
  public var description: String { "\(part) \(outcome) after \(duration)" }

  /// `part` and `duration`.
  public var details: [EventField] { [EventField("part", part), EventField("duration", duration)] }

  /// How long it took, by how it has ended.
  public var measurements: [PolicyMeasurement] {
    [
      .init(
        "rebound_pipeline_duration_seconds",
        duration.inSeconds,
        "How long executions of pipelines took.",
        labels: [.init("part", part), .init("outcome", word)]
      )
    ]
  }
}

extension PolicyKind {
  /// That of a ``Stopwatch``.
  public static let stopwatch = PolicyKind("stopwatch")
}
