import Foundation

/// Something that a ``MetastabilityDetector`` has seen or decided: the alarm is an error, its end is none.
public enum MetastabilityEvent: Hashable, Sendable, RecordedDecision {
  /// The alarm: retries seem to keep the service down, after what was counted within the window.
  case suspected(requests: Int, attempts: Int, answers: Int)
  /// The service answers what it is asked for again, or nothing at all.
  case ended
  /// An attempt is refused, because of the alarm.
  case refused

  /// That of detectors.
  public static var kind: PolicyKind { .metastabilityDetector }

  var record: DecisionRecord {
    switch self {
    case .suspected(let requests, let attempts, let answers):
      .init(
        .error,
        "suspected",
        "retries seem to keep the service down: \(attempts) attempts for \(requests) requests, \(answers) answers"
      )
    case .ended: .init(.info, "ended", "retries no longer seem to keep the service down")
    case .refused: .init(.warning, "refused", "refused an attempt while retries seem to keep the service down")
    }
  }
}

/// A ``MetastabilityDetector`` did not let an attempt through, because retries seem to keep the service down.
public struct RetriesSuspended: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is watched.
  public let name: String

  /// Describes a refusal.
  public init(name: String) {
    self.name = name
  }

  /// What happened, and what to do next.
  public var description: String { "Retries seem to keep \(name) down; this attempt was not made. Try again later." }
}

extension RetriesSuspended: LocalizedError {
  /// What happened, for people.
  public var errorDescription: String? { "The service has too much to do." }
  /// What to do next, for people.
  public var recoverySuggestion: String? { "Try again later." }
}
