/// The faults in force, one rule per path, in the order in which they were first made.
struct FaultTable {
  private struct Entry {
    var rule: FaultRule
    var served = 0

    var remaining: Int? { rule.times.map { $0 - served } }
    var isInForce: Bool { remaining != 0 }
  }

  /// A rule and what has become of it, for the control route.
  struct Report: Encodable, Equatable {
    let path: String
    let fault: String
    let status: Int?
    let reason: String?
    let retryAfter: String?
    let latencyMilliseconds: Int
    /// How many requests it is still for; absent if it has no end.
    let remaining: Int?
    let served: Int
  }

  private var entries: [Entry] = []

  /// Adds a rule, or replaces the one for its path; counting begins anew.
  mutating func set(_ rule: FaultRule) {
    if let index = entries.firstIndex(where: { $0.rule.path == rule.path }) {
      entries[index] = Entry(rule: rule)
    } else {
      entries.append(Entry(rule: rule))
    }
  }

  /// Takes the fault for a request: by its path's own rule, else by the rule for any path.
  ///
  /// A rule that has been served as often as it asked for is no longer in force, but stays in the report.
  mutating func take(for path: String) -> FaultRule? {
    for candidate in [path, FaultRule.anyPath] {
      guard let index = entries.firstIndex(where: { $0.rule.path == candidate && $0.isInForce }) else { continue }
      entries[index].served += 1
      return entries[index].rule
    }
    return nil
  }

  mutating func removeAll() {
    entries = []
  }

  var report: [Report] {
    entries.map { entry in
      let (seconds, attoseconds) = entry.rule.latency.components
      return Report(
        path: entry.rule.path,
        fault: entry.rule.kind.rawValue,
        status: entry.rule.status,
        reason: entry.rule.reason,
        retryAfter: entry.rule.retryAfter,
        latencyMilliseconds: Int(seconds * 1000 + attoseconds / 1_000_000_000_000_000),
        remaining: entry.remaining,
        served: entry.served
      )
    }
  }
}
