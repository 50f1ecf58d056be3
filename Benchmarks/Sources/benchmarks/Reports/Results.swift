import Foundation

/// All that one run found.
struct Results {
  let measurements: [Measurement]
  let idle: IdleSubscription
}

extension Results {
  /// A table for people.
  var table: String {
    Self.table(of: measurements)
      + """

      An idle subscription of subject → map → filter → sink holds \(idle.bytes) bytes in \(idle.allocations.short) \
      allocations.

      """
  }

  static func table(of measurements: [Measurement]) -> String {
    var lines = [row("", "ns/value", "limit", "allocations", "goal", "per chain")]
    for measurement in measurements {
      let benchmark = measurement.benchmark
      let limit =
        benchmark.limit.map { "\(Int($0.rounded()))" } ?? benchmark.ratioLimit.map { "\($0.most.short) ×" } ?? ""
      lines.append(
        row(
          benchmark.name,
          String(format: "%.1f", measurement.nanosecondsPerValue),
          measurement.isOverLimit ? limit + " over" : limit,
          measurement.allocations.perValue.short,
          (benchmark.allocationGoal?.short ?? "") + (measurement.isOverAllocationGoal ? " over" : ""),
          measurement.allocations.perChain.short
        )
      )
    }
    let ratios = measurements.compactMap(\.ratioLine)
    if !ratios.isEmpty { lines += [""] + ratios }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func row(_ name: String, _ cells: String...) -> String {
    name.padding(toLength: 52, withPad: " ", startingAt: 0)
      + cells.map { String(repeating: " ", count: max(1, 12 - $0.count)) + $0 }.joined()
  }

  /// Writes the table and the pictures into a folder.
  func write(to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let times = BarChart(
      title: "Nanoseconds of CPU per value; the line is the limit",
      bars: measurements.map {
        .init(name: $0.benchmark.name, value: $0.nanosecondsPerValue, limit: $0.benchmark.limit)
      }
    )
    let allocations = BarChart(
      title: "Allocations per value; the line is the goal",
      bars: measurements.map {
        .init(name: $0.benchmark.name, value: $0.allocations.perValue, limit: $0.benchmark.allocationGoal)
      }
    )
    try Data(table.utf8).write(to: folder.appendingPathComponent("results.txt"))
    try Data(times.svg.utf8).write(to: folder.appendingPathComponent("times.svg"))
    try Data(allocations.svg.utf8).write(to: folder.appendingPathComponent("allocations.svg"))
  }
}

extension Measurement {
  /// What it costs as a multiple of another one, beside the limit.
  fileprivate var ratioLine: String? {
    guard let ratio, let limit = benchmark.ratioLimit else { return nil }
    let most = "at most \(limit.most.short)\(ratio > limit.most ? ", over" : "")"
    return "\(benchmark.name) / \(limit.other): \(String(format: "%.3f", ratio)) (\(most))"
  }
}

extension Double {
  /// At most two decimals, and none that say nothing.
  var short: String {
    self == rounded() ? String(format: "%.0f", self) : String(format: "%.2f", self)
  }
}
