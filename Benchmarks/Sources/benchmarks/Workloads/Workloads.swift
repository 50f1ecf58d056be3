/// All that is measured.
enum Workloads {
  /// Groups that are measured one after the other.
  ///
  /// A sleep of a task that is cancelled wakes nobody, and yet its timer goes off when it is due: those groups come last
  /// that leave such timers behind, so that they disturb no others.
  static func groups(_ total: Total) throws -> [[Benchmark]] {
    let rows = try PolicyRows()
    let chains =
      plain(total) + sequences(total) + subjects(total) + flattening(total) + joining(total) + sharing(total)
      + timing(total) + lives(total)
    return [
      chains, publisherPolicies(rows), asyncPolicies(rows, total), try clients(total),
      asyncPoliciesWithTimers(rows, total),
    ]
  }
}
