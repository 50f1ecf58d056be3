import Foundation

/// Prints what a value costs on its way through each chain, beside a plain loop and `AsyncStream` in the same run, and
/// what an execution costs under each policy, and a call of an HTTP client.
///
///     scripts/benchmark [rounds] [--check | --record] [--only words]
///     scripts/benchmark --lateness
@main
enum Benchmarks {
  static func main() throws {
    // Some C libraries leave out the atomic part of a lock until a second thread exists; nobody measures that.
    let never = DispatchSemaphore(value: 0)
    let companion = Thread { never.wait() }
    companion.start()

    let arguments = CommandLine.arguments.dropFirst()
    if arguments.contains("--lateness") {
      for count in [100, 10_000] { print(DeadlineLateness.measure(count).line) }
      return
    }
    let checks = arguments.contains("--check")
    let rounds = arguments.compactMap(Int.init).first ?? (checks ? 3 : 15)
    // The script goes to the package's folder first.
    let folder = URL(fileURLWithPath: FileManager.default.currentDirectoryPath).appendingPathComponent("Benchmarks")
    let limitsFile = folder.appendingPathComponent("Limits.json")

    let total = Total()
    let words = arguments.firstIndex(of: "--only").flatMap { arguments[$0...].dropFirst().first }
    let chosen = try Workloads.groups(total).map { $0.filter { words.map($0.name.contains) ?? true } }
    if chosen.allSatisfy(\.isEmpty) {
      print("No benchmark has \"\(words ?? "")\" in its name.")
      exit(1)
    }
    let idle = IdleSubscription.measure()
    let harness = Harness(rounds: rounds)
    let results = Results(measurements: chosen.flatMap(harness.measure), idle: idle)
    print(words == nil ? results.table : Results.table(of: results.measurements))
    print("(checksum \(total.value))")

    if checks {
      let complaints = try Limits(readFrom: limitsFile).complaints(about: results)
      print(complaints.isEmpty ? "Allocations: all within their limits" : complaints.joined(separator: "\n"))
      if !complaints.isEmpty { exit(1) }
    } else if words == nil {
      try results.write(to: folder.appendingPathComponent("Results"))
    }
    if arguments.contains("--record") {
      // What was not measured keeps its limits.
      let kept = words == nil ? nil : try Limits(readFrom: limitsFile)
      try Limits(results, keeping: kept).write(to: limitsFile)
    }
  }
}
