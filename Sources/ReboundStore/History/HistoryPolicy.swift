import Rebound

/// How a store keeps its actions.
public struct HistoryPolicy: Hashable, Sendable {
  /// After how many actions the state itself is kept, so that going there need not start from the beginning.
  public let snapshotInterval: Int
  /// How many actions to keep at least; older ones are forgotten, and the history begins later.
  ///
  /// `nil` keeps all.
  public let limit: Int?

  /// Makes a policy, and refuses numbers that make no sense.
  ///
  /// - Parameters:
  ///   - snapshotInterval: After how many actions the state itself is kept.
  ///   - limit: How many actions to keep at least; `nil` keeps all.
  /// - Throws: `InvalidPolicy`, with the number that makes no sense.
  public init(snapshotInterval: Int = 50, limit: Int? = nil) throws(InvalidPolicy) {
    let kind = PolicyKind("history")
    try kind.require("snapshotInterval", snapshotInterval, "Give at least 1.") { $0 >= 1 }
    try kind.require("limit", limit, "Give at least 1, or nil to keep all.") { $0 >= 1 }
    self.init(clamping: snapshotInterval, limit: limit)
  }

  /// Makes a policy, and counts numbers below one as one.
  ///
  /// - Parameters:
  ///   - snapshotInterval: After how many actions the state itself is kept.
  ///   - limit: How many actions to keep at least; `nil` keeps all.
  public init(clamping snapshotInterval: Int, limit: Int? = nil) {
    self.snapshotInterval = max(snapshotInterval, 1)
    self.limit = limit.map { max($0, 1) }
  }

  /// All actions, and the state after every fiftieth.
  public static let all = valid { () throws(InvalidPolicy) in try HistoryPolicy() }
}
