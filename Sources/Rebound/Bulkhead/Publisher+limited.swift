import Combine
import Dispatch

extension Publisher {
  /// Subscribes once a bulkhead has a place, and gives it back at the end.
  ///
  ///     search.limited(by: bulkhead) { .busy($0) }
  ///
  /// - Parameters:
  ///   - bulkhead: Shared by everything that calls the same service.
  ///   - priority: The higher, the sooner, if the policy goes by it.
  ///   - scheduler: Measures the longest wait; `DispatchQueue.main` unless told otherwise.
  ///   - options: For the scheduler.
  ///   - refusal: The failure for a subscription that is refused.
  ///
  /// - Demand: Passes up, once there is a place; nothing is held while it waits.
  /// - Failure: The upstream's, or the one for a refusal.
  /// - Threads: Where the upstream sends. One who has waited is subscribed where another has ended, and refused on the
  ///   scheduler.
  public func limited<Context: Scheduler>(
    by bulkhead: Bulkhead,
    priority: Int = 0,
    scheduler: Context = DispatchQueue.main,
    options: Context.SchedulerOptions? = nil,
    refusingWith refusal: @escaping (BulkheadFull) -> Failure
  ) -> Publishers.Limited<Self, Context> {
    Publishers.Limited(
      upstream: self,
      bulkhead: bulkhead,
      priority: priority,
      scheduler: scheduler,
      options: options,
      refusal: refusal
    )
  }

  /// Subscribes once a bulkhead has a place, and fails with ``BulkheadFull`` if it has none.
  ///
  /// See ``Combine/Publisher/limited(by:priority:scheduler:options:refusingWith:)``.
  ///
  /// - Parameters:
  ///   - bulkhead: Shared by everything that calls the same service.
  ///   - priority: The higher, the sooner, if the policy goes by it.
  ///   - scheduler: Measures the longest wait; `DispatchQueue.main` unless told otherwise.
  ///   - options: For the scheduler.
  public func limited<Context: Scheduler>(
    by bulkhead: Bulkhead,
    priority: Int = 0,
    scheduler: Context = DispatchQueue.main,
    options: Context.SchedulerOptions? = nil
  ) -> Publishers.Limited<Self, Context> where Failure == any Error {
    limited(by: bulkhead, priority: priority, scheduler: scheduler, options: options, refusingWith: { $0 })
  }
}

extension Publishers {
  /// Subscribes once a bulkhead has a place.
  ///
  /// Made by ``Combine/Publisher/limited(by:priority:scheduler:options:refusingWith:)``.
  public struct Limited<Upstream: Publisher, Context: Scheduler>: Publisher {
    /// What the upstream publishes.
    public typealias Output = Upstream.Output
    /// What the upstream fails with.
    public typealias Failure = Upstream.Failure

    /// The publisher that waits for a place.
    public let upstream: Upstream
    /// Shared by everything that calls the same service.
    public let bulkhead: Bulkhead
    /// The higher, the sooner.
    public let priority: Int
    /// Measures the longest wait.
    public let scheduler: Context
    /// For the scheduler.
    public let options: Context.SchedulerOptions?
    /// The failure for a subscription that is refused.
    public let refusal: (BulkheadFull) -> Failure

    /// Makes a publisher that waits for a place.
    ///
    /// - Parameters:
    ///   - upstream: The publisher that waits for a place.
    ///   - bulkhead: Shared by everything that calls the same service.
    ///   - priority: The higher, the sooner.
    ///   - scheduler: Measures the longest wait.
    ///   - options: For the scheduler.
    ///   - refusal: The failure for a subscription that is refused.
    public init(
      upstream: Upstream,
      bulkhead: Bulkhead,
      priority: Int = 0,
      scheduler: Context,
      options: Context.SchedulerOptions? = nil,
      refusal: @escaping (BulkheadFull) -> Failure
    ) {
      self.upstream = upstream
      self.bulkhead = bulkhead
      self.priority = priority
      self.scheduler = scheduler
      self.options = options
      self.refusal = refusal
    }

    /// Asks for a place, and then subscribes to the upstream or fails.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let (alarm, bulkhead, priority, refusal) = (Alarm(scheduler, options: options), bulkhead, priority, refusal)
      let admission = Admission<Bulkhead.Permit, Upstream>(
        name: "Limited",
        ask: { answer in
          bulkhead.ask(priority: priority, alarm: alarm) { answer($0.mapError(refusal)) }
        },
        upstream: { _ in upstream },
        settle: { permit, end in
          switch end {
          case .finished: permit.release()
          case .failed(let error): permit.release(.failed(error))
          case .cancelled: permit.release(.cancelled)
          }
        }
      )
      AdmissionExecution.begin(admission, downstream: subscriber)
    }
  }
}
