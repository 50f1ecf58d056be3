import AllocationCounter
import Foundation

/// A chain to measure: its name, how many values go through it, and the work.
struct Benchmark {
  let name: String
  /// How many values one timed run takes.
  let count: Int
  /// The most nanoseconds per value that the project allows itself; nil where nothing is promised.
  let limit: Double?
  /// The most allocations per value that the project means to need; nil where nothing is promised.
  let allocationGoal: Double?
  /// Another benchmark of the same group, and the most that this one may cost as a multiple of it.
  let ratioLimit: (other: String, most: Double)?
  /// Whether threads decide how much waits, and so how often a chain has to make room.
  let hasBacklog: Bool
  /// How many allocations per value above the limit are let pass: threads of the system's own allocate now and then.
  let tolerance: Double
  /// Sends that many values through a chain of its own.
  let run: (Int) -> Void

  /// Makes a benchmark with a limit, or without one.
  ///
  /// - Parameters:
  ///   - prototype: nanoseconds per value of the first sketch of the design; two fifths more are allowed.
  ///   - limit: the limit itself, where there was no sketch.
  ///   - allocationGoal: the most allocations per value that are meant.
  ///   - ratioLimit: the name of another benchmark of the same group, and the most as a multiple of it.
  ///   - hasBacklog: whether threads decide how much waits.
  ///   - tolerance: allocations per value above the limit that are let pass.
  init(
    _ name: String,
    count: Int = 200_000,
    prototype: Double? = nil,
    limit: Double? = nil,
    allocationGoal: Double? = nil,
    ratioLimit: (other: String, most: Double)? = nil,
    hasBacklog: Bool = false,
    tolerance: Double = 0.01,
    run: @escaping (Int) -> Void
  ) {
    self.name = name
    self.count = count
    self.limit = limit ?? prototype.map { $0 * 1.4 }
    self.allocationGoal = allocationGoal
    self.ratioLimit = ratioLimit
    self.hasBacklog = hasBacklog
    self.tolerance = tolerance
    self.run = run
  }
}

/// What a benchmark took.
struct Measurement {
  let benchmark: Benchmark
  /// Nanoseconds per value of each round.
  var rounds: [Double] = []
  /// What it costs as a multiple of the benchmark that it is limited by; `nil` if there is none, or it was not measured.
  var ratio: Double?
  var allocations = Allocations()

  /// Of the fastest round.
  var nanosecondsPerValue: Double { rounds.min() ?? .infinity }

  var isOverLimit: Bool {
    if let limit = benchmark.limit, nanosecondsPerValue > limit { return true }
    guard let ratio, let limit = benchmark.ratioLimit else { return false }
    return ratio > limit.most
  }

  var isOverAllocationGoal: Bool {
    benchmark.allocationGoal.map { allocations.perValue > $0 + benchmark.tolerance } ?? false
  }

  /// The median of what it costs as a multiple of another one in each round: the two were measured close to one another, so
  /// what else the machine did fell on both.
  func ratio(to other: Measurement) -> Double? {
    let ratios = zip(rounds, other.rounds).map { $0 / $1 }.sorted()
    return ratios.isEmpty ? nil : ratios[ratios.count / 2]
  }
}

/// How often memory was asked for: for each value, and for what does not depend on their number.
struct Allocations: Codable {
  var perValue = 0.0
  var perChain = 0.0
}

/// Measures benchmarks side by side in several rounds, and keeps the fastest round of each.
///
/// Rounds are interleaved, so that a busy moment of the machine does not fall on one benchmark alone; CPU time is
/// counted, not wall time.
struct Harness {
  let rounds: Int

  func measure(_ benchmarks: [Benchmark]) -> [Measurement] {
    var measurements = benchmarks.map { Measurement(benchmark: $0) }
    guard !benchmarks.isEmpty else { return [] }
    for round in 1...max(rounds, 1) {
      note("\(benchmarks.count) benchmarks, from \"\(benchmarks[0].name)\" on: round \(round) of \(rounds)")
      for (index, benchmark) in benchmarks.enumerated() {
        let start = cpuNanoseconds()
        benchmark.run(benchmark.count)
        measurements[index].rounds.append((cpuNanoseconds() - start) / Double(benchmark.count))
      }
    }
    for (index, benchmark) in benchmarks.enumerated() {
      guard let other = measurements.first(where: { $0.benchmark.name == benchmark.ratioLimit?.other }) else {
        continue
      }
      measurements[index].ratio = measurements[index].ratio(to: other)
    }
    for (index, benchmark) in benchmarks.enumerated() {
      measurements[index].allocations = countAllocations(of: benchmark)
    }
    return measurements
  }

  /// How far it is, beside what is measured.
  private func note(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
  }

  /// Two runs of different length tell apart what each value needs and what the chain needs.
  private func countAllocations(of benchmark: Benchmark) -> Allocations {
    let short = 2_000
    let long = 6_000
    // What is made once for the whole process is made here, and not counted.
    benchmark.run(short)
    let ofShort = Double(fewestAllocations { benchmark.run(short) })
    let ofLong = Double(fewestAllocations { benchmark.run(long) })
    let perValue = (ofLong - ofShort) / Double(long - short)
    // Buffers that double make a fraction of an allocation for each value, which is none to speak of.
    let rounded = (perValue * 100).rounded() / 100
    return Allocations(perValue: abs(rounded), perChain: max(0, (ofShort - rounded * Double(short)).rounded()))
  }

  /// The fewest of a few runs: other threads of the system's own libraries may allocate meanwhile.
  private func fewestAllocations(_ run: () -> Void) -> Int {
    (0..<5).map { _ in
      allocation_counter_start()
      run()
      return allocation_counter_stop().calls
    }.min() ?? 0
  }

  private func cpuNanoseconds() -> Double {
    Double(clock()) / Double(CLOCKS_PER_SEC) * 1e9
  }
}

/// A place to put results where the optimiser must leave them, without the checks of a captured variable.
///
/// The pointer is allocated once and lives as long as the process. Unchecked, because one thread at a time adds to it.
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
