/// What a test of a store expected and did not get.
public enum TestStoreFailure: Error, Hashable, Sendable {
  /// The state after an action is not the expected one; each line says `expected → actual`.
  case wrongState(after: String, differences: [String])
  /// Another action came than the expected one.
  case unexpected(expected: String, received: String)
  /// No action came; so many effects run.
  case nothingReceived(expected: String, openEffects: Int)
  /// These actions came and were not expected.
  case unreceived(actions: [String], before: String)
  /// So many effects run on; the moment for which the next work is scheduled.
  case openEffects(count: Int, nextDue: String?)
  /// The store did not take an action that was sent, because another one is being done.
  case notTaken(action: String)
}

extension TestStoreFailure: CustomStringConvertible {
  /// What happened, and what to do about it.
  public var description: String {
    switch self {
    case .wrongState(let action, let differences):
      let lines = differences.isEmpty ? ["the values differ, their descriptions do not"] : differences
      return "The state after \(action) is not as expected (expected → actual):\n"
        + lines.map { "  \($0)" }.joined(separator: "\n")
    case .unexpected(let expected, let received):
      return "Another action came than expected:\n  - \(expected)\n  + \(received)"
    case .nothingReceived(let expected, let openEffects):
      let hint = openEffects == 0 ? "No effect runs." : "\(openEffects) effects run: advance the time, or answer them."
      return "Expected to receive \(expected), but nothing came. \(hint)"
    case .unreceived(let actions, let next):
      return "Actions came that were not received before \(next):\n"
        + actions.map { "  + \($0)" }.joined(separator: "\n")
        + "\nReceive each of them, or set exhaustivity to .off."
    case .openEffects(let count, let nextDue):
      let time = nextDue.map { " The next work is due at \($0)." } ?? ""
      return "\(count) effects run on at the end.\(time) Let them end, cancel them, or set exhaustivity to .off."
    case .notTaken(let action):
      return "The store did not take \(action). Send from the test itself, not from inside a reducer or effect."
    }
  }
}
