import Expectations

#if Redis
  import Combine
  import Rebound
  import StreamSupport
  import Testing

  @testable import ReboundRedis

  @Suite(.needsRedis)
  struct FleetTests {
    @Test func theServerCountsTheMembers() async throws {
      let server = try RedisServer()
      var fleets = try await Fleet.joined(3, at: server)
      expectEqual(fleets[0].instances, 3)
      fleets.removeLast()
      await fleets[0].until { $0.instances == 2 }
    }

    @Test func theServerForgetsAtOnceWhoLeaves() async throws {
      let server = try RedisServer()
      let events = Log<FleetEvent>()
      var settings = FleetSettings.patient
      // Whoever only falls silent is known for three of these.
      settings.heartbeat = .seconds(600)
      let fleet = try Fleet("test", at: server.address, instances: 4, settings: settings)
      fleet.onEvent { events.write($0) }
      await fleet.until { $0.isJoined }
      let link = await Link.ready(server.address)
      let count = RedisCommand("ZCARD", "rebound:{test}:members")
      await expectEqual(link.send(count), .success(.integer(1)))
      await fleet.leave()
      await expectEqual(link.send(count), .success(.integer(0)))
      #expect(!fleet.isJoined)
      #expect(await fleet.ask(RedisCommand("ECHO", "7")) == nil)
      await fleet.leave()
      expectEqual(events.entries.filter { $0 == .left }.count, 1)
      expectEqual(events.entries.last, .left)
    }

    @Test func noHeartbeatBringsBackWhoHasLeft() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      await fleets[0].leave()
      await fleets[1].until { $0.instances == 1 }
      let beats = Log<Void>()
      await fleets[1].until { _ in beats.number(()) > 4 }
      expectEqual(fleets[1].instances, 1)
      #expect(!fleets[0].isJoined)
    }

    @Test func whoNeverReachedTheServerLeavesWithoutIt() async throws {
      let fleet = try Fleet("test", at: .tcp("127.0.0.1", port: 1), instances: 4)
      let events = Log<FleetEvent>()
      fleet.onEvent { events.write($0) }
      await fleet.leave()
      expectEqual(events.entries.filter { $0 == .left }.count, 1)
      expectEqual(events.entries.last, .left)
    }

    @Test func whoReachesNoServerSaysWhy() async throws {
      let fleet = try Fleet("test", at: .tcp("127.0.0.1", port: 1), instances: 4, settings: .patient)
      let events = Log<FleetEvent>()
      fleet.onEvent { events.write($0) }
      await events.until(1)
      guard case .fellBack(.connection) = events.entries[0] else {
        Issue.record("told \(events.entries)")
        return
      }
    }

    @Test func whoListensWhenItHasGivenUpHearsOfIt() async throws {
      var settings = FleetSettings.patient
      settings.reconnect = RetryPolicy(clamping: 0, backoff: .immediate)
      let fleet = try Fleet("test", at: .tcp("127.0.0.1", port: 1), instances: 4, settings: settings)
      let (early, late) = (Log<FleetEvent>(), Log<FleetEvent>())
      fleet.onEvent { early.write($0) }
      while !early.entries.contains(where: { if case .gaveUp = $0 { true } else { false } }) { await Task.yield() }
      fleet.onEvent { late.write($0) }
      await late.until(1)
      guard case .gaveUp(.connection) = late.entries[0] else {
        Issue.record("told \(late.entries)")
        return
      }
    }

    @Test func whoIsRefusedFromTheBeginningSaysSoAndNotAgainAndAgain() async throws {
      let server = try RedisServer("--requirepass", "secret")
      let proxy = try Proxy(to: server.port)
      let fleet = try Fleet("test", at: proxy.address, instances: 4, settings: .patient)
      let events = Log<FleetEvent>()
      fleet.onEvent { events.write($0) }
      await events.until(1)
      await proxy.untilConnected(6)
      // Twice if it was refused just while the observer came.
      #expect(events.count <= 2)
      for event in events.entries {
        guard case .fellBack(.refused(let text)) = event, text.contains("NOAUTH") else {
          Issue.record("told \(event)")
          continue
        }
      }
      #expect(!fleet.isJoined)
    }

    @Test func withoutAServerItIsNotJoined() async throws {
      let server = try RedisServer()
      server.kill()
      let fleet = try Fleet("test", at: server.address, instances: 4, settings: .patient)
      #expect(!fleet.isJoined)
      expectEqual(fleet.instances, 4)
      try server.start()
      await fleet.until { $0.isJoined }
      expectEqual(fleet.instances, 1)
    }

    @Test func aServerThatAnswersTooLateIsLeftAndJoinedAgain() async throws {
      let server = try RedisServer()
      let events = Log<FleetEvent>()
      let fleet = try Fleet("test", at: server.address, instances: 1, settings: .hasty)
      fleet.onEvent { events.write($0) }
      await fleet.until { $0.isJoined }
      server.freeze()
      await fleet.until { !$0.isJoined }
      server.thaw()
      await fleet.until { $0.isJoined }
      #expect(events.entries.contains(.fellBack(.timedOut(after: .milliseconds(20)))))
    }

    @Test func aServerThatIsFullIsLeft() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let link = await Link.ready(server.address)
      await expectEqual(link.send(RedisCommand("CONFIG", "SET", "maxmemory", "1")), .success(.status("OK")))
      await fleet.until { !$0.isJoined }
      await expectEqual(link.send(RedisCommand("CONFIG", "SET", "maxmemory", "0")), .success(.status("OK")))
      await fleet.until { $0.isJoined }
    }

    @Test func aNodeOfAClusterSaysThatAnotherOneHasTheKey() async throws {
      let server = try RedisServer()
      let events = Log<FleetEvent>()
      let fleet = try Fleet("test", at: server.address, instances: 1, settings: .patient)
      fleet.onEvent { events.write($0) }
      await fleet.until { $0.isJoined }
      // A script may answer as a node does.
      let node = RedisCommand("EVAL", "return redis.error_reply('MOVED 866 10.0.0.2:6379')", "0")
      #expect(await fleet.ask(node) == nil)
      expectEqual(events.entries.dropFirst(), [.refused(.moved("MOVED 866 10.0.0.2:6379"))])
      #expect(fleet.isJoined)
      #expect("\(RedisFailure.moved("MOVED 866 10.0.0.2:6379"))".contains("proxy"))
    }

    @Test func whatTheServerRefusesToOnePolicyIsDecidedByThatOneAlone() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let events = Log<FleetEvent>()
      fleets[0].onEvent { events.write($0) }
      let link = await Link.ready(server.address)
      await expectEqual(link.send(RedisCommand("LPUSH", "rebound:{test:spoilt}:rate", "x")), .success(.integer(1)))
      let spoilt = try fleets[0].rateLimiter("spoilt", policy: .tokenBucket(1_000, per: .seconds(3_600)))
      let well = try fleets.map { try $0.rateLimiter("well", policy: .tokenBucket(10, per: .seconds(3_600))) }
      var (decidedHere, decidedThere) = (0, 0)
      for _ in 0..<60 {
        if (try? await spoilt.run { true }) == true { decidedHere += 1 }
        for limiter in well where (try? await limiter.run { true }) == true { decidedThere += 1 }
      }
      // Of the one its share, which is enough for all; of the other what there is for both.
      expectEqual(decidedHere, 60)
      expectEqual(decidedThere, 10)
      guard events.count == 1, case .refused(.refused(let text)) = events.entries[0], text.contains("WRONGTYPE") else {
        Issue.record("told \(events.entries)")
        return
      }
    }

    @Test func aPrimaryThatHasBecomeAReplicaIsLeftForTheOneBehindTheAddress() async throws {
      let (old, new) = (try RedisServer(), try RedisServer())
      let proxy = try Proxy(to: old.port)
      let fleet = try Fleet("test", at: proxy.address, instances: 1, settings: .patient)
      await fleet.until { $0.isJoined }
      let events = Log<FleetEvent>()
      fleet.onEvent { events.write($0) }
      proxy.lead(to: new.port)
      let link = await Link.ready(old.address)
      await expectEqual(link.send(RedisCommand("REPLICAOF", "127.0.0.1", "1")), .success(.status("OK")))
      await events.until(2)
      guard case .fellBack(.refused(let text)) = events.entries[0], text.contains("READONLY"),
        case .joined = events.entries[1]
      else {
        Issue.record("told \(events.entries)")
        return
      }
    }

    @Test func aReplicaIsAskedAgainOverNewConnectionsUntilItTakesChanges() async throws {
      let server = try RedisServer()
      let proxy = try Proxy(to: server.port)
      let fleet = try Fleet("test", at: proxy.address, instances: 1, settings: .patient)
      await fleet.until { $0.isJoined }
      let link = await Link.ready(server.address)
      await expectEqual(link.send(RedisCommand("REPLICAOF", "127.0.0.1", "1")), .success(.status("OK")))
      await proxy.untilConnected(4)
      #expect(!fleet.isJoined)
      await expectEqual(link.send(RedisCommand("REPLICAOF", "NO", "ONE")), .success(.status("OK")))
      await fleet.until { $0.isJoined }
    }

    @Test func whatAReplicaHasSaidIsNoReasonToLeaveTheServerBehindTheNextConnection() async throws {
      let (old, new) = (try RedisServer(), try RedisServer())
      let link = await Link.ready(old.address)
      await expectEqual(link.send(RedisCommand("REPLICAOF", "127.0.0.1", "1")), .success(.status("OK")))
      let proxy = try Proxy(to: old.port)
      var settings = FleetSettings.patient
      // Nothing but a new connection is a reason for a heartbeat, not even that the fleet was made: that one may come later.
      settings.probeInterval = .seconds(600)
      let isMade = Locked(false)
      let time = TimeSource(
        now: { TimeSource.system.now },
        after: { isMade.exchange(true) ? TimeSource.system.after($0, $1) : AnyCancellable {} }
      )
      // It says nothing before somebody listens.
      old.freeze()
      let fleet = try Fleet("test", at: proxy.address, instances: 1, settings: settings, time: time)
      let events = Log<FleetEvent>()
      fleet.onEvent { events.write($0) }
      old.thaw()
      await events.until(1)
      guard case .fellBack(.refused(let text)) = events.entries[0], text.contains("READONLY") else {
        Issue.record("told \(events.entries)")
        return
      }
      // As Sentinel has it: the replica ends its connections, and the address leads to the new primary.
      proxy.lead(to: new.port)
      proxy.drop()
      await fleet.until { $0.isJoined }
      expectEqual(proxy.connectionCount, 2)
    }

    @Test func whatMakesNoSenseMakesTheConnectionAnew() async throws {
      let server = try RedisServer()
      let proxy = try Proxy(to: server.port)
      let events = Log<FleetEvent>()
      let fleet = try Fleet("test", at: proxy.address, instances: 1, settings: .patient)
      fleet.onEvent { events.write($0) }
      await fleet.until { $0.isJoined }
      // From here on each answer is that of the question before.
      proxy.inject(Array("+PONG\r\n".utf8))
      await events.until(2)
      guard case .fellBack = events.entries[1] else {
        Issue.record("told \(events.entries)")
        return
      }
      await fleet.until { $0.isJoined }
      #expect(proxy.connectionCount > 1)
      await expectEqual(fleet.ask(RedisCommand("ECHO", "7")), .bytes(Array("7".utf8)))
    }

    @Test func anAnswerTooFewMakesTheConnectionAnew() async throws {
      let server = try RedisServer()
      let proxy = try Proxy(to: server.port)
      let fleet = try Fleet("test", at: proxy.address, instances: 1, settings: .hasty)
      await fleet.until { $0.isJoined }
      server.freeze()
      // What comes next is one answer out of two, and each later one is too late for its own question.
      proxy.inject(Array("*2\r\n".utf8))
      await fleet.until { !$0.isJoined }
      server.thaw()
      await fleet.until { $0.isJoined }
      #expect(proxy.connectionCount > 1)
    }

    @Test func aServerThatHasForgottenAllIsToldAgain() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let link = await Link.ready(server.address)
      await expectEqual(link.send(RedisCommand("SCRIPT", "FLUSH")), .success(.status("OK")))
      await expectEqual(link.send(RedisCommand("FLUSHALL")), .success(.status("OK")))
      let beats = Log<Void>()
      await fleets[0].until { $0.isJoined && $0.instances == 2 && beats.number(()) > 4 }
      withExtendedLifetime(fleets) {}
    }

    @Test func nothingLastsByTheClockOfAServerThatWasAhead() async throws {
      let server = try RedisServer()
      let link = await Link.ready(server.address)
      let (members, peak) = ("rebound:{test}:members", "rebound:{test}:peak")
      let (votes, places) = ("rebound:{test:weather}:votes", "rebound:{test:db}:places")
      // In the year 2100, as far as that one knew.
      let future = "4102444800000"
      for key in [members, votes, places] {
        await expectEqual(link.send(RedisCommand("ZADD", key, future, "dead")), .success(.integer(1)))
      }
      await expectEqual(link.send(RedisCommand("SET", peak, "9", "PXAT", future)), .success(.status("OK")))
      let fleet = try await Fleet.joined(1, at: server)[0]
      let breaker = try fleet.circuitBreaker("weather", policy: .consecutive(2))
      let bulkhead = try fleet.bulkhead("db", policy: BulkheadPolicy(maxConcurrent: 2), lease: .seconds(3_600))
      try await bulkhead.run {}
      let beats = Log<Void>()
      await fleet.until { _ in beats.number(()) > 3 }
      _ = await fleet.ask(RedisCommand("PING"))
      for key in [members, votes, places] {
        await expectEqual(link.send(RedisCommand("ZCOUNT", key, future, "+inf")), .success(.integer(0)))
      }
      #expect(try #require(try await link.send(RedisCommand("PTTL", peak)).get().integer) <= 300_000)
      // What was held there is held for a lease, since its owner may be alive.
      await expectEqual(link.send(RedisCommand("ZCARD", places)), .success(.integer(1)))
      withExtendedLifetime(breaker) {}
    }

    @Test(arguments: ["", "a{b", "}"])
    func aNameThatWouldBreakTheKeysIsRefused(name: String) throws {
      #expect(throws: InvalidPolicy.self) { try Fleet(name, at: .tcp("127.0.0.1", port: 1), instances: 1) }
    }

    @Test func fleetsAndPoliciesWhoseNamesTogetherReadTheSameAreApart() throws {
      let fleet = try Fleet("shop", at: .tcp("127.0.0.1", port: 1), instances: 1)
      let other = try Fleet("shop:eu", at: .tcp("127.0.0.1", port: 1), instances: 1)
      expectEqual(fleet.key("weather"), "rebound:{shop:weather}:")
      #expect(fleet.key("eu:weather") != other.key("weather"))
      #expect(fleet.key("eu:weather") != fleet.key("eu%3Aweather"))
      // A colon and what is put above it are one character.
      let third = try Fleet("shop:\u{301}eu", at: .tcp("127.0.0.1", port: 1), instances: 1)
      #expect(fleet.key("\u{301}eu:weather") != third.key("weather"))
    }

    @Test func settingsThatMakeNoSenseAreRefused() {
      var settings = FleetSettings.standard
      settings.bound = .zero
      expectEqual(#expect(throws: InvalidPolicy.self) { try settings.validate() }?.setting, "bound")
      #expect(throws: InvalidPolicy.self) { try Fleet("test", at: .tcp("127.0.0.1", port: 1), instances: 0) }
    }
  }
#endif
