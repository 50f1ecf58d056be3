import Combine

extension Publisher {
  /// Subscribes once a bulkhead has a place, and gives it back at the end.
  ///
  ///     search.limited(by: bulkhead) { .busy($0) }
  ///
  /// - Parameters:
  ///   - bulkhead: Shared by everything that calls the same service.
  ///   - priority: The higher, the sooner, if the policy goes by it.
  ///   - time: Measures the longest wait.
  ///   - refusal: The failure for a subscription that is refused.
  ///
  /// - Demand: Passes up, once there is a place; nothing is held while it waits.
  /// - Failure: The upstream's, or the one for a refusal.
  /// - Threads: Where the upstream sends. One who has waited is subscribed where another has ended, and refused on a
  ///   thread of the time source.
  public func limited(
    by bulkhead: Bulkhead,
    priority: Int = 0,
    time: TimeSource = .current,
    refusingWith refusal: @escaping (BulkheadFull) -> Failure
  ) -> Publishers.WithPolicy<Self, PolicyForFailure<PrioritisedBulkhead, Failure>> {
    protected(by: bulkhead.prioritised(priority), time: time) { error in
      // A bulkhead refuses with nothing else.
      refusal(error as? BulkheadFull ?? BulkheadFull(name: bulkhead.name, limit: 0, queued: 0))
    }
  }

  /// Subscribes once a bulkhead has a place, and fails with ``BulkheadFull`` if it has none.
  ///
  /// See ``Combine/Publisher/limited(by:priority:time:refusingWith:)``.
  ///
  /// - Parameters:
  ///   - bulkhead: Shared by everything that calls the same service.
  ///   - priority: The higher, the sooner, if the policy goes by it.
  ///   - time: Measures the longest wait.
  public func limited(
    by bulkhead: Bulkhead,
    priority: Int = 0,
    time: TimeSource = .current
  ) -> Publishers.WithPolicy<Self, PrioritisedBulkhead> where Failure == any Error {
    protected(by: bulkhead.prioritised(priority), time: time)
  }

  /// Subscribes once a bulkhead has a place, with failures that have a place for its refusal.
  ///
  /// See ``Combine/Publisher/limited(by:priority:time:refusingWith:)``.
  ///
  /// - Parameters:
  ///   - bulkhead: Shared by everything that calls the same service.
  ///   - priority: The higher, the sooner, if the policy goes by it.
  ///   - time: Measures the longest wait.
  public func limited(
    by bulkhead: Bulkhead,
    priority: Int = 0,
    time: TimeSource = .current
  ) -> Publishers.WithPolicy<Self, PolicyForFailure<PrioritisedBulkhead, Failure>> where Failure: RefusalConvertible {
    protected(by: bulkhead.prioritised(priority), time: time)
  }
}
