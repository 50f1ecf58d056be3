#if Redis
  extension FleetRateLimiter {
    /// Moves the moment at which the bucket is full again, if a call may begin now or within its wait.
    ///
    /// A pause takes nothing out of the bucket, which is filled meanwhile.
    ///
    /// Arguments: the interval between two calls, how far a burst may be ahead, the longest wait, and, if there is one, the
    /// rest of a pause that the caller knows of, in microseconds. Returns zero if the call begins, how long it waits, or,
    /// below zero, how long it would have to.
    package static let script = RedisScript(
      """
      local time = redis.call('TIME')
      local now = time[1] * 1000000 + time[2]
      local full = tonumber(redis.call('GET', KEYS[1]) or now)
      local paused = math.max(tonumber(redis.call('GET', KEYS[2]) or now), now + (ARGV[4] or 0))
      local begin = math.max(paused, full - ARGV[2])
      local wait = begin - now
      if wait > tonumber(ARGV[3]) then return -math.ceil(wait) end
      full = math.max(full, begin) + ARGV[1]
      redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', math.max(math.ceil((full - now) / 1000), 1))
      if wait > 0 then return math.ceil(wait) end
      return 0
      """
    )

    /// Argument: for how many microseconds nobody begins.
    static let pauseScript = RedisScript(
      """
      local time = redis.call('TIME')
      local paused = time[1] * 1000000 + time[2] + ARGV[1]
      if tonumber(redis.call('GET', KEYS[1]) or 0) >= paused then return 0 end
      redis.call('SET', KEYS[1], string.format('%.3f', paused), 'PX', math.max(math.ceil(ARGV[1] / 1000), 1))
      return 1
      """
    )
  }
#endif
