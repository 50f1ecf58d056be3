import Foundation

/// Prints what a value costs on its way through each chain, beside a plain loop and `AsyncStream` in the same run.
///
///     scripts/benchmark [rounds] [--check | --record | --only words]
@main
enum Benchmarks {
  static func main() throws {
    // Some C libraries leave out the atomic part of a lock until a second thread exists; nobody measures that.
    let never = DispatchSemaphore(value: 0)
    let companion = Thread { never.wait() }
    companion.start()

    let arguments = CommandLine.arguments.dropFirst()
    let checks = arguments.contains("--check")
    let rounds = arguments.compactMap(Int.init).first ?? (checks ? 3 : 15)
    // The script goes to the package's folder first.
    let folder = URL(fileURLWithPath: FileManager.default.currentDirectoryPath).appendingPathComponent("Benchmarks")
    let limitsFile = folder.appendingPathComponent("Limits.json")

    let total = Total()
    if let flag = arguments.firstIndex(of: "--only"), let words = arguments[flag...].dropFirst().first {
      let chosen = Workloads.all(total).filter { $0.name.contains(words) }
      print(Results.table(of: Harness(rounds: rounds).measure(chosen)))
      return
    }
    let idle = IdleSubscription.measure()
    let results = Results(measurements: Harness(rounds: rounds).measure(Workloads.all(total)), idle: idle)
    print(results.table)
    print("(checksum \(total.value))")

    if checks {
      let complaints = try Limits(readFrom: limitsFile).complaints(about: results)
      print(complaints.isEmpty ? "Allocations: all within their limits" : complaints.joined(separator: "\n"))
      if !complaints.isEmpty { exit(1) }
    } else {
      try results.write(to: folder.appendingPathComponent("Results"))
    }
    if arguments.contains("--record") { try Limits(results).write(to: limitsFile) }
  }
}
