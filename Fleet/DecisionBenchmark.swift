#if Redis
  import Foundation
  import Rebound
  import ReboundRedis

  /// What a decision of a fleet costs beside the bare command, over one connection each, in one run.
  struct DecisionBenchmark {
    private let count: Int
    private let port: Int
    private static let tasks = 1_000

    init(_ command: Command) throws {
      count = try command.number("count", 200_000)
      port = try command.number("port", 7412)
    }

    func run() async throws {
      let server = try await Server(port: port)
      let address = RedisAddress.tcp("127.0.0.1", port: port)
      var settings = FleetSettings.standard
      settings.bound = .seconds(60)
      settings.silenceLimit = .seconds(60)
      let fleet = try Fleet("benchmark", at: address, instances: 1, settings: settings)
      while !fleet.isJoined { try await pause(0.01) }
      let policy = try RateLimiterPolicy.tokenBucket(1_000_000, per: .seconds(1))
      let shared = try fleet.rateLimiter("decision", policy: policy)
      let script = FleetRateLimiter.script
      let loop = RedisLoop(
        .init(
          address: address,
          connectLimit: .seconds(5),
          silenceLimit: .seconds(60),
          maxWaiting: 100_000,
          reconnect: .standard,
          scripts: [script]
        )
      ) { _ in }
      loop.start()
      var bare = RedisCommand(script, keys: ["bare", "pause"])
      for argument in ["1.0", "999999.0", "0.0"] { bare.add(argument) }
      let command = bare
      let send: @Sendable () async throws -> Void = {
        let reply = try await loop.send(command, limit: .seconds(60)).get()
        guard reply == .integer(0) else { throw RedisFailure.unexpected("\(reply)") }
      }
      while (try? await send()) == nil { try await pause(0.01) }
      say("per decision, \(Self.tasks) at the same time    CPU ns    per second")
      var ratios: [Double] = []
      for _ in 0..<9 {
        let first = try await measure("bare EVALSHA", send)
        let second = try await measure("decision of a limiter") { try await shared.run {} }
        guard fleet.isJoined else { throw RedisFailure.disconnected }
        ratios.append(second / first)
      }
      say(String(format: "decision / bare, median of nine: %.2f", ratios.sorted()[4]))
      server.kill()
      while fleet.isJoined { try await pause(0.01) }
      let local = RateLimiter("local", policy: policy)
      for _ in 0..<3 {
        let own = try await measure("local limiter") { try await local.run {} }
        let alone = try await measure("decision, server gone") { try await shared.run {} }
        say(String(format: "more than the local one: %.0f ns", alone - own))
      }
      loop.close()
    }

    private func measure(_ name: String, _ body: @escaping @Sendable () async throws -> Void) async throws -> Double {
      let (cpu, start) = (processTime, TimeSource.system.now)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<Self.tasks {
          group.addTask { for _ in 0..<count / Self.tasks { try await body() } }
        }
        try await group.waitForAll()
      }
      let nanoseconds = (processTime - cpu) * 1e9 / Double(count)
      let rate = Double(count) / (TimeSource.system.now - start).inSeconds
      let padded = name.padding(toLength: 36, withPad: " ", startingAt: 0)
      say(padded + String(format: "%10.0f %13.0f", nanoseconds, rate))
      return nanoseconds
    }

    /// In seconds, of all threads.
    private var processTime: Double {
      var usage = rusage()
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
      return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    }
  }
#endif
