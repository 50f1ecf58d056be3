#if Redis
  import Dispatch
  import Rebound
  import StreamSupport

  /// The account of a ``RetryBudget`` for all processes of a fleet.
  ///
  /// Requests are counted here, and told with the next retry, or with the next heartbeat; those of a message that gets no
  /// answer are forgotten, so that none counts twice. A retry that is granted counts
  /// from then on. The account of this process alone keeps count all the time, of retries that the server has granted, too,
  /// and decides while the fleet is not joined. What it has granted beyond the share of the requests of that time is told to
  /// the server afterwards, so that no request is the reason for a retry here and for another one there.
  final class FleetRetryAccount: RetryAccount {
    private struct State {
      var twin: RetryBudget
      /// Of how many instances the twin is one.
      var parts: Int
      /// Requests that the server has not been told of.
      var untold = 0
      /// Retries that were granted here, and the requests of the time alone, since the server was told last.
      var ownRetries = 0
      var ownRequests = 0
      var granted = 0
      var denied = 0
      /// How many more retries the server would have granted when it was asked last.
      var available = 0
    }

    private let ratio: Double
    private let window: Duration
    private let floor: Int
    private let fleet: Fleet
    private let key: String
    /// In milliseconds.
    private let slotLength: Int
    private let state: Locked<State>

    private static let slotCount = 10

    init(_ name: String, ratio: Double, window: Duration, floor: Int, fleet: Fleet) throws(InvalidPolicy) {
      // Scripts count in floating point, which is exact up to here; and what is made of these fits into an integer.
      (self.ratio, self.window, self.floor, self.fleet) = (min(ratio, 1e6), window, min(floor, 1 << 52), fleet)
      slotLength = max(window.milliseconds / Self.slotCount, 1)
      // The number of a slot says nothing to whoever has slots of another length.
      key = fleet.key(name) + "budget:\(slotLength)"
      let parts = fleet.instances
      // Of the same numbers, so that those that make no sense are refused.
      _ = try RetryBudget.ratio(ratio, window: window, floor: floor)
      let twin = try RetryBudget.ratio(ratio, window: window, floor: floor / parts)
      state = Locked(State(twin: twin, parts: parts, available: floor))
    }

    private func twin() -> RetryBudget {
      let parts = fleet.instances
      return state.withLock { state in
        // What was counted is kept as long as the number of instances is.
        if state.parts != parts, let twin = try? RetryBudget.ratio(ratio, window: window, floor: floor / parts) {
          (state.twin, state.parts) = (twin, parts)
        }
        return state.twin
      }
    }

    // MARK: The server

    /// Counts requests, and a retry if there may be one more.
    ///
    /// Slots beyond the next one are of a server whose clock was ahead of this one's, and would stay for as long.
    ///
    /// Arguments: the length of a slot in milliseconds, how many slots make the window, the ratio, the floor, how many
    /// requests there were, whether a retry is asked for, and how many were granted elsewhere. Returns whether it is granted, in which slot, and how many
    /// more there would be.
    static let script = RedisScript(
      """
      local time = redis.call('TIME')
      local slot = math.floor((time[1] * 1000 + math.floor(time[2] / 1000)) / ARGV[1])
      local requests, retries = tonumber(ARGV[5]), 0
      local counts = redis.call('HGETALL', KEYS[1])
      for index = 1, #counts, 2 do
        local field = counts[index]
        local age = slot - string.sub(field, 2)
        if age >= tonumber(ARGV[2]) or age < -1 then
          redis.call('HDEL', KEYS[1], field)
        elseif string.sub(field, 1, 1) == 'q' then
          requests = requests + counts[index + 1]
        else
          retries = retries + counts[index + 1]
        end
      end
      retries = retries + ARGV[7]
      if tonumber(ARGV[5]) > 0 then redis.call('HINCRBY', KEYS[1], 'q' .. slot, ARGV[5]) end
      if tonumber(ARGV[7]) > 0 then redis.call('HINCRBY', KEYS[1], 'r' .. slot, ARGV[7]) end
      local left = math.floor(requests * ARGV[3] + 1e-9) + ARGV[4] - retries
      local granted = 0
      if ARGV[6] == '1' and left > 0 then
        redis.call('HINCRBY', KEYS[1], 'r' .. slot, 1)
        granted = 1
        left = left - 1
      end
      redis.call('PEXPIRE', KEYS[1], ARGV[1] * (ARGV[2] + 1))
      return {granted, slot, math.max(left, 0)}
      """
    )

    /// Counts a retry less, unless its slot has gone: a key that is made here would never expire.
    ///
    /// Argument: the field of the slot's retries.
    static let giveBackScript = RedisScript(
      """
      if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
      return redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
      """
    )

    private func command(_ untold: Untold, asks: Bool) -> RedisCommand {
      var command = RedisCommand(Self.script, keys: [key])
      command.add(slotLength)
      command.add(Self.slotCount)
      command.add("\(ratio)")
      command.add(floor)
      command.add(untold.requests)
      command.add(asks ? 1 : 0)
      command.add(untold.retries)
      return command
    }

    /// What the server has not been told of.
    private struct Untold {
      let requests: Int
      let retries: Int
    }

    private func takeUntold() -> Untold {
      state.withLock { state in
        let share = Int((Double(state.ownRequests) * ratio).rounded(.down))
        let untold = Untold(requests: state.untold, retries: max(state.ownRetries - share, 0))
        (state.untold, state.ownRetries, state.ownRequests) = (0, 0, 0)
        return untold
      }
    }

    // MARK: The account

    func begin(at now: Duration) {
      twin().begin(at: now)
      let isJoined = fleet.isJoined
      state.withLock { state in
        // What the server was not there for is no account for later retries.
        if isJoined { state.untold += 1 } else { state.ownRequests += 1 }
      }
    }

    func fail() {}

    func succeed(afterRetry: Bool) {}

    /// For those who cannot wait for the server: by the share of this process.
    func grant(at now: Duration) -> RetryBudget.Retry? {
      let retry = twin().grant(at: now)
      if retry != nil { state.withLock { $0.ownRetries += 1 } }
      return count(retry)
    }

    var answersLater: Bool { fleet.isJoined }

    func ask(at now: Duration, _ answer: @escaping @Sendable (RetryBudget.Retry?) -> Void) {
      fleet.ask(
        command(takeUntold(), asks: true),
        late: { [self] reply in
          if let numbers = reply.integers(3), numbers[0] == 1 { giveBack(slot: numbers[1]) }
        }
      ) { [self] reply in
        // What comes next may wait, as the connection's thread may not.
        DispatchQueue.global().async { [self] in answer(retry(reply, at: now)) }
      }
    }

    private func retry(_ reply: RedisReply?, at now: Duration) -> RetryBudget.Retry? {
      guard let numbers = reply?.integers(3) else {
        if let reply { fleet.distrust(reply) }
        return grant(at: now)
      }
      state.withLock { $0.available = numbers[2] }
      guard numbers[0] == 1 else { return count(nil) }
      // The account of this process knows of it, and does not grant it once more when it is alone.
      let own = twin().grant(at: now)
      return count(
        RetryBudget.Retry { [self] begins, now in
          if begins {
            own?.begin(at: now ?? fleet.time.now)
          } else {
            own?.giveBack(at: now ?? fleet.time.now)
            giveBack(slot: numbers[1])
          }
        }
      )
    }

    private func count(_ retry: RetryBudget.Retry?) -> RetryBudget.Retry? {
      state.withLock { state in
        if retry == nil { state.denied += 1 } else { state.granted += 1 }
      }
      return retry
    }

    private func giveBack(slot: Int) {
      var command = RedisCommand(Self.giveBackScript, keys: [key])
      command.add("r\(slot)")
      fleet.tell(command)
    }

    func snapshot(at now: Duration) -> RetryBudget.Snapshot {
      let isJoined = fleet.isJoined
      return state.withLock { state in
        let alone = state.twin.account.snapshot(at: now)
        return RetryBudget.Snapshot(
          available: isJoined ? state.available : alone.available,
          queued: alone.queued,
          granted: state.granted,
          denied: state.denied
        )
      }
    }
  }

  extension FleetRetryAccount: Fleet.Member {
    /// Tells the server of the requests of the last moments.
    func heartbeat() {
      let untold = takeUntold()
      if untold.requests > 0 || untold.retries > 0 { fleet.tell(command(untold, asks: false)) }
    }
  }

  extension Fleet {
    /// A budget for the retries of all processes.
    ///
    ///     Retry(.standard, budget: try fleet.budget("weather", ratio: 0.1))
    ///
    /// Retries of all processes together are a share of their requests, wherever they are made: a process with few
    /// requests may retry on account of one with many. A retry asks the server before its wait. A hedge, which cannot
    /// wait, is granted by the share of this process. While the fleet is not joined, all are: by the requests of this
    /// process, and its part of the floor.
    ///
    /// - Keys: `rebound:{fleet:name}:budget:length`, a hash of the requests and retries of the last slots, of which each is
    ///   so many milliseconds, a tenth of the window. It expires a slot after the window.
    ///
    /// - Parameters:
    ///   - name: What it protects: processes that name the same, with the same window, share it.
    ///   - ratio: How many retries there may be for each request.
    ///   - window: How long requests and retries count; a tenth leaves it at a time.
    ///   - floor: How many retries there may be however few requests there are, in all processes together.
    /// - Throws: `InvalidPolicy`, with the number that makes no sense.
    public func budget(
      _ name: String,
      ratio: Double = 0.1,
      window: Duration = .seconds(10),
      floor: Int = 3
    ) throws(InvalidPolicy) -> RetryBudget {
      let name = try checked(name, .budget)
      let account = try FleetRetryAccount(name, ratio: ratio, window: window, floor: floor, fleet: self)
      add(account)
      return RetryBudget(account)
    }
  }
#endif
