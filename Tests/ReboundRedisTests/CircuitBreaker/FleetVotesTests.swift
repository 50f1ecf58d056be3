#if Redis
  import Rebound
  import Testing

  @testable import ReboundRedis

  @Suite(.needsRedis)
  struct FleetVotesTests {
    private struct Failure: Error {}

    private func breakers(_ fleets: [Fleet], openFor openTime: Duration = .seconds(3_600)) throws -> [CircuitBreaker] {
      try fleets.map { try $0.circuitBreaker("weather", policy: .consecutive(2, openFor: openTime)) }
    }

    private func fail(_ breaker: CircuitBreaker) throws {
      for _ in 0..<2 { try breaker.admit().fail(with: Failure()) }
    }

    @Test func whenMoreThanHalfHaveOpenedAllDo() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(3, at: server)
      let breakers = try breakers(fleets)
      for breaker in breakers.prefix(2) { try fail(breaker) }
      await fleets[2].until { _ in breakers[2].state == .open }
      #expect(throws: CircuitOpen.self) { try breakers[2].admit() }
    }

    @Test func aMemberWithABrokenNetworkOpensItsOwnOnly() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(3, at: server)
      let breakers = try breakers(fleets)
      try fail(breakers[0])
      let beats = Log<Void>()
      await fleets[1].until { _ in beats.number(()) > 10 }
      #expect(breakers.map(\.state) == [.open, .closed, .closed])
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
      #expect(await link.send(RedisCommand("ZCARD", "rebound:{test:weather}:votes")) == .success(.integer(2)))
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
      #expect(breakers[2].state == .closed)
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
      #expect(await link.send(RedisCommand("ZCARD", "rebound:{test:weather}:votes")) == .success(.integer(0)))
    }

    @Test func withoutTheServerABreakerGoesByItself() async throws {
      let server = try RedisServer()
      server.kill()
      let fleet = try Fleet("test", at: server.address, instances: 3, settings: .patient)
      let breaker = try breakers([fleet])[0]
      try fail(breaker)
      #expect(breaker.state == .open)
    }

    @Test(arguments: [(1, 2), (2, 2), (3, 2), (4, 3), (10, 6)])
    func aMajorityIsMoreThanHalfAndTwoAtLeast(instances: Int, votes: Int) {
      #expect(Quorum.majority.votes(of: instances) == votes)
    }

    @Test func aQuorumOfOneIsRefused() throws {
      #expect(throws: InvalidPolicy.self) { try Quorum.share(0.5, atLeast: 1) }
      #expect(throws: InvalidPolicy.self) { try Quorum.share(1.5) }
      #expect(try Quorum.share(1).votes(of: 4) == 4)
    }
  }
#endif
