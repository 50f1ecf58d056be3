import Expectations

#if Redis
  import Foundation
  import Rebound
  import ReboundOutbox
  import Testing

  @testable import ReboundRedis

  @Suite(.needsRedis)
  struct FleetOutboxStorageTests {
    private func records(_ numbers: Int...) -> [Data] { numbers.map { Data([UInt8($0), 0, 13, 10]) } }

    @Test func whatOneProcessStoresAnotherOneReads() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let storages = try fleets.map { try $0.outboxStorage("orders") }
      #expect(try storages[0].open().records.isEmpty)
      try storages[0].append(records(1, 2), durably: true)
      try storages[0].append(records(3), durably: false)
      #expect(throws: OutboxStorageFailure.inUse("rebound:{test:orders}:records")) { try storages[1].open() }
      storages[0].close()
      // The connection of the one and that of the other are not in step.
      var contents = try? storages[1].open()
      while contents == nil { contents = try? storages[1].open() }
      expectEqual(contents?.records, records(1, 2, 3))
      try storages[1].replace(with: records(3))
      storages[1].close()
      #expect(throws: OutboxStorageFailure.notReady("rebound:{test:orders}:records")) {
        try storages[1].append(records(4), durably: true)
      }
    }

    @Test func anotherProcessTakesOverFromADeadOne() async throws {
      let server = try RedisServer()
      var fleets = try await Fleet.joined(2, at: server)
      let heir = try fleets[1].outboxStorage("orders", lease: .milliseconds(200))
      var dead: FleetOutboxStorage? = try fleets[0].outboxStorage("orders", lease: .milliseconds(200))
      _ = try dead?.open()
      try dead?.append(records(1), durably: true)
      dead = nil
      fleets.removeFirst()
      var contents = try? heir.open()
      while contents == nil { contents = try? heir.open() }
      expectEqual(contents?.records, records(1))
    }

    @Test func whoWasTakenForDeadStoresNothing() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let storage = try fleet.outboxStorage("orders")
      _ = try storage.open()
      let link = await Link.ready(server.address)
      await expectEqual(link.send(RedisCommand("SET", "rebound:{test:orders}:owner", "heir")), .success(.status("OK")))
      #expect(throws: OutboxStorageFailure.inUse("rebound:{test:orders}:records")) {
        try storage.append(records(1), durably: true)
      }
    }

    @Test func whoWasTakenForDeadStoresNothingWhenItsHeirHasGoneEither() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let (dead, heir) = (try fleets[0].outboxStorage("orders"), try fleets[1].outboxStorage("orders"))
      _ = try dead.open()
      try dead.append(records(1), durably: true)
      let link = await Link.ready(server.address)
      var contents: OutboxContents?
      while contents == nil {
        // As if its lease were over; until the heir is there, a heartbeat renews it.
        _ = await link.send(RedisCommand("DEL", "rebound:{test:orders}:owner"))
        contents = try? heir.open()
      }
      expectEqual(contents?.records, records(1))
      try heir.replace(with: records(2))
      heir.close()
      let beats = Log<Void>()
      await fleets[0].until { _ in beats.number(()) > 4 }
      #expect(throws: OutboxStorageFailure.inUse("rebound:{test:orders}:records")) {
        try dead.append(records(3), durably: true)
      }
      #expect(throws: OutboxStorageFailure.inUse("rebound:{test:orders}:records")) { try dead.replace(with: []) }
      try expectEqual(heir.open().records, records(2))
    }

    @Test func aLeaseThatIsOverIsTakenUpAgainIfNobodyHasTakenTheOutbox() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let storage = try fleet.outboxStorage("orders")
      _ = try storage.open()
      let link = await Link.ready(server.address)
      let owner = "rebound:{test:orders}:owner"
      await expectEqual(link.send(RedisCommand("DEL", owner)), .success(.integer(1)))
      try storage.append(records(1), durably: true)
      while await link.send(RedisCommand("EXISTS", owner)) != .success(.integer(1)) {}
      try storage.append(records(2), durably: true)
    }

    @Test func anOutboxWhoseRecordsCannotBeReadIsLetGoOf() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let storages = try fleets.map { try $0.outboxStorage("orders", lease: .seconds(3_600)) }
      let link = await Link.ready(server.address)
      let records = "rebound:{test:orders}:records"
      await expectEqual(link.send(RedisCommand("SET", records, "no list")), .success(.status("OK")))
      #expect(throws: OutboxStorageFailure.self) { try storages[0].open() }
      await expectEqual(link.send(RedisCommand("DEL", records)), .success(.integer(1)))
      // Behind the release on the same connection.
      _ = await fleets[0].ask(RedisCommand("PING"))
      #expect(try storages[1].open().records.isEmpty)
    }

    @Test func theHeartbeatKeepsTheOutbox() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let storage = try fleet.outboxStorage("orders", lease: .seconds(3_600))
      _ = try storage.open()
      let link = await Link.ready(server.address)
      let owner = "rebound:{test:orders}:owner"
      await expectEqual(link.send(RedisCommand("EXPIRE", owner, "1800")), .success(.integer(1)))
      while try await link.send(RedisCommand("TTL", owner)).get().integer ?? 0 <= 1_800 {}
      try storage.append(records(1), durably: true)
    }

    @Test(arguments: [false, true])
    func whereNoServerWillDecideNobodyWaitsForOne(hasLeft: Bool) async throws {
      var settings = FleetSettings.patient
      settings.connectLimit = .seconds(600)
      if !hasLeft { settings.reconnect = RetryPolicy(clamping: 1, backoff: .constant(.milliseconds(5))) }
      let fleet = try Fleet("test", at: .tcp("127.0.0.1", port: 1), instances: 1, settings: settings)
      let storage = try fleet.outboxStorage("orders")
      if hasLeft { await fleet.leave() }
      // While it gives up, and when it has.
      for _ in 1...2 { #expect(throws: OutboxStorageFailure.self) { try storage.open() } }
    }

    /// From a connection that was given up: out of the memory of a proxy, say, or of the system, which goes on sending.
    @Test(arguments: [false, true])
    func whatArrivesBehindALaterChangeChangesNothing(isReplacement: Bool) async throws {
      let server = try RedisServer()
      let proxy = try Proxy(to: server.port)
      let fleet = try Fleet("test", at: proxy.address, instances: 1, settings: .patient)
      await fleet.until { $0.isJoined }
      let storage = try fleet.outboxStorage("orders", lease: .seconds(3_600))
      _ = try storage.open()
      proxy.keep(whatContains: Array("late".utf8))
      #expect(throws: OutboxStorageFailure.self) {
        let late = [Data("late".utf8)]
        if isReplacement { try storage.replace(with: late) } else { try storage.append(late, durably: true) }
      }
      // As an outbox does after a failure, until the server is back.
      while (try? storage.replace(with: records(1))) == nil {}
      try storage.append(records(2), durably: true)
      try proxy.sendKept()
      try storage.append(records(3), durably: true)
      let link = await Link.ready(server.address)
      let stored = await link.send(RedisCommand("LRANGE", "rebound:{test:orders}:records", "0", "-1"))
      expectEqual(stored, .success(.array(records(1, 2, 3).map { .bytes([UInt8]($0)) })))
    }

    @Test func withoutTheServerItThrows() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let storage = try fleet.outboxStorage("orders")
      _ = try storage.open()
      server.kill()
      #expect(throws: OutboxStorageFailure.self) { try storage.append(records(1), durably: true) }
    }
  }
#endif
