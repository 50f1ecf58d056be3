/// What a decision of this package tells logs, metrics and programs, said once for each case.
///
/// What is more than a severity is only made when somebody reads it.
struct DecisionRecord {
  let severity: PolicyEvent.Severity
  let word: () -> String
  let description: () -> String
  private(set) var details: () -> [EventField] = { [] }

  /// Describes a decision.
  ///
  /// - Parameters:
  ///   - severity: How much it matters.
  ///   - word: The decision in a word, for a label of metrics.
  ///   - description: One line for a log, without the source and the kind.
  init(
    _ severity: PolicyEvent.Severity,
    _ word: @autoclosure @escaping () -> String,
    _ description: @autoclosure @escaping () -> String
  ) {
    self.severity = severity
    self.word = word
    self.description = description
  }

  /// The same, with what programs are told: numbers and words, never an error, an address or a key.
  func with(_ details: @autoclosure @escaping () -> [EventField]) -> DecisionRecord {
    changed(self) { $0.details = details }
  }
}

/// A decision that says all that ``PolicyDecision`` asks for with one switch.
protocol RecordedDecision: PolicyDecision {
  var record: DecisionRecord { get }
}

extension RecordedDecision {
  /// One line for a log, without the source and the kind.
  public var description: String { record.description() }
  /// How much it matters, unless somebody says otherwise.
  public var severity: PolicyEvent.Severity { record.severity }
  /// The decision in a word, for a label of metrics.
  public var word: String { record.word() }
  /// Numbers and words for programs.
  public var details: [EventField] { record.details() }
}

extension EventField {
  /// A length of time, if it is known.
  static func known(_ name: String, _ duration: Duration?) -> [EventField] {
    duration.map { [EventField(name, $0)] } ?? []
  }
}
