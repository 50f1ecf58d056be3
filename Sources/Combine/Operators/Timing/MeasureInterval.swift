extension Publisher {
  /// Publishes how much time passed before each value, since the value before or since the subscription.
  ///
  /// - Parameters:
  ///   - scheduler: whose time is read; nothing is scheduled.
  ///   - options: not used.
  /// - Demand: passes as it is.
  /// - Failure: passes as it is.
  /// - Threads: time is read where the upstream sends.
  @inlinable @inline(__always)
  public func measureInterval<S>(
    using scheduler: S,
    options: S.SchedulerOptions? = nil
  ) -> Publishers.MeasureInterval<Self, S> where S: Scheduler {
    Publishers.MeasureInterval(upstream: self, scheduler: scheduler)
  }
}

extension Publishers {
  /// A publisher of the time that passed before each upstream value.
  public struct MeasureInterval<Upstream: Publisher, Context: Scheduler>: Publisher {
    /// A span of the scheduler's time.
    public typealias Output = Context.SchedulerTimeType.Stride
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to measure.
    public let upstream: Upstream

    /// Whose time is read.
    public let scheduler: Context

    /// Makes a publisher that measures the time between the values of another.
    @inlinable @inline(__always)
    public init(upstream: Upstream, scheduler: Context) {
      self.upstream = upstream
      self.scheduler = scheduler
    }

    /// Attaches a subscriber to the upstream, with the clock between them.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, S.Input == Context.SchedulerTimeType.Stride {
      upstream.subscribe(MeasureIntervalSubscriber<Upstream.Output, Context, S>(scheduler, to: subscriber))
    }
  }
}

/// Reads the time at each value.
@usableFromInline
final class MeasureIntervalSubscriber<Input, Context: Scheduler, Downstream: Subscriber>: UpstreamSubscription,
  Subscriber
where Downstream.Input == Context.SchedulerTimeType.Stride {
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let scheduler: Context
  @usableFromInline let downstream: Downstream
  // Read and written whole, by the one upstream that sends.
  @exclusivity(unchecked) @usableFromInline var last: Context.SchedulerTimeType?

  @inlinable
  init(_ scheduler: Context, to downstream: Downstream) {
    self.scheduler = scheduler
    self.downstream = downstream
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    guard hold(subscription) else { return }
    last = scheduler.now
    downstream.receive(subscription: self)
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isHolding, let last else { return .none }
    let now = scheduler.now
    self.last = now
    let more = downstream.receive(last.distance(to: now))
    if more != .none { held?.request(more) }
    return .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    guard end() != nil else { return }
    downstream.receive(completion: completion)
  }

  @usableFromInline override var name: String { "MeasureInterval" }
}
