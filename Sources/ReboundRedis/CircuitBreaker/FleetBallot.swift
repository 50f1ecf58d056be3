#if Redis
  import Dispatch
  import Rebound
  import StreamSupport

  /// What the breakers of one process have found: those of one name are one voter, and vote for what one of them is for.
  ///
  /// As several voters they would be a quorum by themselves; and if each spoke for the process, one would take back what
  /// another has said.
  final class MemberVotes: Sendable {
    private let votes = Locked<[String: Set<ObjectIdentifier>]>([:])

    /// Takes the vote of a breaker in place of its last, and says how the process votes.
    func vote(_ isFor: Bool, by breaker: ObjectIdentifier, on name: String) -> Bool {
      votes.withLock { votes in
        var isForIt = votes[name] ?? []
        if isFor { isForIt.insert(breaker) } else { isForIt.remove(breaker) }
        votes[name] = isForIt.isEmpty ? nil : isForIt
        return !isForIt.isEmpty
      }
    }
  }

  /// The votes of a breaker's members, at the server.
  final class FleetBallot: CircuitBreakerBallot {
    private let fleet: Fleet
    private let quorum: Quorum
    private let openTime: Duration
    private let keys: [String]

    init(_ name: String, quorum: Quorum, openTime: Duration, fleet: Fleet) {
      (self.quorum, self.openTime, self.fleet) = (quorum, openTime, fleet)
      keys = [fleet.key(name) + "votes", fleet.key(name) + "open"]
    }

    deinit {
      _ = memberVotes(false)
    }

    private func memberVotes(_ isFor: Bool) -> Bool {
      fleet.votes.vote(isFor, by: ObjectIdentifier(self), on: keys[0])
    }

    /// Takes a vote, and says whether enough members have found the service sick.
    ///
    /// An opening that begins at a second still to come is of a server whose clock was ahead, and would hold for as long: the
    /// votes decide anew.
    ///
    /// Arguments: the member, whether it votes, for how many milliseconds the vote holds, how many votes are enough, and
    /// for how long all open then. Returns what the opening is called, if there is one, and how long it lasts.
    static let script = RedisScript(
      """
      local time = redis.call('TIME')
      local now = time[1] * 1000 + math.floor(time[2] / 1000)
      \(FleetScripts.expiring(3))
      if ARGV[2] == '1' then
        redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
        \(FleetScripts.staying(3))
      else
        redis.call('ZREM', KEYS[1], ARGV[1])
      end
      local opening = redis.call('GET', KEYS[2])
      if opening and (tonumber(string.match(opening, '^%d+')) or 0) > tonumber(time[1]) then
        redis.call('DEL', KEYS[2])
        opening = false
      end
      if not opening and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[4]) then
        opening = time[1] .. '.' .. time[2]
        redis.call('SET', KEYS[2], opening, 'PX', ARGV[5])
      end
      if not opening then return {'', 0} end
      return {opening, redis.call('PTTL', KEYS[2])}
      """
    )

    func vote(_ isFor: Bool, answer: @escaping @Sendable (CircuitBreakerOpening?) -> Void) {
      var command = RedisCommand(Self.script, keys: keys)
      command.add(fleet.member)
      command.add(memberVotes(isFor) ? 1 : 0)
      // A member that dies takes its vote along.
      command.add((fleet.settings.heartbeat * 3).milliseconds)
      command.add(quorum.votes(of: fleet.electorate))
      command.add(openTime.milliseconds)
      // Also with the heartbeat that lets the server decide again.
      fleet.ask(command, whileAlone: true) { [fleet, openTime] reply in
        guard let reply else { return answer(nil) }
        guard case .array(let items) = reply, items.count == 2, case .bytes(let name) = items[0],
          let left = items[1].integer, left <= Duration.longestDelay.milliseconds
        else {
          answer(nil)
          return fleet.distrust(reply)
        }
        // A member of another version may have made it, whose breaker stays open for longer.
        let lasts = min(Duration.milliseconds(left), openTime)
        let opening = CircuitBreakerOpening(name: String(decoding: name, as: UTF8.self), left: lasts)
        // The breaker's observers may wait, as the connection's thread may not.
        DispatchQueue.global().async { answer(opening.name.isEmpty ? nil : opening) }
      }
    }
  }
#endif
