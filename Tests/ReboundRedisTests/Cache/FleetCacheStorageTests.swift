import Expectations

#if Redis
  import Rebound
  import Testing

  @testable import ReboundRedis

  @Suite(.needsRedis)
  struct FleetCacheStorageTests {
    private typealias Forecasts = Cache<String, Int, any Error>
    private typealias Storage = FleetCacheStorage<String, Int>

    private let good = CacheLifetime(fresh: .seconds(3_600), staleWhileRevalidate: .seconds(3_600))

    private func storage(_ fleet: Fleet, lease: Duration = .seconds(60)) throws -> Storage {
      try fleet.cacheStorage("forecasts", of: String.self, as: Int.self, lease: lease)
    }

    /// Waits until the server has done what was told before on the same connection.
    private func settled(_ fleets: Fleet...) async {
      for fleet in fleets { _ = await fleet.ask(RedisCommand("PING")) }
    }

    @Test func oneCallServesAllProcesses() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(10, at: server)
      let policy = try CachePolicy(fresh: .seconds(3_600))
      let caches = try fleets.map { Forecasts(policy: policy, storage: try storage($0)) }
      let calls = Log<Void>()
      let values = await withTaskGroup(of: Int?.self) { group in
        for number in 0..<1_000 {
          group.addTask {
            try? await caches[number % 10].value(for: "oslo") {
              calls.write(())
              return 7
            }.value
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      expectEqual(values, [Int?](repeating: 7, count: 1_000))
      expectEqual(calls.count, 1)
    }

    @Test func aClaimIsGivenToOneAndEndsWithTheValue() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let storages = try fleets.map { try storage($0) }
      let first = await storages[0].look("oslo")
      #expect(first.stored == nil)
      let claim = try #require(first.claim)
      async let other = storages[1].look("oslo")
      storages[0].store(7, lifetime: good, for: "oslo", under: claim)
      await expectEqual(other.stored?.value, 7)
      #expect(await other.claim == nil)
      await expectEqual(storages[1].peek("oslo")?.lifetime, good)
      #expect(await storages[1].peek("bern") == nil)
    }

    @Test func whatIsStaleServesAllWhileOneFetches() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let storages = try fleets.map { try storage($0) }
      let stale = CacheLifetime(fresh: .zero, staleWhileRevalidate: .seconds(3_600))
      storages[0].store(7, lifetime: stale, for: "oslo", under: nil)
      let first = await storages[0].look("oslo")
      expectEqual(first.stored?.value, 7)
      let claim = try #require(first.claim)
      let second = await storages[1].look("oslo")
      #expect(second.stored?.value == 7 && second.claim == nil)
      storages[0].release(claim, for: "oslo")
      await settled(fleets[0])
      #expect(await storages[1].look("oslo").claim != nil)
    }

    @Test func whoComesBackAfterItsLeaseStoresNothing() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let (late, early) = (try storage(fleets[0], lease: .milliseconds(50)), try storage(fleets[1]))
      let first = try #require(await late.look("oslo").claim)
      // Waits until the first one's lease is over.
      let second = try #require(await early.look("oslo").claim)
      late.store(1, lifetime: good, for: "oslo", under: first)
      late.release(first, for: "oslo")
      await settled(fleets[0])
      early.store(2, lifetime: good, for: "oslo", under: second)
      await settled(fleets[1])
      await expectEqual(early.peek("oslo")?.value, 2)
    }

    @Test func aKeyIsForgottenForAll() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let storages = try fleets.map { try storage($0) }
      storages[0].store(7, lifetime: good, for: "{oslo}", under: nil)
      await settled(fleets[0])
      await expectEqual(storages[1].peek("{oslo}")?.value, 7)
      storages[1].remove("{oslo}")
      await settled(fleets[1])
      #expect(await storages[0].peek("{oslo}") == nil)
    }

    @Test func storagesWhoseNamesAndKeysTogetherReadTheSameAreApart() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let users = try fleet.cacheStorage("users", of: String.self, as: Int.self)
      users.store(1, lifetime: good, for: "admin:1", under: nil)
      for name in ["users:admin", "users%3Aadmin"] {
        let admins = try fleet.cacheStorage(name, of: String.self, as: Int.self)
        #expect(await admins.peek("1") == nil)
        admins.store(2, lifetime: good, for: "1", under: nil)
      }
      await settled(fleet)
      await expectEqual(users.peek("admin:1")?.value, 1)
    }

    @Test func anEntryExpiresWhenItIsGoodForNothing() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let storage = try storage(fleet)
      // So long that no busy machine sees the end of it.
      let lifetime = CacheLifetime(
        fresh: .seconds(10_000),
        staleWhileRevalidate: .seconds(20_000),
        staleIfError: .seconds(30_000)
      )
      storage.store(7, lifetime: lifetime, for: "oslo", under: nil)
      await settled(fleet)
      let link = await Link.ready(server.address)
      let left = await link.send(RedisCommand("PTTL", "rebound:{test:forecasts:oslo}:entry"))
      #expect((1...40_000_000).contains(try left.get().integer ?? 0))
      _ = await storage.look("bern")
      let claimed = await link.send(RedisCommand("PTTL", "rebound:{test:forecasts:bern}:entry"))
      #expect((1...60_000).contains(try claimed.get().integer ?? 0))
    }

    @Test func aValueByTheClockOfAServerThatWasAheadAgesFromWhenItIsSeen() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let storage = try storage(fleet)
      storage.store(7, lifetime: good, for: "oslo", under: nil)
      await settled(fleet)
      let link = await Link.ready(server.address)
      let key = "rebound:{test:forecasts:oslo}:entry"
      let before = await link.send(RedisCommand("HGET", key, "stored"))
      // In the year 2100, as far as that one knew.
      let ahead = RedisCommand("HSET", key, "stored", "4102444800000")
      await expectEqual(link.send(ahead), .success(.integer(0)))
      let finding = await storage.look("oslo")
      #expect(finding.stored?.age == .zero && finding.claim == nil)
      guard case .success(.bytes(let first)) = before,
        case .success(.bytes(let now)) = await link.send(RedisCommand("HGET", key, "stored"))
      else {
        Issue.record("there is no moment")
        return
      }
      let moments = try [first, now].map { try #require(Int(String(decoding: $0, as: UTF8.self))) }
      // Some moments later by the clock of this one.
      #expect((moments[0]..<moments[0] + 3_600_000).contains(moments[1]))
    }

    @Test func withoutTheServerEachProcessFetches() async throws {
      let server = try RedisServer()
      server.kill()
      let fleet = try Fleet("test", at: server.address, instances: 2, settings: .patient)
      let cache = Forecasts(policy: try CachePolicy(fresh: .seconds(60)), storage: try storage(fleet))
      try await expectEqual(cache.value(for: "oslo") { 7 }.value, 7)
      try await expectEqual(cache.value(for: "oslo") { 8 }.value, 7)
    }

    @Test func whatAnotherVersionHasStoredIsFetchedAnew() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let words = try fleet.cacheStorage("forecasts", of: String.self, as: String.self)
      words.store("warm", lifetime: good, for: "oslo", under: nil)
      let finding = try await storage(fleet).look("oslo")
      #expect(finding.stored == nil)
      // A value is there, and so nobody has the claim: each process fetches until it is over.
      #expect(finding.claim == nil)
      #expect(fleet.isJoined)
    }

    @Test func nonsenseInTheEntryIsNoAnswer() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let link = await Link.ready(server.address)
      await expectEqual(
        link.send(RedisCommand("SET", "rebound:{test:forecasts:oslo}:entry", "warm")),
        .success(.status("OK"))
      )
      let finding = try await storage(fleet).look("oslo")
      #expect(finding.stored == nil && finding.claim == nil)
    }

    @Test func aKeyRunsOnceInAllProcesses() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(4, at: server)
      let keys = try fleets.map {
        try IdempotencyKeys<Int>(keptFor: .seconds(3_600), storage: try $0.cacheStorage("orders", of: String.self))
      }
      let calls = Log<Void>()
      let answers = await withTaskGroup(of: Int?.self) { group in
        for number in 0..<200 {
          group.addTask { try? await keys[number % 4].run("order \(number % 5)") { calls.number(()) } }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      expectEqual(calls.count, 5)
      expectEqual(answers.compactMap { $0 }.sorted(), (1...5).flatMap { [Int](repeating: $0, count: 40) })
      server.kill()
      await fleets[0].until { !$0.isJoined }
      await #expect(throws: IdempotencyKeyUnknown(key: "order 0")) { try await keys[0].run("order 0") { 7 } }
    }

    @Test func lastGoodValuesAreThoseOfAllProcesses() async throws {
      struct Down: Error {}
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let stores = try fleets.map {
        try LastGood<String, Int>(storage: try $0.cacheStorage("latest", of: String.self))
      }
      stores[0].remember(7, for: "oslo")
      await settled(fleets[0])
      let answer = try await stores[1].run(for: "oslo") { throw Down() }
      #expect(answer.value == 7 && answer.reason is Down)
      server.kill()
      await fleets[0].until { !$0.isJoined }
      try await expectEqual(stores[0].run(for: "oslo") { throw Down() }.value, 7)
    }

    @Test func leasesThatMakeNoSenseAreRefused() throws {
      let fleet = try Fleet("test", at: .tcp("127.0.0.1", port: 1), instances: 1)
      #expect(throws: InvalidPolicy.self) { try storage(fleet, lease: .zero) }
      #expect(throws: InvalidPolicy.self) { try fleet.cacheStorage("{", of: String.self, as: Int.self) }
    }
  }
#endif
