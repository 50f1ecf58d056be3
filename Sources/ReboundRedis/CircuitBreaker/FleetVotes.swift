#if Redis
  import Dispatch
  import Rebound
  import StreamSupport

  /// How many members of a fleet must find a service sick before all do.
  public struct Quorum: Hashable, Sendable {
    let share: Double
    let minimum: Int

    /// This share of the living members, but so many at least.
    ///
    /// - Parameters:
    ///   - share: In `0...1`; 0.5 is half of them.
    ///   - minimum: Two at least: one member with a broken network must not speak for all.
    /// - Throws: ``InvalidPolicy``, with the number that makes no sense.
    public static func share(_ share: Double, atLeast minimum: Int = 2) throws(InvalidPolicy) -> Quorum {
      try PolicyKind.circuitBreaker.require("the quorum's share", share, "Give 0 … 1.") { (0...1).contains($0) }
      try PolicyKind.circuitBreaker.require("the quorum's minimum", minimum, "Give at least 2.") { $0 >= 2 }
      return Quorum(share: share, minimum: minimum)
    }

    private init(share: Double, minimum: Int) {
      (self.share, self.minimum) = (share, minimum)
    }

    /// More than half of the living members, and two at least.
    public static let majority = Quorum(share: 0.5, minimum: 2)

    func votes(of instances: Int) -> Int {
      // More than the share; of all of them, all.
      max(min(Int((share * Double(instances)).rounded(.down)) + 1, instances), minimum)
    }
  }

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
    private let fleet: Fleet
    private let quorum: Quorum
    private let openTime: Duration
    private let keys: [String]
    private let state = Locked(State())

    init(_ name: String, breaker: CircuitBreaker, openTime: Duration, quorum: Quorum, fleet: Fleet) {
      (self.openTime, self.quorum, self.fleet) = (openTime, quorum, fleet)
      target = Locked(Target(breaker: breaker))
      keys = [fleet.key(name) + "votes", fleet.key(name) + "open"]
    }

    /// Takes a vote, and says whether enough members have found the service sick.
    ///
    /// Arguments: the member, whether it votes, for how many milliseconds the vote holds, how many votes are enough, and
    /// for how long all open then. Returns what the opening is called, if there is one, and how long it lasts.
    static let script = RedisScript(
      """
      local time = redis.call('TIME')
      local now = time[1] * 1000 + math.floor(time[2] / 1000)
      redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
      if ARGV[2] == '1' then
        redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
        redis.call('PEXPIRE', KEYS[1], ARGV[3])
      else
        redis.call('ZREM', KEYS[1], ARGV[1])
      end
      local opening = redis.call('GET', KEYS[2])
      if not opening and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[4]) then
        opening = time[1] .. '.' .. time[2]
        redis.call('SET', KEYS[2], opening, 'PX', ARGV[5])
      end
      if not opening then return {'', 0} end
      return {opening, redis.call('PTTL', KEYS[2])}
      """
    )

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
      target.withLock { $0.breaker }?.poll(at: fleet.time.now)
      exchange()
    }

    private func exchange() {
      var command = RedisCommand(Self.script, keys: keys)
      command.add(fleet.member)
      command.add(state.withLock { $0.isFor } ? 1 : 0)
      // A member that dies takes its vote along.
      command.add((fleet.settings.heartbeat * 3).milliseconds)
      command.add(quorum.votes(of: fleet.instances))
      command.add(openTime.milliseconds)
      fleet.ask(command) { [weak self] reply in
        guard let self, let reply else { return }
        guard case .array(let items) = reply, items.count == 2, case .bytes(let name) = items[0],
          let left = items[1].integer, left <= openTime.milliseconds
        else { return fleet.distrust(reply) }
        // The breaker's observers may wait, as the connection's thread may not.
        DispatchQueue.global().async { [self] in
          follow(String(decoding: name, as: UTF8.self), left: .milliseconds(left))
        }
      }
    }

    private func follow(_ opening: String, left: Duration) {
      guard !opening.isEmpty, left > .zero, let breaker = target.withLock({ $0.breaker }) else { return }
      let isNew: Bool = state.withLock { state in
        guard state.opening != opening else { return false }
        state.opening = opening
        return true
      }
      guard isNew, breaker.state == .closed else { return }
      state.withLock { $0.following += 1 }
      if breaker.open(for: left, at: fleet.time.now) { return }
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
    /// is broken opens its own breaker, and no other. While the fleet is not joined, a breaker goes by its own calls alone.
    ///
    /// - Keys: `rebound:{fleet:name}:votes`, a sorted set of the members that have found the service sick, which expires
    ///   with their heartbeats; and `rebound:{fleet:name}:open`, which says since when all are open, and expires with that.
    ///
    /// - Parameters:
    ///   - name: What it protects: processes that name the same share it.
    ///   - policy: When the breaker of a process opens, and what lets it close again.
    ///   - quorum: How many members must have opened before all do.
    ///   - isFailure: Which errors speak against the service.
    /// - Throws: ``InvalidPolicy`` if the name has braces.
    public func circuitBreaker(
      _ name: String,
      policy: CircuitBreakerPolicy,
      quorum: Quorum = .majority,
      countingAsFailure isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) throws(InvalidPolicy) -> CircuitBreaker {
      let breaker = CircuitBreaker(try checked(name, .circuitBreaker), policy: policy, countingAsFailure: isFailure)
      let votes = FleetVotes(name, breaker: breaker, openTime: policy.openTime, quorum: quorum, fleet: self)
      add(votes)
      breaker.onChange { votes.heard($0) }
      return breaker
    }
  }
#endif
