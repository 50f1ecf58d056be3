extension Publisher {
  /// Delivers values and the end after a pause.
  ///
  /// The order is kept on every scheduler, concurrent ones included, and the end comes last. One job is scheduled for
  /// each value.
  ///
  /// - Parameters:
  ///   - interval: how long to wait.
  ///   - tolerance: how much longer it may take; the least that the scheduler can keep if nil.
  ///   - scheduler: where to wait and deliver.
  ///   - options: how the scheduler is to do it.
  /// - Demand: passes as it is, at once; what the subscriber answers to a value is a request of its own.
  /// - Failure: passes after the same pause.
  /// - Threads: values and the end come on the scheduler, one at a time; the subscription comes where it is made.
  @inlinable @inline(__always)
  public func delay<S: Scheduler>(
    for interval: S.SchedulerTimeType.Stride,
    tolerance: S.SchedulerTimeType.Stride? = nil,
    scheduler: S,
    options: S.SchedulerOptions? = nil
  ) -> Publishers.Delay<Self, S> {
    Publishers.Delay(
      upstream: self,
      interval: interval,
      tolerance: tolerance ?? scheduler.minimumTolerance,
      scheduler: scheduler,
      options: options
    )
  }
}

extension Publishers {
  /// A publisher that delivers the values of its upstream after a pause.
  public struct Delay<Upstream: Publisher, Context: Scheduler>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values.
    public let upstream: Upstream

    /// How long to wait.
    public let interval: Context.SchedulerTimeType.Stride

    /// How much longer it may take.
    public let tolerance: Context.SchedulerTimeType.Stride

    /// Where the work is done.
    public let scheduler: Context

    /// How the scheduler is to do the work.
    public let options: Context.SchedulerOptions?

    /// Makes a publisher that delivers after a pause.
    @inlinable
    public init(
      upstream: Upstream,
      interval: Context.SchedulerTimeType.Stride,
      tolerance: Context.SchedulerTimeType.Stride,
      scheduler: Context,
      options: Context.SchedulerOptions? = nil
    ) {
      self.upstream = upstream
      self.interval = interval
      self.tolerance = tolerance
      self.scheduler = scheduler
      self.options = options
    }

    /// Attaches a subscriber to the upstream, through the scheduler.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      upstream.subscribe(ReceiveOnSubscriber(nil, to: subscriber, on: scheduler, options, after: (interval, tolerance)))
    }
  }
}
