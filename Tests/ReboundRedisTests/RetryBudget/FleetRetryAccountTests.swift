import Expectations

#if Redis
  import Rebound
  import Testing

  @testable import ReboundRedis

  @Suite(.needsRedis)
  struct FleetRetryAccountTests {
    private struct Failure: Error {}

    private func retry(_ budget: RetryBudget) async -> RetryBudget.Retry? {
      await withCheckedContinuation { continuation in
        budget.account.ask(at: TimeSource.current.now) { continuation.resume(returning: $0) }
      }
    }

    @Test func theRequestsOfOneMemberAreTheRetriesOfAnother() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let budgets = try fleets.map { try $0.budget("weather", ratio: 0.1, window: .seconds(3_600), floor: 0) }
      for _ in 0..<100 { budgets[0].begin() }
      let first = try #require(await retry(budgets[0]))
      var granted: [RetryBudget.Retry] = []
      for _ in 0..<30 { if let retry = await retry(budgets[1]) { granted.append(retry) } }
      expectEqual(granted.count, 9)
      expectEqual(budgets[1].snapshot().denied, 21)
      withExtendedLifetime(first) {}
    }

    @Test func allRetriesTogetherAreAShareOfAllRequests() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(5, at: server)
      let budgets = try fleets.map { try $0.budget("weather", ratio: 0.1, window: .seconds(3_600), floor: 0) }
      let calls = Log<Int>()
      // Very unequal: each has four times the load of the one before.
      await withTaskGroup(of: Void.self) { group in
        for (number, budget) in budgets.enumerated() {
          let policy = RetryPolicy<any Error>(clamping: 3, backoff: .constant(.zero)).within(budget)
          for _ in 0..<(1 << (2 * number)) * 3 {
            group.addTask {
              try? await policy.run {
                calls.write(number)
                throw Failure()
              }
            }
          }
        }
      }
      let requests = budgets.indices.reduce(0) { $0 + (1 << (2 * $1)) * 3 }
      #expect(calls.count <= requests + requests / 10)
      #expect(calls.count >= requests + requests / 10 - 5)
    }

    @Test func aRetryThatIsCancelledIsGivenBack() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let budget = try fleet.budget("weather", ratio: 0, window: .seconds(3_600), floor: 1)
      let first = try #require(await retry(budget))
      #expect(await retry(budget) == nil)
      first.giveBack()
      let second = try #require(await retry(budget))
      second.begin()
      #expect(await retry(budget) == nil)
    }

    @Test func whatIsGivenBackTooLateMakesNoKeyThatStays() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let budget = try fleet.budget("weather", ratio: 0, window: .seconds(3_600), floor: 1)
      let first = try #require(await retry(budget))
      let link = await Link.ready(server.address)
      let key = "rebound:{test:weather}:budget:360000"
      // As if its time were over.
      await expectEqual(link.send(RedisCommand("DEL", key)), .success(.integer(1)))
      first.giveBack()
      // Behind it on the same connection.
      _ = await fleet.ask(RedisCommand("PING"))
      await expectEqual(link.send(RedisCommand("EXISTS", key)), .success(.integer(0)))
    }

    @Test func aWindowThatIsMadeLongerBeginsAnew() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let before = try fleet.budget("weather", ratio: 0, window: .seconds(600), floor: 1)
      let first = try #require(await retry(before))
      let after = try fleet.budget("weather", ratio: 0, window: .seconds(3_600), floor: 1)
      let second = try #require(await retry(after))
      #expect(await retry(after) == nil)
      withExtendedLifetime([first, second]) {}
    }

    @Test func whatAServerWhoseClockWasAheadHasCountedIsForgotten() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let budget = try fleet.budget("weather", ratio: 0, window: .seconds(3_600), floor: 1)
      let link = await Link.ready(server.address)
      let key = "rebound:{test:weather}:budget:360000"
      await expectEqual(link.send(RedisCommand("HSET", key, "r99999999999", "5")), .success(.integer(1)))
      let granted = try #require(await retry(budget))
      #expect(await retry(budget) == nil)
      await expectEqual(link.send(RedisCommand("HLEN", key)), .success(.integer(1)))
      withExtendedLifetime(granted) {}
    }

    @Test func whatIsGrantedHereCountsThereToo() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let budget = try fleet.budget("weather", ratio: 0.1, window: .seconds(3_600), floor: 0)
      for _ in 0..<100 { budget.begin() }
      // As hedges are, and retries while it is alone.
      let own = (0..<20).compactMap { _ in budget.grant() }
      expectEqual(own.count, 10)
      #expect(await retry(budget) == nil)
    }

    @Test func whatIsGrantedHereIsToldThereOnce() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let budget = try fleet.budget("weather", ratio: 0.1, window: .seconds(3_600), floor: 0)
      for _ in 0..<100 { budget.begin() }
      let own = (0..<3).compactMap { _ in budget.grant() }
      expectEqual(own.count, 3)
      var granted: [RetryBudget.Retry] = []
      for _ in 0..<20 { if let retry = await retry(budget) { granted.append(retry) } }
      expectEqual(granted.count, 7)
      withExtendedLifetime(own) {}
    }

    @Test func aRetryThatIsGrantedTooLateIsGivenBack() async throws {
      let server = try RedisServer()
      let patient = try await Fleet.joined(1, at: server)[0]
      let hasty = try await Fleet.joined(1, at: server, settings: .hasty)[0]
      // Of two, each has no retry of its own.
      await hasty.until { $0.isJoined && $0.instances == 2 }
      let budgets = try [hasty, patient].map {
        try $0.budget("weather", ratio: 0, window: .seconds(3_600), floor: 1)
      }
      server.freeze()
      #expect(await retry(budgets[0]) == nil)
      server.thaw()
      // It has joined by an answer behind the late one, and what it has given back goes before this on the same connection.
      await hasty.until { $0.isJoined }
      _ = await hasty.loop.send(RedisCommand("PING"), limit: .seconds(60))
      let retry = try #require(await retry(budgets[1]))
      withExtendedLifetime(retry) {}
    }

    @Test func whatIsGrantedThereCountsHereToo() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server, instances: 1)[0]
      let budget = try fleet.budget("weather", ratio: 0.1, window: .seconds(3_600), floor: 0)
      for _ in 0..<100 { budget.begin() }
      var granted: [RetryBudget.Retry] = []
      for _ in 0..<8 { granted.append(try #require(await retry(budget))) }
      server.kill()
      await fleet.until { !$0.isJoined }
      expectEqual((0..<20).compactMap { _ in budget.grant() }.count, 2)
      withExtendedLifetime(granted) {}
    }

    @Test func theHeartbeatTellsOfRequests() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let budgets = try fleets.map { try $0.budget("weather", ratio: 1, window: .seconds(3_600), floor: 0) }
      budgets[0].begin()
      var retry = await retry(budgets[1])
      while retry == nil { retry = await self.retry(budgets[1]) }
      retry?.begin()
    }

    @Test func requestsWhileItWasAloneAreNoAccountForLaterRetries() async throws {
      let server = try RedisServer()
      server.kill()
      let fleet = try Fleet("test", at: server.address, instances: 1, settings: .patient)
      let budget = try fleet.budget("weather", ratio: 1, window: .seconds(3_600), floor: 0)
      for _ in 0..<100 { budget.begin() }
      try server.start()
      await fleet.until { $0.isJoined }
      #expect(await retry(budget) == nil)
    }

    @Test func withoutTheServerAMemberGoesByItsOwnRequests() async throws {
      let server = try RedisServer()
      server.kill()
      let fleet = try Fleet("test", at: server.address, instances: 3, settings: .patient)
      let budget = try fleet.budget("weather", ratio: 0.1, window: .seconds(3_600), floor: 6)
      #expect(!budget.account.answersLater)
      for _ in 0..<10 { budget.begin() }
      var granted: [RetryBudget.Retry] = []
      while let retry = budget.grant() { granted.append(retry) }
      // Its part of the floor, and a tenth of its requests.
      expectEqual(granted.count, 3)
    }

    @Test func numbersThatAreAsGoodAsEndlessAreCountedWith() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let budget = try fleet.budget("weather", ratio: 1e300, window: .seconds(Int64.max), floor: .max)
      budget.begin()
      // As hedges are.
      let own = try #require(budget.grant())
      let retry = try #require(await retry(budget))
      #expect(budget.snapshot().available > 1_000_000)
      expectEqual(Duration.seconds(-1).milliseconds, 0)
      withExtendedLifetime([own, retry]) {}
    }

    @Test func whatWasGrantedAloneIsToldHoweverGreatTheRatio() async throws {
      let server = try RedisServer()
      server.kill()
      let fleet = try Fleet("test", at: server.address, instances: 1, settings: .patient)
      let budget = try fleet.budget("weather", ratio: 1e300, window: .seconds(3_600), floor: 0)
      budget.begin()
      let own = try #require(budget.grant())
      try server.start()
      await fleet.until { $0.isJoined }
      budget.begin()
      let retry = try #require(await retry(budget))
      withExtendedLifetime([own, retry]) {}
    }

    @Test func aPipelineTakesTheSharedBudget() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let budget = try fleet.budget("weather", ratio: 0, window: .seconds(3_600), floor: 2)
      let calls = Log<Void>()
      let pipeline = try Pipeline<Int>("weather") {
        Retry(RetryPolicy<any Error>(clamping: 5, backoff: .constant(.zero)), budget: budget)
      }
      await #expect(throws: Failure.self) {
        try await pipeline.run {
          calls.write(())
          throw Failure()
        }
      }
      expectEqual(calls.count, 3)
    }
  }
#endif
