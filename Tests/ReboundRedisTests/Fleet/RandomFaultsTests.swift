#if Redis
  import Foundation
  import Rebound
  import ReboundTesting
  import StreamSupport
  import Testing

  @testable import ReboundRedis

  /// A fleet whose server and network fail at random, while calls go on.
  ///
  /// `scripts/fleet faults 10000` runs it for longer.
  @Suite(.needsRedis)
  struct RandomFaultsTests {
    private enum Fault: CaseIterable {
      case freeze, kill, sleep, full, forget, drop, garbage, answerTooMany, kickOut
    }

    /// Counts the calls that have ended, and lets a test wait for more of them.
    private final class Progress: Sendable {
      private struct State {
        var count = 0
        var isOver = false
        var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?
      }

      private let state = Locked(State())

      var isOver: Bool { state.withLock { $0.isOver } }
      func end() { state.withLock { $0.isOver = true } }

      func callEnded() {
        let due: CheckedContinuation<Void, Never>? = state.withLock { state in
          state.count += 1
          guard let waiter = state.waiter, state.count >= waiter.count else { return nil }
          state.waiter = nil
          return waiter.continuation
        }
        due?.resume()
      }

      /// Returns when so many more calls have ended.
      func more(_ count: Int) async {
        await withCheckedContinuation { continuation in
          state.withLock { $0.waiter = ($0.count + count, continuation) }
        }
      }
    }

    private static let faults = LongRun("FLEET_FAULTS", usual: 60)

    /// The memory of this process, in bytes.
    private static var memory: Int {
      let words = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
      return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * Int(getpagesize())
    }

    @Test func callsGoOnWhateverTheServerDoes() async throws {
      let server = try RedisServer()
      let proxy = try Proxy(to: server.port)
      var settings = FleetSettings.hasty
      settings.silenceLimit = .milliseconds(100)
      settings.connectLimit = .milliseconds(200)
      let fleet = try Fleet("test", at: proxy.address, instances: 2, settings: settings)
      await fleet.until { $0.isJoined }
      let progress = Progress()
      let bulkhead = try fleet.bulkhead("db", policy: BulkheadPolicy(maxConcurrent: 4), lease: .seconds(1))
      let calls = try makeCalls(fleet, bulkhead)
      var random = SeededRandom(seed: 17)
      var memoryWhenWarm = 0
      try await withThrowingTaskGroup(of: Void.self) { group in
        for call in calls {
          group.addTask {
            while !progress.isOver {
              await call()
              progress.callEnded()
              await Task.yield()
            }
          }
        }
        for number in 0..<Self.faults.count {
          if number == Self.faults.count / 4 { memoryWhenWarm = Self.memory }
          let fault = try #require(Fault.allCases.randomElement(using: &random))
          try await inflict(fault, server, proxy, progress, &random)
          Self.faults.note(number + 1)
        }
        // A fault may be noticed late.
        await progress.more(calls.count)
        progress.end()
        try await group.waitForAll()
      }
      await fleet.until { $0.isJoined }
      #expect(Self.memory - memoryWhenWarm < 64 << 20)
      // No place is lost for longer than its lease.
      let running = Log<Void>()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            var isIn = false
            while !isIn {
              do {
                try await bulkhead.run {
                  running.write(())
                  await running.until(4)
                }
                isIn = true
              } catch { await Task.yield() }
            }
          }
        }
      }
    }

    /// Calls of each kind, which end in one way or the other.
    private func makeCalls(_ fleet: Fleet, _ bulkhead: FleetBulkhead) throws -> [@Sendable () async -> Void] {
      struct Failure: Error {}
      let limiter = try fleet.rateLimiter("search", policy: .tokenBucket(1_000, per: .seconds(1)))
      let retry = RetryPolicy<any Error>(clamping: 2, backoff: .constant(.zero))
        .within(try fleet.budget("weather", ratio: 0.5))
      let breaker = try fleet.circuitBreaker("weather", policy: .consecutive(3, openFor: .milliseconds(10)))
      let cache = Cache<Int, Int, any Error>(
        policy: try CachePolicy(fresh: .milliseconds(5), staleWhileRevalidate: .milliseconds(5)),
        storage: try fleet.cacheStorage("forecasts", of: Int.self, lease: .milliseconds(100))
      )
      let keys = try IdempotencyKeys<Int>(
        keptFor: .milliseconds(5),
        storage: try fleet.cacheStorage("orders", of: String.self, lease: .milliseconds(100))
      )
      let session = TokenRefresher<Int>(
        store: try fleet.credentials("session", lease: .milliseconds(100), isSame: ==)
      ) { .refreshed($0.credential + 1) }
      session.signIn(with: 1)
      return [
        { try? await limiter.run {} },
        { try? await bulkhead.run { await Task.yield() } },
        { try? await retry.run { throw Failure() } },
        { try? await breaker.run { throw Failure() } },
        { _ = try? await cache.value(for: 1) { 1 } },
        { _ = try? await keys.run("order") { 1 } },
        {
          let seen = session.credential ?? 0
          _ = try? await session.run(when: { $0 is Failure }) { token in if token == seen { throw Failure() } }
        },
        {
          let task = Task { try await limiter.run {} }
          task.cancel()
          _ = try? await task.value
        },
      ]
    }

    /// Breaks something, lets calls go on, and mends it.
    private func inflict(
      _ fault: Fault,
      _ server: RedisServer,
      _ proxy: Proxy,
      _ progress: Progress,
      _ random: inout SeededRandom
    ) async throws {
      switch fault {
      case .freeze:
        server.freeze()
        await progress.more(50)
        server.thaw()
      case .kill:
        server.kill()
        await progress.more(50)
        try server.start()
      case .drop: proxy.drop()
      case .garbage:
        proxy.inject(
          (0..<Int.random(in: 1..<64, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        )
      case .answerTooMany:
        let answers = [
          ":1\r\n", "$-1\r\n", "*3\r\n:1\r\n:2\r\n:3\r\n", "-ERR\r\n", "+OK\r\n", ":-9223372036854775808\r\n",
        ]
        proxy.inject(Array(try #require(answers.randomElement(using: &random)).utf8))
      case .sleep, .full, .forget, .kickOut:
        let link = await Link.ready(server.address)
        let words: [RedisCommand] =
          switch fault {
          case .sleep: [RedisCommand("DEBUG", "SLEEP", "0.03")]
          case .full: [RedisCommand("CONFIG", "SET", "maxmemory", "1")]
          case .forget: [RedisCommand("SCRIPT", "FLUSH"), RedisCommand("FLUSHALL")]
          default: [RedisCommand("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")]
          }
        for command in words { _ = await link.send(command) }
        guard case .full = fault else { break }
        await progress.more(50)
        _ = await link.send(RedisCommand("CONFIG", "SET", "maxmemory", "0"))
      }
      await progress.more(50)
    }
  }
#endif
