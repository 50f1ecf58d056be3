import Foundation

/// A chain to measure: its name, how many values go through it, and the work.
struct Benchmark {
  let name: String
  let count: Int
  /// The most nanoseconds per value that the project allows itself; nil where nothing is promised.
  let limit: Double?
  let run: () -> Void

  init(_ name: String, count: Int = 200_000, limit: Double? = nil, run: @escaping () -> Void) {
    self.name = name
    self.count = count
    self.limit = limit
    self.run = run
  }
}

/// Measures benchmarks side by side in several rounds, and keeps the fastest round of each.
///
/// Rounds are interleaved, so that a busy moment of the machine does not fall on one benchmark alone; CPU time is
/// counted, not wall time.
struct Harness {
  let rounds: Int

  /// Nanoseconds per value, in the order of the benchmarks.
  func measure(_ benchmarks: [Benchmark]) -> [Double] {
    var best = Array(repeating: Double.infinity, count: benchmarks.count)
    for _ in 0..<rounds {
      for (index, benchmark) in benchmarks.enumerated() {
        let start = cpuNanoseconds()
        benchmark.run()
        best[index] = min(best[index], (cpuNanoseconds() - start) / Double(benchmark.count))
      }
    }
    return best
  }

  private func cpuNanoseconds() -> Double {
    Double(clock()) / Double(CLOCKS_PER_SEC) * 1e9
  }
}

/// A place to put results where the optimiser must leave them, without the checks of a captured variable.
///
/// The pointer is allocated once and lives as long as the process.
struct Total: @unchecked Sendable {
  private let pointer = UnsafeMutablePointer<Int>.allocate(capacity: 1)

  init() {
    pointer.initialize(to: 0)
  }

  @inline(__always)
  func add(_ value: Int) {
    pointer.pointee &+= value
  }

  var value: Int { pointer.pointee }
}
