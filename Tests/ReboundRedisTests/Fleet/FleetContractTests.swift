import Expectations

#if Redis
  import Combine
  import Rebound
  import ReboundTesting
  import StreamSupport
  import Testing

  @testable import ReboundRedis

  /// What `PolicyContractTests` of Rebound asks of all policies, for those that a fleet shares: alone, and with a server.
  ///
  /// What they wait for is virtual; only the server's answers come when they come, and are waited for.
  @Suite("The policies of a fleet keep the contract of the drivers", .needsRedis)
  struct FleetContractTests {
    private typealias Upstream = TestPublisher<Int, any Error>

    enum Row: CaseIterable { case bulkhead, rateLimiter }

    /// One policy, with the fleet that it belongs to.
    private struct Subject: Sendable {
      let protect: @Sendable (AnyPublisher<Int, any Error>) -> AnyPublisher<Int, any Error>
      let run: @Sendable (@escaping @Sendable () async throws -> Int) async throws -> Int
      let isWaiting: @Sendable () -> Bool
      let isIdle: @Sendable () -> Bool
      /// Whatever has to live as long.
      let fleet: Fleet
      let server: RedisServer?
    }

    private enum Failed: Error { case once }

    private let scheduler = TestScheduler()
    private static let hour = Duration.seconds(3_600)

    private func subject(_ row: Row, isJoined: Bool) async throws -> Subject {
      let server = isJoined ? try RedisServer() : nil
      let fleet =
        if let server { try await Fleet.joined(1, at: server, instances: 1)[0] } else {
          try Fleet("test", at: .tcp("127.0.0.1", port: 1), instances: 1)
        }
      let time = scheduler.time
      switch row {
      case .bulkhead:
        let policy: FleetBulkhead = try fleet.bulkhead("service", policy: BulkheadPolicy(maxConcurrent: 1, maxQueue: 9))
        return Subject(
          protect: { $0.protected(by: policy, time: time).eraseToAnyPublisher() },
          run: { operation in try await policy.run(time: time) { try await operation() } },
          isWaiting: { policy.snapshot.queued > 0 },
          isIdle: { policy.snapshot.running == 0 && policy.snapshot.queued == 0 },
          fleet: fleet,
          server: server
        )
      case .rateLimiter:
        let waiting = Locked(0)
        let policy: FleetRateLimiter = try fleet.rateLimiter(
          "service",
          policy: .tokenBucket(1, per: Self.hour).waiting(atMost: Self.hour * 9)
        )
        .onEvent { event in
          switch event {
          case .queued(_, let queued), .admittedAfterWait(let queued), .abandoned(let queued):
            waiting.withLock { $0 = queued }
          default: break
          }
        }
        return Subject(
          protect: { $0.protected(by: policy, time: time).eraseToAnyPublisher() },
          run: { operation in try await policy.run(time: time) { try await operation() } },
          isWaiting: { waiting.withLock { $0 } > 0 },
          isIdle: { waiting.withLock { $0 } == 0 },
          fleet: fleet,
          server: server
        )
      }
    }

    private func until(_ condition: () -> Bool) async {
      while !condition() { await Task.yield() }
    }

    private func subscribe(
      _ subject: Subject,
      to upstream: Upstream,
      requesting demand: Subscribers.Demand = .unlimited
    ) -> Recorder<Int, any Error> {
      let recorder = Recorder<Int, any Error>(requesting: demand)
      subject.protect(upstream.eraseToAnyPublisher()).subscribe(recorder)
      return recorder
    }

    /// Lets go on whoever waits for what the first one has taken.
    private func release(_ first: Recorder<Int, any Error>) {
      first.cancel()
      scheduler.advance(by: .init(Self.hour))
    }

    @Test("a cancel while it waits gives its turn to the next", arguments: Row.allCases, [false, true])
    func cancelInWait(row: Row, isJoined: Bool) async throws {
      let subject = try await subject(row, isJoined: isJoined)
      let upstreams = (0..<2).map { _ in Upstream() }
      let first = subscribe(subject, to: upstreams[0])
      await until { upstreams[0].subscriptionCount == 1 }
      let second = subscribe(subject, to: upstreams[1])
      await until(subject.isWaiting)
      second.cancel()
      // Another thread may still be telling that it waits, and tells this, too.
      await until { !subject.isWaiting() }
      expectEqual(subject.isWaiting(), false)
      let task = Task { try await subject.run { 1 } }
      await until(subject.isWaiting)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      expectEqual(subject.isWaiting(), false)
      release(first)
      await until(subject.isIdle)
      expectEqual(upstreams[1].subscriptionCount, 0)
      #expect(second.completions.isEmpty)
    }

    @Test("a cancel while it runs gives all back", arguments: Row.allCases, [false, true])
    func cancelInAttempt(row: Row, isJoined: Bool) async throws {
      let subject = try await subject(row, isJoined: isJoined)
      let upstream = Upstream()
      let recorder = subscribe(subject, to: upstream)
      await until { upstream.subscriptionCount == 1 }
      recorder.cancel()
      expectEqual(upstream.cancelCount, 1)
      await until(subject.isIdle)
      let begun = Log<Void>()
      let task = Task {
        try await subject.run {
          begun.write(())
          await untilCancelled()
          throw CancellationError()
        }
      }
      await until {
        scheduler.advance(by: .init(Self.hour))
        return begun.count == 1
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      await until(subject.isIdle)
    }

    @Test("no more comes than was requested, and one end", arguments: Row.allCases, [false, true])
    func demandAndEnd(row: Row, isJoined: Bool) async throws {
      let subject = try await subject(row, isJoined: isJoined)
      let upstream = Upstream()
      let recorder = subscribe(subject, to: upstream, requesting: .max(2))
      await until { upstream.subscriptionCount == 1 }
      expectEqual(upstream.requests.reduce(.none, +), .max(2))
      for value in 1...5 { upstream.send(value) }
      expectEqual(recorder.values, [1, 2])
      for _ in 1...2 { upstream.send(completion: .failure(Failed.once)) }
      upstream.send(completion: .finished)
      expectEqual(recorder.completions.count, 1)
      #expect(recorder.failure is Failed)
      await until(subject.isIdle)
    }

    @Test("a function ends as a publisher does, waits included", arguments: Row.allCases, [false, true])
    func asyncEnd(row: Row, isJoined: Bool) async throws {
      let subject = try await subject(row, isJoined: isJoined)
      let upstreams = (0..<2).map { _ in Upstream() }
      let first = subscribe(subject, to: upstreams[0])
      await until { upstreams[0].subscriptionCount == 1 }
      let function = Task { try await subject.run { 1 } }
      await until(subject.isWaiting)
      first.cancel()
      let (scheduler, over) = (scheduler, Log<Void>())
      let time = Task {
        while over.count == 0 {
          scheduler.advance(by: .init(Self.hour))
          await Task.yield()
        }
      }
      try await expectEqual(function.value, 1)
      await #expect(throws: Failed.self) { try await subject.run { throw Failed.once } }
      let last = subscribe(subject, to: upstreams[1])
      await until { upstreams[1].subscriptionCount == 1 }
      over.write(())
      await time.value
      upstreams[1].send(1)
      upstreams[1].send(completion: .finished)
      expectEqual(last.values, [1])
      #expect(last.isFinished)
      await until(subject.isIdle)
    }
  }
#endif
