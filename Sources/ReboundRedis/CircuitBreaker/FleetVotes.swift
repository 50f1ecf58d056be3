#if Redis
  import Rebound
  import StreamSupport

  /// Tells the members of a fleet what each one's breaker has found, and opens this one's if enough have.
  ///
  /// A vote is what a member has found itself: its breaker was closed, and has counted failures enough. A breaker that was
  /// opened for the others' sake does not vote, unless its own probes fail.
  final class FleetVotes: Fleet.Member {
    private struct State {
      /// Whether this member has found the service sick.
      var isFor = false
      /// How often its breaker was opened for the others' sake, and has not told of it yet.
      var following = 0
      /// The opening that this member has seen last.
      var opening = ""
    }

    private struct Target {
      weak var breaker: CircuitBreaker?
    }

    /// The breaker has the votes as an observer, and so they must not keep it.
    private let target: Locked<Target>
    private let ballot: any CircuitBreakerBallot
    private let time: TimeSource
    private let state = Locked(State())

    /// - Parameters:
    ///   - breaker: That of this member.
    ///   - ballot: Where the members vote.
    ///   - time: Times the openings of the breaker.
    init(breaker: CircuitBreaker, ballot: any CircuitBreakerBallot, time: TimeSource) {
      (self.ballot, self.time) = (ballot, time)
      target = Locked(Target(breaker: breaker))
    }

    func heard(_ event: CircuitBreakerEvent) {
      guard case .changed(let before, let after, _) = event.kind else { return }
      let isNew: Bool = state.withLock { state in
        let wasFor = state.isFor
        switch after {
        case .open:
          // Its own calls have failed, or its own probes.
          if before == .closed, state.following > 0 { state.following -= 1 } else { state.isFor = true }
        // Who asks again does not know, and must not keep the others from asking.
        case .closed, .halfOpen, .isolated, .disabled: state.isFor = false
        }
        return state.isFor != wasFor
      }
      if isNew { exchange() }
    }

    func heartbeat() {
      // Without a call it would stay open, and its vote with it.
      target.withLock { $0.breaker }?.poll(at: time.now)
      exchange()
    }

    private func exchange() {
      ballot.vote(state.withLock { $0.isFor }) { [weak self] opening in
        if let opening { self?.follow(opening) }
      }
    }

    private func follow(_ opening: CircuitBreakerOpening) {
      guard opening.left > .zero, let breaker = target.withLock({ $0.breaker }) else { return }
      let isNew: Bool = state.withLock { state in
        guard state.opening != opening.name else { return false }
        state.opening = opening.name
        return true
      }
      guard isNew, breaker.state == .closed else { return }
      state.withLock { $0.following += 1 }
      if breaker.open(for: opening.left, at: time.now) { return }
      // It has opened by itself meanwhile.
      state.withLock { $0.following = max($0.following - 1, 0) }
    }
  }

  extension Fleet {
    /// A circuit breaker whose findings all processes share.
    ///
    /// Each process has a breaker of its own, which goes by the calls of this process, without asking anybody. When it
    /// opens, the others are told; when so many as the quorum says have opened, those of all others open, too, within a
    /// heartbeat. Each then finds out by probes of its own whether the service is well again. So a process whose network
    /// is broken opens its own breaker, and no other. Several breakers of one name in a process have one vote. While the
    /// fleet is not joined, a breaker goes by its own calls alone.
    ///
    /// - Keys: `rebound:{fleet:name}:votes`, a sorted set of the members that have found the service sick, which expires
    ///   with their heartbeats; and `rebound:{fleet:name}:open`, which says since when all are open, and expires with that.
    ///
    /// - Parameters:
    ///   - name: What it protects: processes that name the same share it.
    ///   - policy: When the breaker of a process opens, and what lets it close again.
    ///   - quorum: How many members must have opened before all do.
    ///   - isFailure: Which errors speak against the service.
    /// - Throws: `InvalidPolicy` if the name has braces.
    public func circuitBreaker(
      _ name: String,
      policy: CircuitBreakerPolicy,
      quorum: Quorum = .majority,
      failingWhen isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) throws(InvalidPolicy) -> CircuitBreaker {
      let breaker = CircuitBreaker(try checked(name, .circuitBreaker), policy: policy, failingWhen: isFailure)
      let ballot = FleetBallot(name, quorum: quorum, openTime: policy.openTime, fleet: self)
      let votes = FleetVotes(breaker: breaker, ballot: ballot, time: time)
      add(votes)
      breaker.onChange { votes.heard($0) }
      return breaker
    }
  }
#endif
