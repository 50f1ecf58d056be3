#if Redis
  import Rebound
  import ReboundTesting
  import StreamSupport

  @testable import ReboundRedis

  /// What the server knows of a fleet and the votes of one breaker, in virtual time.
  final class SimulatedBallotServer: Sendable {
    private struct State {
      var members: [Int: Duration] = [:]
      var votes: [Int: Duration] = [:]
      var peak = (count: 0, until: Duration.zero)
      var opening: (name: String, until: Duration)?
      var openings = 0
    }

    let heartbeat: Duration
    private let openTime: Duration
    private let peakMemory: Duration
    private let state = Locked(State())

    init(heartbeat: Duration, openTime: Duration, peakMemory: Duration) {
      (self.heartbeat, self.openTime, self.peakMemory) = (heartbeat, openTime, peakMemory)
    }

    /// How often all were told to open.
    var openings: Int { state.withLock { $0.openings } }

    /// - Returns: How many members there were at most of late.
    func beat(_ member: Int, at now: Duration) -> Int {
      state.withLock { state in
        state.members[member] = now + heartbeat * 3
        state.members = state.members.filter { $0.value > now }
        if state.members.count >= state.peak.count || state.peak.until <= now {
          state.peak = (state.members.count, now + peakMemory)
        }
        return state.peak.count
      }
    }

    func vote(_ member: Int, isFor: Bool, enough: Int, at now: Duration) -> CircuitBreakerOpening? {
      state.withLock { state in
        state.votes[member] = isFor ? now + heartbeat * 3 : nil
        state.votes = state.votes.filter { $0.value > now }
        if let opening = state.opening, opening.until <= now { state.opening = nil }
        if state.opening == nil, state.votes.count >= enough {
          state.openings += 1
          state.opening = ("\(state.openings)", now + openTime)
        }
        return state.opening.map { CircuitBreakerOpening(name: $0.name, left: $0.until - now) }
      }
    }
  }

  /// One member of a simulated fleet: its breaker, its heart, its calls, and its two links, to the server and the service.
  final class SimulatedMember: CircuitBreakerBallot {
    private struct State {
      var electorate = 1
      var random: SeededRandom
    }

    struct Links {
      var toServer = true
      var toService = true
      /// Whether messages between this member and the server are lost now and then.
      var isLossy = false
    }

    private struct Unreachable: Error {}

    let breaker: CircuitBreaker
    let links = Locked(Links())
    private let number: Int
    private let server: SimulatedBallotServer
    private let scheduler: TestScheduler
    private let state: Locked<State>
    private let votes = Locked<FleetVotes?>(nil)

    init(
      _ number: Int,
      server: SimulatedBallotServer,
      policy: CircuitBreakerPolicy,
      on scheduler: TestScheduler,
      seed: UInt64
    ) {
      (self.number, self.server, self.scheduler) = (number, server, scheduler)
      breaker = CircuitBreaker("weather", policy: policy)
      state = Locked(State(random: SeededRandom(seed: seed)))
      let votes = FleetVotes(breaker: breaker, ballot: self, time: scheduler.time)
      breaker.onChange { votes.heard($0) }
      self.votes.withLock { $0 = votes }
      beat()
    }

    /// Calls the service, unless the breaker refuses.
    func call() {
      guard let call = try? breaker.acquire(on: scheduler.time) else { return }
      if links.withLock({ $0.toService }) { call.succeed() } else { call.fail(with: Unreachable()) }
    }

    func vote(_ isFor: Bool, answer: @escaping @Sendable (CircuitBreakerOpening?) -> Void) {
      let enough = Quorum.majority.votes(of: state.withLock { $0.electorate })
      exchange { [server, number] now in
        server.vote(number, isFor: isFor, enough: enough, at: now)
      } answer: {
        answer($0)
      }
    }

    private func beat() {
      exchange { [server, number] now in
        server.beat(number, at: now)
      } answer: { [weak self] count in
        guard let self else { return }
        state.withLock { $0.electorate = count }
        votes.withLock { $0 }?.heartbeat()
      }
      after(server.heartbeat + random(upTo: 20)) { [weak self] in self?.beat() }
    }

    private func after(_ delay: Duration, _ action: @escaping () -> Void) {
      scheduler.schedule(after: scheduler.now.advanced(by: .init(delay)), action)
    }

    private func random(upTo milliseconds: Int) -> Duration {
      state.withLock { .milliseconds(Int.random(in: 1...milliseconds, using: &$0.random)) }
    }

    private func isThrough() -> Bool {
      let links = links.withLock { $0 }
      return links.toServer && !(links.isLossy && state.withLock { Bool.random(using: &$0.random) })
    }

    /// Carries a question to the server and the answer back, each with a delay of its own; either may be lost.
    private func exchange<Answer: Sendable>(
      _ ask: @escaping @Sendable (Duration) -> Answer,
      answer: @escaping @Sendable (Answer) -> Void
    ) {
      guard isThrough() else { return }
      after(random(upTo: 40)) { [weak self, scheduler] in
        let reply = ask(scheduler.elapsed)
        guard let self, isThrough() else { return }
        after(random(upTo: 40)) { answer(reply) }
      }
    }
  }
#endif
