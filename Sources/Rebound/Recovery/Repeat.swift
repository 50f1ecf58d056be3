import Combine

extension Publisher {
  /// Subscribes again after a finish, as a policy says.
  ///
  ///     Deferred { client.status() }
  ///       .repeat(RepeatPolicy(clamping: nil, pause: .constant(.seconds(30))))
  ///
  /// - Parameters:
  ///   - policy: How often, and after which pause.
  ///   - time: Measures time and waits.
  ///
  /// - Demand: Passes up; what is still owed when a run finishes is requested from the next. Values beyond the demand are
  ///   dropped. An upstream that finishes without having been asked is repeated all the same.
  /// - Failure: The upstream's, which ends it.
  /// - Threads: Values and completion arrive where the upstream sends them. The time source runs only the next
  ///   subscription, and not even that when the pause is zero.
  /// - Note: Every run subscribes to the upstream anew; one that shares one execution (`share()`, `Future`) only repeats
  ///   its end. An empty upstream that is repeated for ever without a pause never lets go of its thread.
  public func `repeat`(
    _ policy: RepeatPolicy,
    time: TimeSource = .current
  ) -> Publishers.WithPolicy<Self, PolicyForFailure<RepeatPolicy, Failure>> {
    Publishers.WithPolicy(upstream: self, policy: PolicyForFailure(policy), time: time)
  }

  /// Subscribes again and again, each time this long after the time before.
  ///
  ///     Deferred { client.status() }.repeat(every: .seconds(30))
  ///
  /// See ``Combine/Publisher/repeat(_:time:)``. A run that takes longer than the interval is followed at once by the next.
  ///
  /// - Parameters:
  ///   - interval: From one begin to the next; less than 1 ms counts as that.
  ///   - times: How many runs may follow the first; `nil` means for ever, a negative number none.
  ///   - time: Measures time and waits.
  public func `repeat`(
    every interval: Duration,
    times: Int? = nil,
    time: TimeSource = .current
  ) -> Publishers.WithPolicy<Self, PolicyForFailure<RepeatPolicy, Failure>> {
    self.repeat(RepeatPolicy(clampingEvery: interval, times: times), time: time)
  }
}
