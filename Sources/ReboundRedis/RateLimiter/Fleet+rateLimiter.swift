#if Redis
  import Rebound

  extension Fleet {
    /// A limit for the rate of the calls of all processes.
    ///
    /// - Parameters:
    ///   - name: What it protects: processes that name the same share it.
    ///   - policy: How many calls may begin in a time; a token bucket. With a burst of one, calls are an interval apart.
    ///   - isThrottling: Which errors say that the service was called too often; those that ask for a pause
    ///     (`RetryAfterProviding`) and are no refusal of this program's own unless told otherwise.
    /// - Throws: `InvalidPolicy` if the policy is no token bucket, or the name has braces.
    public func rateLimiter(
      _ name: String,
      policy: RateLimiterPolicy,
      throttledWhen isThrottling: @escaping @Sendable (any Error) -> Bool = RateLimiter.asksForPause
    ) throws(InvalidPolicy) -> FleetRateLimiter {
      let name = try checked(name, .rateLimiter)
      let limiter = try FleetRateLimiter(name, policy: policy, fleet: self, throttledWhen: isThrottling)
      add(limiter)
      return limiter
    }

    /// Refuses a name that would break the keys.
    func checked(_ name: String, _ kind: PolicyKind) throws(InvalidPolicy) -> String {
      try kind.require("name", name, "Give one without braces.") { !$0.isEmpty && !$0.contains { "{}".contains($0) } }
      return name
    }
  }

  extension RateLimiterPolicy {
    /// The same policy for one of so many instances: as many times slower, with as small a part of the burst.
    func share(ofOneIn instances: Int) -> RateLimiterPolicy {
      guard case .bucket(let burst) = meter else { return self }
      let longest = Int(Duration.longestDelay / period)
      let slower = period * max(min(instances, longest), 1)
      let bucket = try? RateLimiterPolicy.tokenBucket(permits, per: slower, burst: max(burst / max(instances, 1), 1))
      // No number is out of range: those of a valid policy were made smaller, and the period at most as long as may be.
      return (try? bucket?.waiting(atMost: maxWait, maxQueue: maxQueue).answering(feedback)) ?? self
    }
  }
#endif
