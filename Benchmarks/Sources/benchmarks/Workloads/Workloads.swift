/// All that is measured.
enum Workloads {
  static func all(_ total: Total) -> [Benchmark] {
    plain(total) + sequences(total) + subjects(total) + flattening(total) + joining(total) + sharing(total)
      + timing(total) + lives(total)
  }
}
