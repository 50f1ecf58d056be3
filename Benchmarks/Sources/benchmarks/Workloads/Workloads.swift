/// All that is measured.
enum Workloads {
  /// Groups that are measured one after the other.
  static func groups(_ total: Total) throws -> [[Benchmark]] {
    let chains =
      plain(total) + sequences(total) + subjects(total) + flattening(total) + joining(total) + sharing(total)
      + timing(total) + lives(total)
    return [chains]
  }
}
