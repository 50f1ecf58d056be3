import Expectations

#if Redis
  import Combine
  import Foundation
  import Rebound
  import ReboundTesting
  import Testing

  @testable import ReboundRedis

  @Suite(.needsRedis)
  struct FleetRateLimiterTests {
    private static let hour = Duration.seconds(3_600)

    /// How many of so many calls begin, spread over the limiters.
    private func admitted(_ count: Int, _ limiters: [FleetRateLimiter]) async -> Int {
      await withTaskGroup(of: Bool.self) { group in
        for number in 0..<count {
          let limiter = limiters[number % limiters.count]
          group.addTask { (try? await limiter.run { true }) ?? false }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
    }

    @Test func allMembersShareOneBurst() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(3, at: server)
      let limiters = try fleets.map { try $0.rateLimiter("search", policy: .tokenBucket(7, per: Self.hour)) }
      await expectEqual(admitted(60, limiters), 7)
    }

    @Test func aRateThatIsRaisedHoldsAtOnceAndAsManyCallsAreMissing() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let old = try fleet.rateLimiter("search", policy: .tokenBucket(10, per: Self.hour))
      let new = try fleet.rateLimiter("search", policy: .tokenBucket(100, per: Self.hour))
      await expectEqual(admitted(20, [old]), 10)
      await expectEqual(admitted(120, [new]), 90)
      await expectEqual(admitted(20, [old]), 0)
    }

    @Test func whatIsMissingComesBackAtARaisedRateAlsoForWhoIsRefused() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let old = try fleet.rateLimiter("search", policy: .tokenBucket(10, per: Self.hour))
      let new = try fleet.rateLimiter("search", policy: .tokenBucket(10, per: .seconds(600), burst: 1))
      await expectEqual(admitted(10, [old]), 10)
      let refusal = await #expect(throws: RateLimited.self) { try await new.run {} }
      #expect(try #require(refusal?.retryAfter) <= .seconds(600))
      let link = await Link.ready(server.address)
      let left = try #require(try await link.send(RedisCommand("PTTL", "rebound:{test:search}:rate")).get().integer)
      #expect((1...600_000).contains(left))
    }

    @Test func whatIsMissingComesBackAtALoweredRateAsTheRefusalSays() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let old = try fleet.rateLimiter("search", policy: .tokenBucket(10, per: Self.hour))
      let new = try fleet.rateLimiter("search", policy: .tokenBucket(1, per: Self.hour))
      await expectEqual(admitted(10, [old]), 10)
      let refusal = await #expect(throws: RateLimited.self) { try await new.run {} }
      #expect(try #require(refusal?.retryAfter) > Self.hour * 9)
      let link = await Link.ready(server.address)
      let left = try #require(try await link.send(RedisCommand("PTTL", "rebound:{test:search}:rate")).get().integer)
      #expect(left > 9 * 3_600_000)
      await expectEqual(admitted(5, [old]), 0)
    }

    @Test func aPauseIsNoLongerByAnotherRate() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let limiter = try fleet.rateLimiter("search", policy: .tokenBucket(1, per: .seconds(1)))
      let link = await Link.ready(server.address)
      // One call waits behind a pause of ten minutes, at ten calls a second.
      let now = Int(Date().timeIntervalSince1970 * 1_000_000)
      let end = now + 600_000_000
      await expectEqual(
        link.send(RedisCommand("SET", "rebound:{test:search}:pause", "\(end).000")),
        .success(.status("OK"))
      )
      let text = "\(end + 100_000).000 100000 \(now)"
      await expectEqual(link.send(RedisCommand("SET", "rebound:{test:search}:rate", text)), .success(.status("OK")))
      let refusal = await #expect(throws: RateLimited.self) { try await limiter.run {} }
      #expect(try #require(refusal?.retryAfter) < .seconds(660))
    }

    @Test(arguments: [(9, 1), (10, 0)])
    func aServerWhoseClockIsBehindThatOfTheOneBeforeGoesOnFromThere(missing: Int, begin: Int) async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let limiter = try fleet.rateLimiter("search", policy: .tokenBucket(10, per: Self.hour))
      let link = await Link.ready(server.address)
      let key = "rebound:{test:search}:rate"
      // In the year 2100, as far as that one knew.
      let (written, interval) = (4_102_444_800_000_000, 360_000_000)
      let text = "\(written + missing * interval).000 3.6e+08 \(written)"
      await expectEqual(link.send(RedisCommand("SET", key, text)), .success(.status("OK")))
      await expectEqual(admitted(5, [limiter]), begin)
      let refusal = await #expect(throws: RateLimited.self) { try await limiter.run {} }
      #expect(try #require(refusal?.retryAfter) <= .seconds(360))
      // It is filled from here on.
      let left = try #require(try await link.send(RedisCommand("PTTL", key)).get().integer)
      #expect((1...3_600_000).contains(left))
    }

    @Test func aPauseByTheClockOfAServerThatWasAheadIsNoLongerThanItWas() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let limiters = try fleets.map { try $0.rateLimiter("search", policy: .tokenBucket(10, per: Self.hour)) }
      let link = await Link.ready(server.address)
      let pause = "rebound:{test:search}:pause"
      // As that one has written it, 95 years ahead.
      limiters[0].throttle(pause: .seconds(600))
      _ = await fleets[0].ask(RedisCommand("PING"))
      await fleets[0].leave()
      guard case .bytes(let bytes) = try await link.send(RedisCommand("GET", pause)).get() else {
        Issue.record("there is no pause")
        return
      }
      let written = String(decoding: bytes, as: UTF8.self).split(separator: " ").map { (Double($0) ?? 0) + 3e15 }
      let text = written.map { String(format: "%.0f", $0) }.joined(separator: " ")
      await expectEqual(link.send(RedisCommand("SET", pause, text)), .success(.status("OK")))
      let refusal = await #expect(throws: RateLimited.self) { try await limiters[1].run {} }
      #expect(try #require(refusal?.retryAfter) <= .seconds(600))
      // It is over in time, also if nobody asks again.
      #expect((1...600_000).contains(try await link.send(RedisCommand("PTTL", pause)).get().integer ?? 0))
      // A longer one is still taken.
      limiters[1].throttle(pause: Self.hour)
      let longer = await #expect(throws: RateLimited.self) { try await limiters[1].run {} }
      #expect(try #require(longer?.retryAfter) > .seconds(3_000))
    }

    @Test func aRefusalSaysWhenACallCouldBegin() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let limiter = try fleet.rateLimiter("search", policy: .tokenBucket(1, per: Self.hour))
      try await limiter.run {}
      let refusal = await #expect(throws: RateLimited.self) { try await limiter.run {} }
      let pause = try #require(refusal?.retryAfter)
      #expect(pause > Self.hour - .seconds(60) && pause <= Self.hour)
      expectEqual(refusal?.name, "search")
    }

    @Test func callsThatMayWaitBeginAnIntervalApart() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let events = Log<RateLimiterEvent>()
      let limiters = try fleets.map {
        try $0.rateLimiter(
          "search",
          policy: .tokenBucket(1, per: Self.hour).waiting(atMost: Self.hour * 24)
        )
        .onEvent { events.write($0) }
      }
      let calls = (0..<20).map { number in Task { try await limiters[number % 2].run {} } }
      // One begins at once, and says so at any time.
      await events.until(20)
      for call in calls { call.cancel() }
      let waits = events.entries.compactMap { event -> Duration? in
        if case .queued(let wait, _) = event { wait } else { nil }
      }
      expectEqual(waits.count, 19)
      for (number, wait) in zip(1..., waits.sorted()) {
        // The server's clock runs on while they ask.
        #expect(wait > Self.hour * number - .seconds(600) && wait <= Self.hour * number)
      }
    }

    @Test func aPauseHoldsForAllMembers() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let limiters = try fleets.map { try $0.rateLimiter("search", policy: .tokenBucket(1_000, per: .seconds(1))) }
      limiters[0].throttle(pause: Self.hour)
      // Behind the pause on the same connection.
      await #expect(throws: RateLimited.self) { try await limiters[0].run {} }
      let refusal = await #expect(throws: RateLimited.self) { try await limiters[1].run {} }
      #expect(try #require(refusal?.retryAfter) > .seconds(3_000))
    }

    @Test func aPauseIsNoLongerThanThePolicyAllows() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let policy = try RateLimiterPolicy.tokenBucket(1_000, per: .seconds(1)).answering(.init(maxHint: .seconds(60)))
      let limiters = try fleets.map { try $0.rateLimiter("search", policy: policy) }
      limiters[0].throttle(pause: Self.hour)
      // Behind the pause on the same connection.
      for limiter in limiters {
        let refusal = await #expect(throws: RateLimited.self) { try await limiter.run {} }
        let pause = try #require(refusal?.retryAfter)
        #expect(pause > .seconds(10) && pause <= .seconds(61))
      }
    }

    @Test func aPauseHoldsABurstBackAndTakesNothingOutOfIt() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let limiters = try fleets.map { try $0.rateLimiter("search", policy: .tokenBucket(10, per: Self.hour)) }
      // Shorter than it takes to fill the bucket.
      limiters[1].throttle(pause: .seconds(1_800))
      // Behind the pause on the same connection; and it is not told again.
      await fleets[1].leave()
      await expectEqual(admitted(20, [limiters[0]]), 0)
      let link = await Link.ready(server.address)
      let pause = "rebound:{test:search}:pause"
      #expect((1...1_800_000).contains(try await link.send(RedisCommand("PTTL", pause)).get().integer ?? 0))
      // As if it were over.
      await expectEqual(link.send(RedisCommand("DEL", pause)), .success(.integer(1)))
      await expectEqual(admitted(20, [limiters[0]]), 10)
    }

    @Test func aPauseThatWasHeardAloneHoldsForAllWhenTheServerIsBack() async throws {
      let server = try RedisServer()
      server.kill()
      let alone = try Fleet("test", at: server.address, instances: 2, settings: .patient)
      let limiter = try alone.rateLimiter("search", policy: .tokenBucket(1_000, per: .seconds(1)))
      limiter.throttle(pause: Self.hour)
      try server.start()
      await alone.until { $0.isJoined }
      let refusal = await #expect(throws: RateLimited.self) { try await limiter.run {} }
      #expect(try #require(refusal?.retryAfter) > .seconds(3_000))
      // The first heartbeat tells of it before the second one.
      let beats = Log<Void>()
      await alone.until { _ in beats.number(()) > 3 }
      _ = await alone.ask(RedisCommand("PING"))
      let other = try await Fleet.joined(1, at: server)[0]
      let otherLimiter = try other.rateLimiter("search", policy: .tokenBucket(1_000, per: .seconds(1)))
      await #expect(throws: RateLimited.self) { try await otherLimiter.run {} }
    }

    @Test func aPauseThatTheServerHasForgottenHoldsForWhoHasHeardIt() async throws {
      let server = try RedisServer()
      var settings = FleetSettings.patient
      // Nothing but calls tell the server of it.
      settings.heartbeat = .seconds(600)
      let fleet = try await Fleet.joined(1, at: server, settings: settings)[0]
      let limiter = try fleet.rateLimiter("search", policy: .tokenBucket(1_000, per: .seconds(1)))
      limiter.throttle(pause: Self.hour)
      _ = await fleet.ask(RedisCommand("PING"))
      let link = await Link.ready(server.address)
      await expectEqual(link.send(RedisCommand("DEL", "rebound:{test:search}:pause")), .success(.integer(1)))
      await #expect(throws: RateLimited.self) { try await limiter.run {} }
      #expect(fleet.isJoined)
    }

    @Test func aPauseAndWhatWasLearnedHoldForTheShareOfAnotherNumberOfInstances() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(3, at: server)
      let events = Log<RateLimiterEvent>()
      let limiter = try fleets[0].rateLimiter("search", policy: .tokenBucket(1_000, per: .seconds(1)))
        .onEvent { events.write($0) }
      await fleets[2].leave()
      await fleets[0].until { $0.instances == 2 }
      limiter.throttle(pause: Self.hour)
      await fleets[1].leave()
      await fleets[0].until { $0.instances == 1 }
      limiter.throttle()
      server.kill()
      await fleets[0].until { !$0.isJoined }
      let refusal = await #expect(throws: RateLimited.self) { try await limiter.run {} }
      #expect(try #require(refusal?.retryAfter) > .seconds(3_000))
      // Each complaint has lowered it once.
      expectEqual(
        events.entries.dropLast(),
        [
          .throttled(share: 0.7, pause: Self.hour), .throttled(share: 0.7 * 0.7, pause: nil),
        ]
      )
    }

    @Test func onceNothingIsLeftOfAComplaintACallCostsWhatItDidBefore() async throws {
      let server = try RedisServer()
      var settings = FleetSettings.patient
      // Nothing but calls reads the fleet's clock.
      settings.heartbeat = .seconds(600)
      let (scheduler, reads) = (TestScheduler(), Log<Void>())
      let time = TimeSource(
        now: {
          reads.write(())
          return scheduler.time.now
        },
        after: { TimeSource.system.after($0, $1) }
      )
      let fleet = try Fleet("test", at: server.address, instances: 1, settings: settings, time: time)
      await fleet.until { $0.isJoined }
      let limiter = try fleet.rateLimiter("search", policy: .tokenBucket(1_000_000, per: .seconds(1)))
      /// How often the clock is read for a hundred calls that are asked one by one.
      func readsOfCalls() async throws -> Int {
        let before = reads.count
        for _ in 0..<100 { try await limiter.run(time: scheduler.time) {} }
        return reads.count - before
      }
      // A heartbeat that is under way may read it, too.
      #expect(try await readsOfCalls() < 10)
      limiter.throttle(pause: .milliseconds(1), at: scheduler.time.now)
      let link = await Link.ready(server.address)
      _ = await fleet.ask(RedisCommand("PING"))
      _ = await link.send(RedisCommand("DEL", "rebound:{test:search}:pause"))
      scheduler.advance(by: .milliseconds(1))
      // The pause is over, and the share is still low.
      limiter.heartbeat()
      scheduler.advance(by: .seconds(3_600))
      #expect(try await readsOfCalls() >= 100)
      // The first of those calls has brought the share back.
      limiter.heartbeat()
      #expect(try await readsOfCalls() < 10)
    }

    @Test func aSuccessBringsTheShareOfThisProcessBack() async throws {
      struct Busy: RetryAfterProviding { let retryAfter: Duration? = .seconds(1) }
      let scheduler = TestScheduler()
      let fleet = try Fleet("test", at: .tcp("127.0.0.1", port: 1), instances: 1)
      let events = Log<RateLimiterEvent>()
      let limiter = try fleet.rateLimiter("search", policy: .tokenBucket(10, per: .seconds(1)))
        .onEvent { events.write($0) }
      let upstream = Just(1).setFailureType(to: (any Error).self)
      for number in 1...2 {
        await #expect(throws: Busy.self) { try await limiter.run(time: scheduler.time) { throw Busy() } }
        scheduler.advance(by: .seconds(3_600))
        if number == 1 {
          try await limiter.run(time: scheduler.time) {}
        } else {
          upstream.protected(by: limiter, time: scheduler.time).subscribe(Recorder<Int, any Error>())
        }
        guard case .recovered(share: 1) = try #require(events.entries.last) else {
          Issue.record("told \(events.entries)")
          return
        }
      }
    }

    @Test func noMoreWaitThanMayAndWhoIsRefusedHasNothingReserved() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let policy = try RateLimiterPolicy.tokenBucket(1, per: Self.hour).waiting(atMost: Self.hour * 9, maxQueue: 2)
      let limiter = try fleet.rateLimiter("search", policy: policy)
      let scheduler = TestScheduler()
      let execution = ExecutionContext(time: scheduler.time)
      let answers = Log<Result<Duration, any Error>>()
      let ask = { limiter.ask(execution) { answers.write($0) } }
      // One begins, two wait, and three are refused.
      let calls = (0..<6).map { _ in ask() }
      await answers.until(4)
      expectEqual(answers.entries.count { (try? $0.get()) != nil }, 1)
      // Behind all of them: one was refused a place that was still held for the first, and asked again.
      _ = await fleet.ask(RedisCommand("PING"))
      for call in calls { call?.cancel() }
      let others = (0..<2).map { _ in ask() }
      let last = ask()
      await answers.until(5)
      let refusal = try #require(#expect(throws: RateLimited.self) { try answers.entries[4].get() })
      expectEqual(refusal.queued, 2)
      // Four were reserved: two for those that have cancelled.
      let pause = try #require(refusal.retryAfter)
      #expect(pause > Self.hour * 4 && pause <= Self.hour * 5)
      expectEqual(answers.count, 5)
      withExtendedLifetime((others, last)) {}
    }

    @Test func withoutTheServerAMemberHasTheShareOfOneInstance() async throws {
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server, instances: 5)
      let limiters = try fleets.map { try $0.rateLimiter("search", policy: .tokenBucket(10, per: Self.hour)) }
      server.kill()
      for fleet in fleets { await fleet.until { !$0.isJoined } }
      await expectEqual(admitted(20, [limiters[0]]), 5)
      await expectEqual(admitted(20, limiters), 5)
    }

    @Test func aCallUnderWayToADyingServerIsDecidedHere() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server, instances: 1)[0]
      let limiter = try fleet.rateLimiter("search", policy: .tokenBucket(10, per: Self.hour))
      server.freeze()
      async let answer = limiter.run { 7 }
      server.kill()
      try await expectEqual(answer, 7)
    }

    @Test func aCancelledCallWaitsForNoAnswer() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let limiter = try fleet.rateLimiter("search", policy: .tokenBucket(10, per: Self.hour))
      server.freeze()
      let task = Task { try await limiter.run { 7 } }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(fleet.isJoined)
    }

    @Test func aCancelledWaitIsAbandoned() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let events = Log<RateLimiterEvent>()
      let policy = try RateLimiterPolicy.tokenBucket(1, per: Self.hour).waiting(atMost: Self.hour)
      let limiter = try fleet.rateLimiter("search", policy: policy).onEvent { events.write($0) }
      try await limiter.run {}
      let task = Task { try await limiter.run {} }
      await events.until(2)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      guard case .abandoned(queued: 0) = try #require(events.entries.last) else {
        Issue.record("told \(events.entries)")
        return
      }
    }

    @Test func inAPipelineAFailureThatAsksForAPauseHoldsAllBack() async throws {
      struct Busy: RetryAfterProviding { let retryAfter: Duration? = .seconds(3_600) }
      let server = try RedisServer()
      let fleets = try await Fleet.joined(2, at: server)
      let limiters = try fleets.map { try $0.rateLimiter("search", policy: .tokenBucket(1_000, per: .seconds(1))) }
      let pipeline = try Pipeline<Int>("search") { limiters[0] }
      await #expect(throws: Busy.self) { try await pipeline.run { throw Busy() } }
      // Behind the pause on the same connection.
      await #expect(throws: RateLimited.self) { try await pipeline.run { 1 } }
      await #expect(throws: RateLimited.self) { try await limiters[1].run {} }
    }

    @Test func whoeverComesToListenIsToldAlsoOfCallsThatJustBegin() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let limiter = try fleet.rateLimiter("search", policy: .tokenBucket(10, per: Self.hour))
      let events = PolicyEvents()
      let pipeline = try Pipeline<Int>("weather", events: events) { limiter }
      for _ in 1...2 {
        _ = try await pipeline.run { 7 }
        let log = PolicyEventLog(of: events)
        _ = try await pipeline.run { 7 }
        expectEqual(log.events.filter { $0.kind == .rateLimiter }.map(\.decision.word), ["admitted"])
      }
    }

    @Test func nonsenseInTheKeyIsNoAnswer() async throws {
      let server = try RedisServer()
      let events = Log<FleetEvent>()
      let fleet = try await Fleet.joined(1, at: server)[0].onEvent { events.write($0) }
      let limiter = try fleet.rateLimiter("search", policy: .tokenBucket(10, per: Self.hour))
      let link = await Link.ready(server.address)
      await expectEqual(link.send(RedisCommand("SET", "rebound:{test:search}:rate", "soon")), .success(.status("OK")))
      try await expectEqual(limiter.run { 7 }, 7)
      #expect(
        events.entries.contains { if case .refused(.refused(let text)) = $0 { text.contains("nil") } else { false } }
      )
    }

    @Test(arguments: [Int.min, .max])
    func aWaitThatMakesNoSenseIsNoAnswer(wait: Int) async throws {
      let server = try RedisServer()
      let proxy = try Proxy(to: server.port)
      let events = Log<FleetEvent>()
      let fleet = try Fleet("test", at: proxy.address, instances: 1, settings: .patient)
      fleet.onEvent { events.write($0) }
      await fleet.until { $0.isJoined }
      let limiter = try fleet.rateLimiter("search", policy: .tokenBucket(10, per: Self.hour))
      server.freeze()
      // Whichever question gets it: a heartbeat, or that of the call.
      async let answer = limiter.run { 7 }
      proxy.inject(Array(":\(wait)\r\n".utf8))
      proxy.inject(Array(":\(wait)\r\n".utf8))
      try await expectEqual(answer, 7)
      server.thaw()
      await events.until(2)
      if case .joined = events.entries[1] { Issue.record("told \(events.entries)") }
    }

    @Test func aRateBeyondTheClockIsStillAnswered() async throws {
      let server = try RedisServer()
      let events = Log<FleetEvent>()
      let fleet = try await Fleet.joined(1, at: server)[0].onEvent { events.write($0) }
      let limiter = try fleet.rateLimiter("search", policy: .tokenBucket(1_000_000, per: .microseconds(1)))
      await expectEqual(admitted(100, [limiter]), 100)
      #expect(events.entries.isEmpty)
    }

    @Test func theKeyExpires() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      try await fleet.rateLimiter("search", policy: .tokenBucket(10, per: .seconds(100_000))).run {}
      let link = await Link.ready(server.address)
      let left = try #require(try await link.send(RedisCommand("PTTL", "rebound:{test:search}:rate")).get().integer)
      #expect((1...10_000_000).contains(left))
    }

    @Test func publishersAreLimitedToo() async throws {
      let server = try RedisServer()
      let fleet = try await Fleet.joined(1, at: server)[0]
      let limiter = try fleet.rateLimiter("search", policy: .tokenBucket(1, per: Self.hour))
      let upstream = Just(1).setFailureType(to: (any Error).self)
      var values: [Int] = []
      for try await value in upstream.protected(by: limiter).values { values.append(value) }
      expectEqual(values, [1])
      await #expect(throws: RateLimited.self) {
        for try await _ in upstream.protected(by: limiter).values {}
      }
    }

    @Test func windowsAreRefused() throws {
      let fleet = try Fleet("test", at: .tcp("127.0.0.1", port: 1), instances: 1)
      let error = #expect(throws: InvalidPolicy.self) {
        try fleet.rateLimiter("search", policy: .slidingWindow(10, per: .seconds(1)))
      }
      expectEqual(error?.setting, "policy")
    }
  }
#endif
