#if Redis
  import Foundation
  import StreamSupport

  /// Ten processes with one limit, two of which are killed: how many calls begin within any second.
  ///
  /// The server's own log of all its commands is the witness: each call that begins, or has its moment reserved, sets the
  /// key of the limit once, to that moment and an interval more first.
  struct LimitRun {
    private let seconds: Int
    private let instances: Int
    private let rate: Int
    private let port: Int

    init(_ command: Command) throws {
      seconds = try command.number("seconds", 60)
      instances = try command.number("instances", 10)
      rate = try command.number("rate", 1_000)
      port = try command.number("port", 7411)
    }

    func run() async throws {
      say("\(instances) processes, a limit of \(rate) calls per second, \(seconds) s, two killed on the way")
      say("policies     calls   most in any second   per second on average")
      try await run(local: false)
      try await run(local: true)
    }

    private func run(local: Bool) async throws {
      let server = try await Server(port: port)
      let moments = MomentLog()
      let interval = 1e6 / Double(rate)
      let monitor = try Child("/usr/bin/redis-cli", ["-p", "\(port)", "MONITOR"]) { line in
        // 1700000000.123456 [0 lua] "SET" "rebound:{run:limit}:rate" "1700000000124456.000 1000.0 1700000000123456" "PX" "1"
        let words = line.split(separator: "\"")
        guard words.count > 5, words[1] == "SET", words[3].hasSuffix(":rate"),
          let full = words[5].split(separator: " ").first.flatMap({ Double($0) })
        else { return }
        moments.add((full - interval) / 1e3)
      }
      // A guess: there are half as many processes.
      let share = local ? max(rate / max(instances / 2, 1), 1) : rate
      let arguments = ["--port", "\(port)", "--rate", "\(share)"]
      let members = try startMembers(instances, arguments + ["--policies", local ? "local" : "fleet"])
      let stage = local ? "[2/2] a limit in each process" : "[1/2] one limit for all"
      try await pause(Double(seconds) / 2, noting: "\(stage), all processes")
      for member in members.prefix(2) { member.kill() }
      try await pause(Double(seconds) / 2, noting: "\(stage), two killed")
      for member in members.dropFirst(2) { member.kill() }
      monitor.kill()
      server.kill()
      if local {
        for line in members.flatMap(\.lines) {
          if let moment = line.split(separator: " ").last.flatMap({ Double($0) }) { moments.add(moment) }
        }
      }
      let sorted = moments.moments.sorted()
      // What was reserved by processes that were killed at the end counts, too: it was promised.
      var (most, first) = (0, 0)
      for index in sorted.indices {
        while sorted[index] - sorted[first] >= 1_000 { first += 1 }
        most = max(most, index - first + 1)
      }
      let length = max(((sorted.last ?? 0) - (sorted.first ?? 0)) / 1_000, 0.001)
      let name = (local ? "local" : "fleet").padding(toLength: 8, withPad: " ", startingAt: 0)
      say("\(name) \(String(format: "%9d %20d %23.0f", sorted.count, most, Double(sorted.count) / length))")
    }
  }

  private final class MomentLog: Sendable {
    private let log = Locked<[Double]>([])

    var moments: [Double] { log.withLock { $0 } }

    func add(_ moment: Double) { log.withLock { $0.append(moment) } }
  }
#endif
