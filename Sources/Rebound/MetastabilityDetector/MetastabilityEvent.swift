import Foundation

/// Something that a ``MetastabilityDetector`` has seen or decided.
public enum MetastabilityEvent: Hashable, Sendable, PolicyDecision {
  /// The alarm: retries seem to keep the service down, after what was counted within the window.
  case suspected(requests: Int, attempts: Int, answers: Int)
  /// The service answers what it is asked for again, or nothing at all.
  case ended
  /// An attempt is refused, because of the alarm.
  case refused

  /// That of detectors.
  public static var kind: PolicyKind { .metastabilityDetector }

  /// The alarm is an error, its end is none.
  public var severity: PolicyEvent.Severity {
    switch self {
    case .suspected: .error
    case .ended: .info
    case .refused: .warning
    }
  }

  /// The decision in a word.
  public var word: String {
    switch self {
    case .suspected: "suspected"
    case .ended: "ended"
    case .refused: "refused"
    }
  }

  /// One line for a log: "retries seem to keep the service down: 60 attempts for 20 requests, 3 answers".
  public var description: String {
    switch self {
    case .suspected(let requests, let attempts, let answers):
      "retries seem to keep the service down: \(attempts) attempts for \(requests) requests, \(answers) answers"
    case .ended: "retries no longer seem to keep the service down"
    case .refused: "refused an attempt while retries seem to keep the service down"
    }
  }
}

/// A ``MetastabilityDetector`` did not let an attempt through, because retries seem to keep the service down.
public struct RetriesSuspended: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is watched.
  public let name: String

  /// Describes a refusal.
  ///
  /// - Parameter name: What is watched.
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
