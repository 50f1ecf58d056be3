#if Redis
  /// What the server runs; each is one step, and takes its time from the server's clock.
  enum FleetScripts {
    /// All that a connection loads when it is made.
    static let all = [
      beat, FleetRateLimiter.script, FleetRateLimiter.pauseScript, FleetBulkhead.script, FleetBulkhead.renewalScript,
      FleetRetryAccount.script, FleetRetryAccount.giveBackScript, FleetBallot.script, CredentialScripts.take,
      CredentialScripts.write, CredentialScripts.release, FleetOutboxStorage.takeScript,
      FleetOutboxStorage.renewalScript, FleetOutboxStorage.releaseScript, FleetOutboxStorage.writeScript,
      CacheScripts.look, CacheScripts.store, CacheScripts.release,
    ]

    /// Has the first key stay for the milliseconds of an argument at least.
    ///
    /// What others have put there may last longer: another version of the program may have another lease or heartbeat.
    static func staying(_ argument: Int) -> String {
      """
      if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[\(argument)]) then
        redis.call('PEXPIRE', KEYS[1], ARGV[\(argument)])
      end
      """
    }

    /// Has the first key, a sorted set, lose whatever is over.
    ///
    /// What lasts for longer than any lease is of a server whose clock was ahead, and would stay for as long, its owner be dead or
    /// alive: it lasts for the milliseconds of an argument from now on. `now` is the present.
    static func expiring(_ argument: Int) -> String {
      """
      redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
      for _, ahead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now + \(FleetSettings.longestLease.milliseconds), '+inf')) do
        redis.call('ZADD', KEYS[1], now + ARGV[\(argument)], ahead)
      end
      """
    }

    /// A member is alive; returns how many are, how many were at most of late, and the number of the heartbeat.
    ///
    /// Arguments: the member, for how many milliseconds its word holds, for how many the greatest number does, and the
    /// number of the heartbeat. It adds before it removes, since a server whose memory is full refuses the first of all
    /// changes only.
    static let beat = RedisScript(
      """
      local time = redis.call('TIME')
      local now = time[1] * 1000 + math.floor(time[2] / 1000)
      redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
      \(expiring(2))
      \(staying(2))
      local living = redis.call('ZCARD', KEYS[1])
      local peak = tonumber(redis.call('GET', KEYS[2]) or 0)
      if living >= peak then
        peak = living
        redis.call('SET', KEYS[2], peak, 'PX', ARGV[3])
      elseif redis.call('PTTL', KEYS[2]) > \(FleetSettings.longest.milliseconds) then
        redis.call('PEXPIRE', KEYS[2], ARGV[3])
      end
      return {living, peak, tonumber(ARGV[4])}
      """
    )
  }

  /// How many members a fleet has, as the server says in answer to a heartbeat.
  struct FleetCount {
    let living: Int
    let peak: Int

    /// `nil` if what it says makes no sense, or is the answer to another heartbeat.
    init?(_ reply: RedisReply, to heartbeat: Int) {
      guard let numbers = reply.integers(3), numbers[2] == heartbeat, (1...1_000_000).contains(numbers[0]),
        (numbers[0]...1_000_000).contains(numbers[1])
      else { return nil }
      (living, peak) = (numbers[0], numbers[1])
    }
  }
#endif
