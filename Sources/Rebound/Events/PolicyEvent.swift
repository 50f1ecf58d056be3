/// One decision of one policy, with when and where it was taken.
public struct PolicyEvent: Sendable {
  /// How much a decision matters to whoever reads a log.
  public enum Severity: Int, Comparable, Hashable, Sendable {
    /// All is well.
    case info
    /// Something went wrong, and a policy does something about it.
    case warning
    /// Something went wrong for good, or a service is out.
    case error

    /// Whether one matters less than another.
    public static func < (left: Severity, right: Severity) -> Bool { left.rawValue < right.rawValue }
  }

  /// When it was told, on the time of the ``PolicyEvents``.
  public let time: Duration
  /// The name of the pipeline; of the shared object itself, if it has a name.
  public let source: String
  /// What was decided.
  ///
  /// Whoever wants to know more asks for the type: `if let retry = event.decision as? RetryEvent`.
  public let decision: any PolicyDecision
  /// The kind of the policy that has.
  public var kind: PolicyKind { type(of: decision).kind }
  /// How much it matters.
  public var severity: Severity
  /// What stands for the decision in a log; ``PolicyDecision/text`` unless changed.
  public var text: String {
    // Only made when somebody reads it, which most of the time nobody does.
    get { otherText ?? decision.text }
    set { otherText = newValue }
  }
  private var otherText: String?
  package var place: ExecutionPlace?

  /// The execution that it was decided in; `nil` for what a shared object tells of itself, such as a breaker that opens, and
  /// for an execution that has begun while nobody listened.
  public var execution: ExecutionID? { place?.execution }
  /// The part of the execution that a ``Stopwatch`` around the policy measures, the innermost one, or whose end this is; `nil`
  /// if there is none.
  public var span: ExecutionID.Span? { place?.span }

  /// Describes a decision.
  ///
  /// - Parameters:
  ///   - decision: What was decided.
  ///   - source: The name of the pipeline or the shared object.
  ///   - time: When it was told.
  ///   - severity: How much it matters; ``PolicyDecision/severity`` unless told otherwise.
  public init(_ decision: any PolicyDecision, source: String, time: Duration, severity: Severity? = nil) {
    self.decision = decision
    self.source = source
    self.time = time
    self.severity = severity ?? decision.severity
  }
}

extension PolicyEvent: CustomStringConvertible {
  /// One line for a log: "weather: retry: attempt 1 failed (timedOut); retrying in 1.0 seconds (computed)".
  public var description: String { "\(source): \(text)" }
}
