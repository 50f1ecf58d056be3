#if Redis
  import Rebound

  extension Fleet {
    /// A limit for how many calls of all processes run at the same time.
    ///
    /// - Parameters:
    ///   - name: What it protects: processes that name the same share it.
    ///   - policy: How many calls run at the same time in all processes, and how many wait in this one.
    ///   - lease: For how long the places of a process stay taken after it has died; four heartbeats at least, and
    ///     four hours at most.
    /// - Throws: `InvalidPolicy` if the lease is too short or too long, or the name has braces.
    public func bulkhead(
      _ name: String,
      policy: BulkheadPolicy,
      lease: Duration = .seconds(10)
    ) throws(InvalidPolicy) -> FleetBulkhead {
      let shortest = settings.heartbeat * 4
      let advice = "Give four heartbeats, \(shortest), at least, and four hours at most."
      try PolicyKind.bulkhead.require("lease", lease, advice) { (shortest...FleetSettings.longestLease).contains($0) }
      let bulkhead = FleetBulkhead(try checked(name, .bulkhead), policy: policy, lease: lease, fleet: self)
      add(bulkhead)
      return bulkhead
    }
  }

  extension BulkheadPolicy {
    /// The same policy for one of so many instances, with one place at least.
    func share(ofOneIn instances: Int) -> BulkheadPolicy {
      let places = max(maxConcurrent / max(instances, 1), 1)
      let share = try? BulkheadPolicy(maxConcurrent: places, maxQueue: maxQueue, maxWait: maxWait, order: order)
      // No number is out of range: those of a valid policy are kept, but for one that stays above zero.
      return share ?? self
    }
  }
#endif
