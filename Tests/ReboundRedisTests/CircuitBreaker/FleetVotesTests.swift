import Expectations

#if Redis
  import Rebound
  import ReboundTesting
  import Testing

  @testable import ReboundRedis

  @Suite(.needsRedis)
  struct FleetVotesTests {
    private struct Failure: Error {}

    private func breakers(_ fleets: [Fleet], openFor openTime: Duration = .seconds(3_600)) throws -> [CircuitBreaker] {
      try fleets.map { try $0.circuitBreaker("weather", policy: .consecutive(2, openFor: openTime)) }
    }

    private func fail(_ breaker: CircuitBreaker) throws {
      for _ in 0..<2 { try breaker.acquire().fail(with: Failure()) }
    }

    @Test func whenMoreThanHalfHaveOpenedAllDo() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(3, at: server)
      let breakers = try breakers(fleets)
      for breaker in breakers.prefix(2) { try fail(breaker) }
      await fleets[2].until { _ in breakers[2].state == .open }
      #expect(throws: CircuitOpen.self) { try breakers[2].acquire() }
    }

    @Test func aMemberWhoseBreakerStaysOpenForLessFollowsAllTheSame() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(3, at: server)
      let others = try breakers(Array(fleets.prefix(2)))
      let breaker = try breakers([fleets[2]], openFor: .seconds(600))[0]
      let events = Log<FleetEvent>()
      fleets[2].onEvent { events.write($0) }
      for other in others { try fail(other) }
      await fleets[2].until { _ in breaker.state == .open || events.count > 0 }
      expectEqual(breaker.state, .open)
      #expect(events.entries.isEmpty)
      let refusal = #expect(throws: CircuitOpen.self) { try breaker.acquire() }
      #expect(try #require(refusal?.retryAfter) <= .seconds(600))
    }

    @Test func severalBreakersOfOneNameInAProcessAreOneVoteForWhatOneOfThemHasFound() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let (fleet, other) = (fleets[0], try breakers([fleets[1]])[0])
      var own = try breakers([fleet, fleet])
      let link = await Link.ready(server.address)
      let votes = RedisCommand("ZCARD", "rebound:{test:weather}:votes")
      func expectVotes(_ count: Int) async {
        let beats = Log<Void>()
        await fleet.until { _ in beats.number(()) > 3 }
        _ = await fleet.ask(RedisCommand("PING"))
        await expectEqual(link.send(votes), .success(.integer(count)))
      }
      try fail(own[0])
      await expectVotes(1)
      try fail(own[1])
      await expectVotes(1)
      expectEqual(other.state, .closed)
      own[0].close()
      await expectVotes(1)
      own[1].close()
      await expectVotes(0)
      // One that is gone has found nothing.
      try fail(own[0])
      own.removeFirst()
      await expectVotes(0)
    }

    @Test func aMemberWithABrokenNetworkOpensItsOwnOnly() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(3, at: server)
      let breakers = try breakers(fleets)
      try fail(breakers[0])
      let beats = Log<Void>()
      await fleets[1].until { _ in beats.number(()) > 10 }
      expectEqual(breakers.map(\.state), [.open, .closed, .closed])
    }

    @Test func anOpeningByTheClockOfAServerThatWasAheadIsForgotten() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(3, at: server)
      let link = await Link.ready(server.address)
      let key = "rebound:{test:weather}:open"
      // In the year 2100, as far as that one knew.
      await expectEqual(link.send(RedisCommand("SET", key, "4102444800.5")), .success(.status("OK")))
      let breakers = try breakers(fleets)
      let beats = Log<Void>()
      await fleets[2].until { _ in beats.number(()) > 5 }
      expectEqual(breakers.map(\.state), [.closed, .closed, .closed])
      await expectEqual(link.send(RedisCommand("EXISTS", key)), .success(.integer(0)))
      // What the votes say from here on holds.
      for breaker in breakers.prefix(2) { try fail(breaker) }
      await fleets[2].until { _ in breakers[2].state == .open }
    }

    @Test func aBreakerThatFollowsDoesNotVote() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(3, at: server)
      let breakers = try breakers(fleets)
      for breaker in breakers.prefix(2) { try fail(breaker) }
      await fleets[2].until { _ in breakers[2].state == .open }
      let link = await Link.ready(server.address)
      let beats = Log<Void>()
      await fleets[2].until { _ in beats.number(()) > 5 }
      await expectEqual(link.send(RedisCommand("ZCARD", "rebound:{test:weather}:votes")), .success(.integer(2)))
    }

    @Test func aMemberAndItsVoteStayBesideThoseWithAFasterHeartbeat() async throws {
      let server = try RedisServer()
      var settings = FleetSettings.patient
      settings.heartbeat = .seconds(600)
      let slow = try await Fleet.joined(1, at: server, settings: settings)[0]
      let fleet = try await Fleet.joined(1, at: server)[0]
      let breakers = try breakers([slow, fleet])
      for breaker in breakers { try fail(breaker) }
      for fleet in [slow, fleet] { _ = await fleet.ask(RedisCommand("PING")) }
      let beats = Log<Void>()
      await fleet.until { _ in beats.number(()) > 3 }
      let link = await Link.ready(server.address)
      for key in ["rebound:{test}:members", "rebound:{test:weather}:votes"] {
        #expect(try #require(try await link.send(RedisCommand("PTTL", key)).get().integer) > 60_000)
      }
    }

    @Test func aBreakerThatClosesTakesItsVoteBack() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(3, at: server)
      let breakers = try breakers(fleets)
      try fail(breakers[0])
      breakers[0].close()
      // What is told before a heartbeat is known with its answer.
      let before = Log<Void>()
      await fleets[0].until { _ in before.number(()) > 3 }
      try fail(breakers[1])
      let after = Log<Void>()
      await fleets[2].until { _ in after.number(()) > 10 }
      expectEqual(breakers[2].state, .closed)
    }

    @Test func aBreakerThatAsksAgainTakesItsVoteBack() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let breaker = try breakers([fleet], openFor: .milliseconds(100))[0]
      try fail(breaker)
      await fleet.until { _ in breaker.state == .halfOpen }
      let beats = Log<Void>()
      await fleet.until { _ in beats.number(()) > 3 }
      let link = await Link.ready(server.address)
      await expectEqual(link.send(RedisCommand("ZCARD", "rebound:{test:weather}:votes")), .success(.integer(0)))
    }

    @Test func aQuorumIsOfAllThatThereWereOfLate() async throws {
      let server = try RedisServer()
      var fleets = try await Fleet.joined(3, at: server)
      await fleets[0].until { $0.electorate == 3 }
      fleets.removeLast(2)
      await fleets[0].until { $0.instances == 1 }
      expectEqual(fleets[0].electorate, 3)
    }

    @Test func afterAWhileThoseThatWereCountNoMore() async throws {
      let server = try RedisServer()
      var settings = FleetSettings.patient
      settings.peakMemory = .milliseconds(200)
      var fleets = try await Fleet.joined(3, at: server, settings: settings)
      fleets.removeLast(2)
      await fleets[0].until { $0.electorate == 1 }
      expectEqual(fleets[0].instances, 1)
    }

    @Test func theSimulatedServerCountsAsTheScriptDoes() async throws {
      let server = try RedisServer()
      let link = await Link.ready(server.address, scripts: [FleetBallot.script])
      var random = SeededRandom(seed: 7)
      for round in 0..<20 {
        let simulated = SimulatedBallotServer(
          heartbeat: .seconds(3_600),
          openTime: .seconds(3_600),
          peakMemory: .seconds(3_600)
        )
        for _ in 0..<20 {
          let (member, enough) = (Int.random(in: 0..<6, using: &random), Int.random(in: 2...6, using: &random))
          let isFor = Bool.random(using: &random)
          var vote = RedisCommand(FleetBallot.script, keys: ["{\(round)}votes", "{\(round)}open"])
          vote.add("\(member)")
          vote.add(isFor ? 1 : 0)
          vote.add(10_800_000)
          vote.add(enough)
          vote.add(3_600_000)
          let expected = simulated.vote(member, isFor: isFor, enough: enough, at: .zero)
          guard case .success(.array(let items)) = await link.send(vote), let name = items.first else {
            Issue.record("no answer")
            return
          }
          expectEqual(name == .bytes([]), expected == nil)
        }
      }
    }

    @Test func withoutTheServerABreakerGoesByItself() async throws {
      let server = try RedisServer()
      server.kill()
      let fleet = try Fleet("test", at: server.address, instances: 3, settings: .patient)
      let breaker = try breakers([fleet])[0]
      try fail(breaker)
      expectEqual(breaker.state, .open)
    }

    @Test(arguments: [(1, 2), (2, 2), (3, 2), (4, 3), (10, 6)])
    func aMajorityIsMoreThanHalfAndTwoAtLeast(instances: Int, votes: Int) {
      expectEqual(Quorum.majority.votes(of: instances), votes)
    }

    @Test func aQuorumOfOneIsRefused() throws {
      expectEqual(#expect(throws: InvalidPolicy.self) { try Quorum.share(0.5, atLeast: 1) }?.setting, "minimum")
      expectEqual(#expect(throws: InvalidPolicy.self) { try Quorum.share(1.5) }?.setting, "share")
      try expectEqual(Quorum.share(1).votes(of: 4), 4)
    }
  }
#endif
