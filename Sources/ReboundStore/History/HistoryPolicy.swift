/// How a store keeps its actions.
public struct HistoryPolicy: Hashable, Sendable {
  /// After how many actions the state itself is kept, so that going there need not start from the beginning.
  public let snapshotInterval: Int
  /// How many actions to keep at least; older ones are forgotten, and the history begins later.
  ///
  /// `nil` keeps all.
  public let limit: Int?

  /// Makes a policy; numbers below one count as one.
  ///
  /// - Parameters:
  ///   - snapshotInterval: After how many actions the state itself is kept.
  ///   - limit: How many actions to keep at least; `nil` keeps all.
  public init(snapshotInterval: Int = 50, limit: Int? = nil) {
    self.snapshotInterval = max(snapshotInterval, 1)
    self.limit = limit.map { max($0, 1) }
  }

  /// All actions, and the state after every fiftieth.
  public static let all = HistoryPolicy()
}
