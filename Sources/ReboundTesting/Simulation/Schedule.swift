/// Where a run was taken away from the one that ran, and to whom it was given.
///
/// Under an empty schedule each task goes on for as long as it can, and then it is the turn of the one that has waited
/// longest. Each switch gives the turn to another: the fewer there are, the simpler the run.
public struct Schedule: Hashable, Sendable {
  /// One place where another than the next went on.
  public struct Switch: Hashable, Sendable {
    /// The number of the decision, from 0; there is one wherever more than one could run.
    public var decision: Int
    /// Who went on: its place among the others that could run, in the order of arrival, from 1.
    public var choice: Int
  }

  /// In the order of the decisions.
  public internal(set) var switches: [Switch]

  init(switches: [Switch]) {
    self.switches = switches
  }

  /// Reads what ``description`` writes; `nil` if it is something else.
  public init?(_ text: some StringProtocol) {
    switches = []
    for part in text.split(separator: ",") {
      let numbers = part.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
      guard numbers.count == 2, let decision = numbers[0], let choice = numbers[1], decision >= 0, choice >= 0 else {
        return nil
      }
      switches.append(Switch(decision: decision, choice: choice))
    }
    switches.sort { $0.decision < $1.decision }
    // Nobody goes on twice at one decision.
    guard Set(switches.map(\.decision)).count == switches.count else { return nil }
  }
}

extension Schedule: CustomStringConvertible {
  /// Decision and choice of each switch: "3:1,7:2".
  public var description: String {
    switches.map { "\($0.decision):\($0.choice)" }.joined(separator: ",")
  }
}
