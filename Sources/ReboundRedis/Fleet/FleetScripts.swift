#if Redis
  /// What the server runs; each is one step, and takes its time from the server's clock.
  enum FleetScripts {
    /// All that a connection loads when it is made.
    static let all = [
      beat, FleetRateLimiter.script, FleetRateLimiter.pauseScript, FleetBulkhead.script, FleetBulkhead.renewalScript,
      FleetRetryAccount.script, FleetVotes.script, CredentialScripts.take, CredentialScripts.write,
      CredentialScripts.release,
      FleetOutboxStorage.takeScript, FleetOutboxStorage.writeScript, CacheScripts.look, CacheScripts.store,
      CacheScripts.release,
    ]

    /// A member is alive; returns how many are.
    ///
    /// Arguments: the member, and for how many milliseconds its word holds. It adds before it removes, since a server
    /// whose memory is full refuses the first of all changes only.
    static let beat = RedisScript(
      """
      local time = redis.call('TIME')
      local now = time[1] * 1000 + math.floor(time[2] / 1000)
      redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
      redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
      redis.call('PEXPIRE', KEYS[1], ARGV[2])
      return redis.call('ZCARD', KEYS[1])
      """
    )
  }
#endif
