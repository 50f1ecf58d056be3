extension Publisher {
  /// Delivers values and the end on a scheduler.
  ///
  /// The order is kept on every scheduler, concurrent ones included, and the end comes last. One job is scheduled for
  /// each value. Values that the scheduler has not come to yet wait in memory.
  ///
  /// - Parameters:
  ///   - scheduler: where to deliver.
  ///   - options: how the scheduler is to do it.
  /// - Demand: passes as it is, at once; what the subscriber answers to a value is a request of its own.
  /// - Failure: passes on the scheduler, after the values before it.
  /// - Threads: values and the end come on the scheduler, one at a time; the subscription comes where it is made.
  @inlinable @inline(__always)
  public func receive<S: Scheduler>(on scheduler: S, options: S.SchedulerOptions? = nil)
    -> Publishers.ReceiveOn<Self, S>
  {
    Publishers.ReceiveOn(upstream: self, scheduler: scheduler, options: options)
  }
}

extension Publishers {
  /// A publisher that delivers the values of its upstream on a scheduler.
  public struct ReceiveOn<Upstream: Publisher, Context: Scheduler>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values.
    public let upstream: Upstream

    /// Where the work is done.
    public let scheduler: Context

    /// How the scheduler is to do the work.
    public let options: Context.SchedulerOptions?

    /// Makes a publisher that delivers on a scheduler.
    @inlinable
    public init(
      upstream: Upstream,
      scheduler: Context,
      options: Context.SchedulerOptions?
    ) {
      self.upstream = upstream
      self.scheduler = scheduler
      self.options = options
    }

    /// Attaches a subscriber to the upstream, through the scheduler.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      upstream.subscribe(ReceiveOnSubscriber("ReceiveOn", to: subscriber, on: scheduler, options))
    }
  }
}
