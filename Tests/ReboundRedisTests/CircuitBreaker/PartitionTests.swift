import Expectations

#if Redis
  import Rebound
  import ReboundTesting
  import StreamSupport
  import Testing

  @testable import ReboundRedis

  /// Partitions between ten members, the server and the service, in virtual time.
  ///
  /// `scripts/fleet partitions 10000` runs more of them.
  struct PartitionTests {
    private static let partitions = LongRun("FLEET_PARTITIONS", usual: 200)

    private final class Service {
      let scheduler = TestScheduler()
      let members: [SimulatedMember]
      let server = SimulatedBallotServer(
        heartbeat: .milliseconds(500),
        openTime: .seconds(3),
        peakMemory: .seconds(300)
      )

      init(members count: Int, seed: UInt64) throws {
        let policy = try CircuitBreakerPolicy.consecutive(3, openFor: .seconds(3))
        members = (0..<count).map { [server, scheduler] number in
          SimulatedMember(number, server: server, policy: policy, on: scheduler, seed: seed &* 1_000 &+ UInt64(number))
        }
      }

      /// Has every member call three times in a second, and tells of each such moment.
      func run(for duration: Duration, _ look: () -> Void = {}) {
        for _ in 0..<Int(duration / .milliseconds(333)) {
          for member in members { member.call() }
          scheduler.advance(by: .milliseconds(333))
          look()
        }
      }
    }

    @Test func noMemberWhoseOwnCallsSucceedOpensWhileAMinorityIsPartitioned() throws {
      var random = SeededRandom(seed: 41)
      var count = 0
      while count < Self.partitions.count {
        let service = try Service(members: 10, seed: UInt64(count))
        service.run(for: .seconds(3))
        for _ in 0..<20 where count < Self.partitions.count {
          count += 1
          Self.partitions.note(count)
          let order = Array(0..<10).shuffled(using: &random)
          let sick = Set(order.prefix(Int.random(in: 0...5, using: &random)))
          let unheard = Set(order.shuffled(using: &random).prefix(Int.random(in: 0...9, using: &random)))
          for (number, member) in service.members.enumerated() {
            let isLossy = Int.random(in: 0..<4, using: &random) == 0
            member.links.withLock {
              $0 = .init(toServer: !unheard.contains(number), toService: !sick.contains(number), isLossy: isLossy)
            }
          }
          var wrong: Set<Int> = []
          service.run(for: .seconds(Int.random(in: 2...12, using: &random))) {
            for (number, member) in service.members.enumerated() where !sick.contains(number) {
              if member.breaker.state == .open { wrong.insert(number) }
            }
          }
          try #require(wrong.isEmpty, "partition \(count): sick \(sick), unheard \(unheard)")
          for member in service.members { member.links.withLock { $0 = .init() } }
          // Until those that were sick have closed again, and none of their votes is left.
          service.run(for: .seconds(6))
        }
        expectEqual(service.server.openings, 0)
      }
    }

    @Test(arguments: 0..<20) func aServiceThatIsDownIsGivenUpByAllWithinTwoSeconds(seed: UInt64) throws {
      let service = try Service(members: 10, seed: seed)
      service.run(for: .seconds(3))
      // A member without a call of its own learns it from the others.
      let idle = service.members[9].breaker
      for member in service.members.dropLast() { member.links.withLock { $0.toService = false } }
      var opened: Duration?
      let start = service.scheduler.elapsed
      service.run(for: .seconds(2)) {
        if opened == nil, idle.state == .open { opened = service.scheduler.elapsed - start }
      }
      #expect(try #require(opened) <= .seconds(2))
    }
  }
#endif
