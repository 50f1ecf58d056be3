import Rebound

/// Which series a sink of measurements has room for: so many, and each name for one kind of them.
package struct SeriesRules: Sendable {
  package let limit: Int
  /// What each name was first used for.
  package var kinds: [String: MetricsTable.Kind] = [:]

  package init(limit: Int) {
    self.limit = max(limit, 1)
  }

  /// - Returns: Whether there may be one more series than there are; then its name is for this kind from now on.
  package mutating func haveRoom(for metric: Metric, _ kind: MetricsTable.Kind, beside count: Int) -> Bool {
    guard count < limit else { return false }
    if let known = kinds[metric.name] { return known == kind }
    kinds[metric.name] = kind
    return true
  }
}
