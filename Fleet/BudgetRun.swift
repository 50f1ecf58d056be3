#if Redis
  import Foundation
  import Rebound
  import ReboundRedis
  import StreamSupport

  /// Processes of very unequal load, whose calls all fail: how many attempts one budget makes of their requests.
  struct BudgetRun {
    private let instances: Int
    private let seconds: Int
    private let port: Int
    static let ratio = 0.1

    init(_ command: Command) throws {
      instances = try command.number("instances", 10)
      seconds = try command.number("seconds", 30)
      port = try command.number("port", 7416)
    }

    func run() async throws {
      let server = try await Server(port: port)
      let members = try startMembers(instances, ["--port", "\(port)"], as: "budget-member")
      try await pause(Double(seconds), noting: "all calls fail")
      for member in members { member.kill() }
      server.kill()
      // The last line of each has all of its requests and attempts.
      let counts = members.map { $0.lines.last?.split(separator: " ").compactMap { Int($0) } ?? [] }
      guard counts.allSatisfy({ $0.count == 3 }) else { throw Failed(description: "a process has said nothing") }
      let (requests, attempts) = (counts.reduce(0) { $0 + $1[0] }, counts.reduce(0) { $0 + $1[1] })
      let amplification = Double(attempts) / Double(max(requests, 1))
      let loads = counts.map { "\($0[0])" }.joined(separator: ", ")
      say("\(instances) processes with \(loads) requests: \(attempts) attempts")
      say("The server was too slow, and they decided by themselves, \(counts.reduce(0) { $0 + $1[2] }) times.")
      say(String(format: "amplification %.4f; the budget allows %.4f", amplification, 1 + Self.ratio))
      guard amplification <= (1 + Self.ratio) * 1.01 else { throw Failed(description: "more retries than allowed") }
    }
  }

  /// A process whose calls all fail.
  struct BudgetMember {
    private struct Down: Error {}

    private final class Counts: Sendable {
      private let state = Locked((requests: 0, attempts: 0, fallBacks: 0))

      var all: (Int, Int, Int) { state.withLock { ($0.requests, $0.attempts, $0.fallBacks) } }
      func fellBack() { state.withLock { $0.fallBacks += 1 } }
      func requested() { state.withLock { $0.requests += 1 } }
      func attempted() { state.withLock { $0.attempts += 1 } }
    }

    private let number: Int
    private let port: Int

    init(_ command: Command) throws {
      number = try command.number("number", 1)
      port = try command.number("port", 7416)
    }

    func run() async throws {
      let fleet = try Fleet("run", at: .tcp("127.0.0.1", port: port), instances: 10)
      let counts = Counts()
      fleet.onEvent { if case .fellBack = $0 { counts.fellBack() } }
      while !fleet.isJoined { try await pause(0.01) }
      let budget = try fleet.budget("service", ratio: BudgetRun.ratio, floor: 0)
      let policy = RetryPolicy<any Error>(clamping: 3, backoff: .constant(.milliseconds(5))).within(budget)
      // The tenth process has twenty times the load of the first.
      let callsPerTick = number * number / 5 + 1
      while true {
        try await pause(0.02)
        for _ in 0..<callsPerTick {
          Task {
            counts.requested()
            do {
              try await policy.run {
                counts.attempted()
                throw Down()
              }
            } catch {
              // All fail: the attempts are what the run is about.
            }
          }
        }
        let (requests, attempts, fallBacks) = counts.all
        say("\(requests) \(attempts) \(fallBacks)")
      }
    }
  }
#endif
