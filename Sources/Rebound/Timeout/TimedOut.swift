import Foundation

/// Something took longer than a ``TimeoutPolicy`` allows, and was cancelled.
///
/// It is an error like any other: a retry may try again after it, and a circuit breaker counts it. Only where a wait of a policy
/// has ended because ``Deadline/current`` is over, it counts, for all policies under that deadline, as a cancel does.
public struct TimedOut: Error, Hashable, Sendable {
  /// Which limit was reached.
  public enum Kind: Hashable, Sendable {
    /// The one for everything.
    case total
    /// The one for one attempt.
    case attempt
    /// The one until the first value.
    case firstValue
    /// The one from value to value.
    case betweenValues
  }

  /// Which limit was reached.
  public let kind: Kind
  /// How long that limit is.
  public let limit: Duration
  /// How much time had passed in all.
  public let elapsed: Duration
  /// How many values had come until then.
  public let values: Int
  /// What took the time; `nil` if it has no name.
  public internal(set) var name: String?
  /// Which deadline was over, if it is the end of a wait that heeded one.
  private(set) var heeded = HeededDeadline(deadline: nil)

  /// Describes a timeout.
  ///
  /// - Parameters:
  ///   - kind: Which limit was reached.
  ///   - limit: How long that limit is.
  ///   - elapsed: How much time had passed in all; the limit, if nothing is said.
  ///   - values: How many values had come until then.
  ///   - name: What took the time.
  public init(_ kind: Kind, limit: Duration, elapsed: Duration? = nil, values: Int = 0, name: String? = nil) {
    self.kind = kind
    self.limit = limit
    self.elapsed = elapsed ?? limit
    self.values = values
    self.name = name
  }

  /// Describes the end of a wait that heeded a deadline.
  ///
  /// - Parameters:
  ///   - deadline: The deadline.
  ///   - limit: How much of its time was left when the wait began.
  init(waitingUntil deadline: Deadline, limit: Duration) {
    self.init(.total, limit: limit)
    heeded = HeededDeadline(deadline: deadline)
  }

  /// A deadline that is no part of what is equal: for whoever gets the error, it is the same error as any other.
  struct HeededDeadline: Hashable, Sendable {
    let deadline: Deadline?

    static func == (one: HeededDeadline, other: HeededDeadline) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
  }
}

extension TimedOut: CustomStringConvertible {
  /// What happened, where, and what to do next.
  public var description: String {
    let what =
      switch kind {
      case .total: "was not done within \(limit)"
      case .attempt: "did not answer within \(limit)"
      case .firstValue: "sent nothing within \(limit)"
      case .betweenValues: "fell silent for \(limit) after \(values) \(values == 1 ? "value" : "values")"
      }
    return "\(name ?? "The request") \(what); try again, or allow more time."
  }
}

extension TimedOut: LocalizedError {
  /// What happened, for people.
  public var errorDescription: String? {
    kind == .betweenValues ? "The service stopped sending." : "The service did not answer in time."
  }
  /// What to do next, for people.
  public var recoverySuggestion: String? { "Try again." }
}

/// One decision of a ``TimeoutPolicy``: an error if the limit is the one for everything, a warning otherwise.
public enum TimeoutEvent: Hashable, Sendable {
  /// A limit was reached; what was under way is cancelled now.
  case timedOut(TimedOut)
}

extension TimeoutEvent: RecordedDecision {
  /// That of timeouts.
  public static var kind: PolicyKind { .timeout }

  var record: DecisionRecord {
    switch self {
    case .timedOut(let error):
      DecisionRecord(
        error.kind == .total ? .error : .warning,
        "\(error.kind)".asLabel,
        (error.name.map { "\($0) " } ?? "")
          + "timed out after \(error.elapsed) (\(error.kind), limit \(error.limit), values: \(error.values))"
      )
    }
  }
}

extension PolicyKind {
  /// That of a ``TimeoutPolicy``.
  public static let timeout = PolicyKind("timeout")
}
