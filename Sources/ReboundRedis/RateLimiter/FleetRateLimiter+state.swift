#if Redis
  import Rebound

  extension FleetRateLimiter {
    struct State {
      var twin: LocalTwin<RateLimiter>
      var queued = 0
      /// How many may have to wait, and have no answer from the server yet.
      var asking = 0
      /// Until when the service wants no calls, by the fleet's clock, as far as this process was told.
      var pausedUntil: Duration?

      /// Takes a place among those who wait for a call that asks; says whether there was one.
      mutating func takePlace(_ policy: RateLimiterPolicy) -> Bool {
        guard policy.maxWait > .zero, queued + asking < policy.maxQueue else { return false }
        asking += 1
        return true
      }

      /// What is left of the pause; `nil` if there is none.
      mutating func pause(at now: Duration) -> Duration? {
        if let pausedUntil, pausedUntil > now { return pausedUntil - now }
        pausedUntil = nil
        return nil
      }
    }

    /// What the server is asked for one call.
    struct Question {
      let command: RedisCommand
      /// Whether the call has a place among those who wait, in case that it has to.
      let mayWait: Bool
    }
  }
#endif
