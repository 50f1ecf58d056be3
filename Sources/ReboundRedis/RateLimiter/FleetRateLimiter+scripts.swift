#if Redis
  extension FleetRateLimiter {
    /// The present, and two functions about the pause of a key: one writes until when it is kept, the other reads that.
    ///
    /// One that was written at a moment still to come is of a server whose clock was ahead: it is as long as it was then,
    /// from now on.
    private static let pauses = """
      local time = redis.call('TIME')
      local now = time[1] * 1000000 + time[2]
      local function pause(key, over)
        local text = string.format('%.3f %.0f', over, now)
        redis.call('SET', key, text, 'PX', math.max(math.ceil((over - now) / 1000), 1))
      end
      local function pausedUntil(key)
        local kept = redis.call('GET', key)
        if not kept then return now end
        local over, written = string.match(kept, '^(%S+) ?(%S*)$')
        local ahead = (tonumber(written) or now) - now
        if ahead <= 0 then return tonumber(over) end
        pause(key, over - ahead)
        return over - ahead
      end

      """

    /// Moves the moment at which the bucket is full again, if a call may begin now or within its wait.
    ///
    /// A pause takes nothing out of the bucket, which is filled meanwhile.
    ///
    /// The key may have been written by another policy of the same name, or by the clock of another server: as many calls
    /// stay missing, and where that moment is still to come, as many as were missing then; those that wait behind a pause
    /// stay behind it. By another interval, or where the bucket is full sooner, and not by what rounding makes of it, a call
    /// that is refused writes it, too.
    ///
    /// Arguments: the interval between two calls, how far a burst may be ahead, the longest wait, and, if there is one, the
    /// rest of a pause that the caller knows of, in microseconds. Returns zero if the call begins, how long it waits, or,
    /// below zero, how long it would have to.
    package static let script = RedisScript(
      pauses + """
        local paused = math.max(pausedUntil(KEYS[2]), now + (ARGV[4] or 0))
        local full, before, isOther = now, now, false
        local kept = redis.call('GET', KEYS[1])
        if kept then
          local interval, written
          before, interval, written = string.match(kept, '^(%S+) (%S+) (%S+)$')
          isOther = interval ~= ARGV[1]
          local rest, held = math.max(before - math.max(written, now), 0), math.max(paused - now, 0)
          if rest <= held then held = 0 end
          full = now + held + (rest - held) * ARGV[1] / interval
        end
        local begin = math.max(paused, full - ARGV[2])
        local wait = begin - now
        local isRefused = wait > tonumber(ARGV[3])
        if not isRefused then full = math.max(full, begin) + ARGV[1] end
        if not isRefused or isOther or full < before - 1 then
          local text = string.format('%.3f %s %.0f', full, ARGV[1], now)
          redis.call('SET', KEYS[1], text, 'PX', math.max(math.ceil((full - now) / 1000), 1))
        end
        if isRefused then return -math.ceil(wait) end
        if wait > 0 then return math.ceil(wait) end
        return 0
        """
    )

    /// Argument: for how many microseconds nobody begins.
    static let pauseScript = RedisScript(
      pauses + """
        if pausedUntil(KEYS[1]) >= now + ARGV[1] then return 0 end
        pause(KEYS[1], now + ARGV[1])
        return 1
        """
    )
  }
#endif
