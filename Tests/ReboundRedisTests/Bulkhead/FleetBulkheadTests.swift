import Expectations

#if Redis
  import Combine
  import Rebound
  import ReboundTesting
  import Testing

  @testable import ReboundRedis

  @Suite(.needsRedis)
  struct FleetBulkheadTests {
    /// A call that runs until it is told to end.
    private final class Call: Sendable {
      private let task: Task<Bool, Never>
      private let (gate, opener) = AsyncStream<Void>.makeStream()

      init(_ bulkhead: FleetBulkhead, running: Log<Void>) {
        let gate = gate
        task = Task {
          do {
            try await bulkhead.run {
              running.write(())
              for await _ in gate {}
            }
            return true
          } catch { return false }
        }
      }

      func end() async -> Bool {
        opener.finish()
        return await task.value
      }

      func cancel() { task.cancel() }
      func result() async -> Bool { await task.value }
    }

    @Test func allMembersShareThePlaces() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let bulkheads = try fleets.map { try $0.bulkhead("db", policy: BulkheadPolicy(maxConcurrent: 3)) }
      let running = Log<Void>()
      let calls = [0, 1, 0].map { Call(bulkheads[$0], running: running) }
      await running.until(3)
      for bulkhead in bulkheads {
        let refusal = await #expect(throws: BulkheadFull.self) { try await bulkhead.run {} }
        expectEqual(refusal?.limit, 3)
      }
      #expect(await calls[0].end())
      // The place is free as soon as the server has been told, on the same connection.
      try await bulkheads[0].run {}
      for call in calls.dropFirst() { #expect(await call.end()) }
    }

    @Test func whoWaitsIsLetInInOrder() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let events = Log<BulkheadEvent>()
      let bulkhead = try fleet.bulkhead("db", policy: BulkheadPolicy(maxConcurrent: 1, maxQueue: 2))
        .onEvent { events.write($0) }
      let running = Log<Void>()
      let first = Call(bulkhead, running: running)
      await running.until(1)
      let order = Log<Int>()
      var waiting: [Task<Void, any Error>] = []
      for number in 1...2 {
        waiting.append(Task { try await bulkhead.run { order.write(number) } })
        await events.until(1 + number)
      }
      await #expect(throws: BulkheadFull.self) { try await bulkhead.run {} }
      expectEqual(bulkhead.snapshot, .init(running: 1, queued: 2, limit: 1))
      #expect(await first.end())
      for task in waiting { try await task.value }
      expectEqual(order.entries, [1, 2])
    }

    @Test func aPlaceThatComesForSomebodyWhoHasGoneIsGivenBack() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let bulkhead = try fleet.bulkhead("db", policy: BulkheadPolicy(maxConcurrent: 1))
      server.freeze()
      let pending = bulkhead.ask(ExecutionContext(time: nil)) { _ in }
      pending?.cancel()
      server.thaw()
      // Behind the answer, on the same connection.
      _ = await fleet.ask(RedisCommand("PING"))
      try await bulkhead.run {}
    }

    @Test func whoAsksForThePlaceThatAnotherOneGetsWaitsForTheNext() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let bulkhead = try fleet.bulkhead("db", policy: BulkheadPolicy(maxConcurrent: 1, maxQueue: 2))
      let execution = ExecutionContext(time: nil)
      let places = Log<FleetBulkhead.Place>()
      let ask = { bulkhead.ask(execution) { if case .success(let place) = $0 { places.write(place) } } }
      let first = ask()
      await places.until(1)
      server.freeze()
      // The server refuses the second one before it hears that the place is free, and grants it in answer to the third one.
      let second = ask()
      bulkhead.settle(places.entries[0], .succeeded, execution)
      let third = ask()
      server.thaw()
      await places.until(2)
      try #require(bulkhead.snapshot == .init(running: 1, queued: 1, limit: 1))
      bulkhead.settle(places.entries[1], .succeeded, execution)
      await places.until(3)
      bulkhead.settle(places.entries[2], .succeeded, execution)
      expectEqual(bulkhead.snapshot, .init(running: 0, queued: 0, limit: 1))
      withExtendedLifetime([first, second, third]) {}
    }

    @Test func aPlaceOfAnotherMemberIsTakenWhenItIsFree() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let events = Log<BulkheadEvent>()
      let policy = try BulkheadPolicy(maxConcurrent: 1, maxQueue: 1)
      let bulkheads = try fleets.map { try $0.bulkhead("db", policy: policy) }
      bulkheads[1].onEvent { events.write($0) }
      let running = Log<Void>()
      let first = Call(bulkheads[0], running: running)
      await running.until(1)
      let second = Call(bulkheads[1], running: running)
      await events.until(1)
      #expect(await first.end())
      await running.until(2)
      #expect(await second.end())
    }

    @Test func theLongestWaitEnds() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let policy = try BulkheadPolicy(maxConcurrent: 1, maxQueue: 1, maxWait: .milliseconds(30))
      let bulkhead = try fleet.bulkhead("db", policy: policy)
      let running = Log<Void>()
      let first = Call(bulkhead, running: running)
      await running.until(1)
      let refusal = await #expect(throws: BulkheadFull.self) { try await bulkhead.run {} }
      expectEqual(refusal?.waited, .milliseconds(30))
      #expect(await first.end())
    }

    @Test func whatACallHasWaitedForTheServerIsAPartOfItsLongestWait() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server, instances: 1)[0]
      let (events, scheduler) = (Log<BulkheadEvent>(), TestScheduler())
      let policy = try BulkheadPolicy(maxConcurrent: 1, maxQueue: 1, maxWait: .seconds(10))
      let bulkhead = try fleet.bulkhead("db", policy: policy).onEvent { events.write($0) }
      let running = Log<Void>()
      let first = Call(bulkhead, running: running)
      await running.until(1)
      let answers = Log<Result<FleetBulkhead.Place, any Error>>()
      let waiting = bulkhead.ask(ExecutionContext(time: scheduler.time)) { answers.write($0) }
      await events.until(2)
      server.kill()
      await fleet.until { !$0.isJoined }
      // It has the one place that this process has alone.
      let second = Call(bulkhead, running: running)
      await running.until(2)
      let queued = events.entries.count + 1
      // The server is asked again, which has the call go on alone.
      scheduler.advance(by: .seconds(6))
      await events.until(queued)
      scheduler.advance(by: .seconds(4))
      let refusal = #expect(throws: BulkheadFull.self) { try answers.entries.first?.get() }
      expectEqual(refusal?.waited, .seconds(10))
      for call in [first, second] { #expect(await call.end()) }
      withExtendedLifetime(waiting) {}
    }

    @Test func whoeverCancelsWaitsNoMore() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let events = Log<BulkheadEvent>()
      let bulkhead = try fleet.bulkhead("db", policy: BulkheadPolicy(maxConcurrent: 1, maxQueue: 1))
        .onEvent { events.write($0) }
      let running = Log<Void>()
      let first = Call(bulkhead, running: running)
      await running.until(1)
      let second = Call(bulkhead, running: running)
      await events.until(2)
      second.cancel()
      #expect(await !second.result())
      #expect(await first.end())
      expectEqual(bulkhead.snapshot, .init(running: 0, queued: 0, limit: 1))
      try await bulkhead.run {}
    }

    @Test func thePlacesOfADeadMemberComeBackWithTheirLease() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(1, at: server)
      let bulkhead = try fleets[0].bulkhead(
        "db",
        policy: BulkheadPolicy(maxConcurrent: 1, maxQueue: 1),
        lease: .milliseconds(200)
      )
      // As a process that was killed has left it.
      let link = await Link.ready(server.address)
      var dead = RedisCommand(FleetBulkhead.script, keys: ["rebound:{test:db}:places"])
      for word in ["dead", "1", "200"] { dead.add(word) }
      await expectEqual(link.send(dead), .success(.integer(1)))
      try await bulkhead.run {}
    }

    @Test func aPlaceLastsForItsLeaseBesideThoseOfAShorterOne() async throws {
      let server = try RedisServer()
      var settings = FleetSettings.patient
      // It does not renew the place in this test.
      settings.heartbeat = .seconds(600)
      let other = try await Fleet.joined(1, at: server, settings: settings)[0]
      let fleet = try await Fleet.joined(1, at: server)[0]
      let policy = try BulkheadPolicy(maxConcurrent: 2)
      let long = try other.bulkhead("db", policy: policy, lease: .seconds(3_600))
      let short = try fleet.bulkhead("db", policy: policy, lease: .seconds(60))
      let running = Log<Void>()
      let calls = [long, short].map { Call($0, running: running) }
      await running.until(2)
      let link = await Link.ready(server.address)
      let key = "rebound:{test:db}:places"
      #expect(try #require(try await link.send(RedisCommand("PTTL", key)).get().integer) > 60_000)
      // A heartbeat has renewed the shorter one behind this.
      let beats = Log<Void>()
      await fleet.until { _ in beats.number(()) > 3 }
      #expect(try #require(try await link.send(RedisCommand("PTTL", key)).get().integer) > 60_000)
      for call in calls { #expect(await call.end()) }
    }

    @Test func theHeartbeatRenewsTheLeases() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let bulkhead = try fleet.bulkhead("db", policy: BulkheadPolicy(maxConcurrent: 1), lease: .seconds(3_600))
      let running = Log<Void>()
      let call = Call(bulkhead, running: running)
      await running.until(1)
      let link = await Link.ready(server.address)
      let ends = RedisCommand("ZRANGE", "rebound:{test:db}:places", "0", "-1", "WITHSCORES")
      let first = try await link.send(ends).get()
      // A heartbeat may be what was seen first; the next one is later by the server's clock.
      while try await link.send(ends).get() == first {}
      await #expect(throws: BulkheadFull.self) { try await bulkhead.run {} }
      #expect(await call.end())
    }

    @Test func aServerThatHasForgottenAllIsToldOfThePlaces() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let bulkhead = try fleet.bulkhead("db", policy: BulkheadPolicy(maxConcurrent: 1), lease: .seconds(3_600))
      let running = Log<Void>()
      let call = Call(bulkhead, running: running)
      await running.until(1)
      server.kill()
      await fleet.until { !$0.isJoined }
      try server.start()
      await fleet.until { $0.isJoined }
      let beats = Log<Void>()
      await fleet.until { _ in beats.number(()) > 3 }
      await #expect(throws: BulkheadFull.self) { try await bulkhead.run {} }
      #expect(await call.end())
      try await bulkhead.run {}
    }

    @Test func aServerThatHasForgottenAllHearsOfThePlacesBeforeItIsAskedForMore() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server, instances: 1)[0]
      let bulkhead = try fleet.bulkhead("db", policy: BulkheadPolicy(maxConcurrent: 1), lease: .seconds(3_600))
      let running = Log<Void>()
      let call = Call(bulkhead, running: running)
      await running.until(1)
      server.kill()
      await fleet.until { !$0.isJoined }
      let (answers, pending) = (Log<Bool>(), Log<(any Cancellable)?>())
      fleet.onEvent { event in
        guard case .joined = event else { return }
        pending.write(bulkhead.ask(ExecutionContext(time: nil)) { answers.write((try? $0.get()) != nil) })
      }
      try server.start()
      await answers.until(1)
      expectEqual(answers.entries, [false])
      #expect(await call.end())
    }

    @Test func withoutTheServerAMemberHasTheShareOfOneInstance() async throws {
      let server = try RedisServer()
      server.kill()
      let fleet = try Fleet("test", at: server.address, instances: 3, settings: .patient)
      let bulkhead = try fleet.bulkhead("db", policy: BulkheadPolicy(maxConcurrent: 6))
      let running = Log<Void>()
      let calls = (0..<2).map { _ in Call(bulkhead, running: running) }
      await running.until(2)
      await #expect(throws: BulkheadFull.self) { try await bulkhead.run {} }
      for call in calls { #expect(await call.end()) }
    }

    @Test func aPlaceThatIsGrantedTooLateIsGivenBack() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server, settings: .hasty)[0]
      let bulkhead = try fleet.bulkhead("db", policy: BulkheadPolicy(maxConcurrent: 1), lease: .seconds(3_600))
      server.freeze()
      try await bulkhead.run {}
      server.thaw()
      await fleet.until { $0.isJoined }
      let link = await Link.ready(server.address)
      while await link.send(RedisCommand("ZCARD", "rebound:{test:db}:places")) != .success(.integer(0)) {}
    }

    @Test func aLeaseThatHeartbeatsCannotKeepIsRefused() throws {
      let fleet = try Fleet("test", at: .tcp("127.0.0.1", port: 1), instances: 1)
      #expect(throws: InvalidPolicy.self) {
        try fleet.bulkhead("db", policy: BulkheadPolicy(maxConcurrent: 1), lease: .milliseconds(10))
      }
      // The places of a dead process would be taken for as long.
      #expect(throws: InvalidPolicy.self) {
        try fleet.bulkhead("db", policy: BulkheadPolicy(maxConcurrent: 1), lease: .seconds(14_401))
      }
    }
  }
#endif
