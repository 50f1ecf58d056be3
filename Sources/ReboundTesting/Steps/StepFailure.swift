/// A step of a ``StepVerifier`` that did not go as it should.
public struct StepFailure: Error, Sendable {
  /// The number of the step, from 1; one more than there are for what is checked in the end.
  public let step: Int
  /// What the step was: "expectNext(3)".
  public let name: String
  /// Where the step stands in the test.
  public let location: CodeLocation
  /// What was expected, and what came instead.
  public let problem: String
  /// All that had come until then, one line each, with the times.
  public let history: [String]
}

extension StepFailure: CustomStringConvertible {
  /// What happened, where, and all that came before.
  public var description: String {
    let came = history.isEmpty ? "Nothing had come." : "What had come:\n  " + history.joined(separator: "\n  ")
    return "\(location), step \(step), \(name): \(problem)\n\(came)"
  }
}
