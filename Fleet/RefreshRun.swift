#if Redis
  import Foundation
  import Rebound
  import ReboundRedis

  /// Processes whose credential is refused at the same time, and that miss the same value: how many renew it, and fetch.
  struct RefreshRun {
    private let instances: Int
    private let requests: Int
    private let port: Int

    init(_ command: Command) throws {
      instances = try command.number("instances", 10)
      requests = try command.number("requests", 100)
      port = try command.number("port", 7415)
    }

    func run() async throws {
      let server = try await Server(port: port)
      let witness = try await Witness(port: port)
      let words = ["refresh-member", "--port", "\(port)", "--instances", "\(instances)", "--requests", "\(requests)"]
      let members = try (0..<instances).map { _ in try Child(CommandLine.arguments[0], words) }
      while try await witness.ask("SCARD", "done").integer ?? 0 < instances { try await pause(0.05) }
      let refreshes = try await witness.numbers("refreshes").count
      let fetches = try await witness.numbers("fetches").count
      let answers = try await witness.numbers("answers").reduce(0, +)
      for member in members { member.kill() }
      server.kill()
      say("\(instances) processes, \(requests) requests each: \(answers) answers, \(refreshes) refresh, \(fetches) fetch")
      guard answers == instances * requests, refreshes == 1, fetches == 1 else {
        throw Failed(description: "more than one refresh or fetch, or answers are missing")
      }
    }
  }

  /// A process that asks for many things at the same time.
  struct RefreshMember {
    private struct Unauthorised: Error {}

    private let instances: Int
    private let requests: Int
    private let port: Int

    init(_ command: Command) throws {
      instances = try command.number("instances", 10)
      requests = try command.number("requests", 100)
      port = try command.number("port", 7415)
    }

    func run() async throws {
      let witness = try await Witness(port: port)
      var settings = FleetSettings.standard
      // Ten processes begin on two processors: what they agree on is to be seen, and not when they give up.
      settings.bound = .seconds(10)
      settings.silenceLimit = .seconds(20)
      let fleet = try Fleet("run", at: .tcp("127.0.0.1", port: port), instances: instances, settings: settings)
      while !fleet.isJoined || fleet.instances < instances { try await pause(0.01) }
      let session = TokenRefresher<Int>(store: try fleet.credentials("session", isSame: ==)) { request in
        do {
          _ = try await witness.ask("RPUSH", "refreshes", "1")
          try await pause(0.1)
          return .refreshed(request.credential + 1)
        } catch { return .failed(error) }
      }
      session.signIn(with: 1)
      let cache = Cache<String, Int, any Error>(
        policy: try CachePolicy(fresh: .seconds(60)),
        storage: try fleet.cacheStorage("values", of: String.self)
      )
      let answers = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<requests {
          group.addTask {
            let value = try await cache.value(for: "value") {
              _ = try await witness.ask("RPUSH", "fetches", "1")
              try await pause(0.1)
              return 7
            }
            return try await session.run(when: { $0 is Unauthorised }) { token in
              guard token == 2, value.value == 7 else { throw Unauthorised() }
              return 1
            }
          }
        }
        return try await group.reduce(0, +)
      }
      _ = try await witness.ask("RPUSH", "answers", "\(answers)")
      _ = try await witness.ask("SADD", "done", "\(ProcessInfo.processInfo.processIdentifier)")
      while true { try await pause(1) }
    }
  }
#endif
