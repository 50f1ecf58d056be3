import StreamSupport
import Synchronization

extension Publisher {
  /// Publishes the first or the latest value of each interval.
  ///
  /// The first value of all comes at once, later ones an interval after the one published before at the earliest.
  ///
  /// - Parameters:
  ///   - interval: the least time between two values.
  ///   - scheduler: where to wait and deliver.
  ///   - latest: whether the latest value of an interval is published, or else the first.
  /// - Demand: asks for everything, before the subscriber gets its subscription; values without demand are dropped, as
  ///   in Apple's Combine. So an upstream that sends all it has upon a request is over before anything was asked for.
  /// - Failure: passes on the scheduler, after the value that waits.
  /// - Threads: values and the end come on the scheduler, one at a time; the subscription comes where it is made. What
  ///   is scheduled does not keep the subscription alive.
  @inlinable @inline(__always)
  public func throttle<S: Scheduler>(
    for interval: S.SchedulerTimeType.Stride,
    scheduler: S,
    latest: Bool
  ) -> Publishers.Throttle<Self, S> {
    Publishers.Throttle(upstream: self, interval: interval, scheduler: scheduler, latest: latest)
  }
}

extension Publishers {
  /// A publisher of the first or the latest upstream value of each interval.
  public struct Throttle<Upstream: Publisher, Context: Scheduler>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values.
    public let upstream: Upstream

    /// The least time between two values.
    public let interval: Context.SchedulerTimeType.Stride

    /// Where the work is done.
    public let scheduler: Context

    /// Whether the latest value of an interval is published, or else the first.
    public let latest: Bool

    /// Makes a publisher of some values of another.
    @inlinable
    public init(
      upstream: Upstream,
      interval: Context.SchedulerTimeType.Stride,
      scheduler: Context,
      latest: Bool
    ) {
      self.upstream = upstream
      self.interval = interval
      self.scheduler = scheduler
      self.latest = latest
    }

    /// Attaches a subscriber to the upstream, through the scheduler.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      upstream.subscribe(ThrottleSubscriber(self, to: subscriber))
    }
  }
}

/// Keeps one value until the interval is over.
@usableFromInline
final class ThrottleSubscriber<Context: Scheduler, Downstream: Subscriber>: UpstreamSubscription, Subscriber {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure
  @usableFromInline typealias Time = Context.SchedulerTimeType

  @usableFromInline let scheduler: Context
  @usableFromInline let interval: Time.Stride
  @usableFromInline let latest: Bool
  @usableFromInline let downstream: Downstream
  // What downstream asked for and is not scheduled yet; closed at the end.
  @usableFromInline let outstanding = DemandCounter()
  // Held while something goes downstream, and from the decision what it is.
  @usableFromInline let combiningLock = CombiningLock()
  // All guarded by `lock`.
  @exclusivity(unchecked) @usableFromInline var waiting: Input?
  @exclusivity(unchecked) @usableFromInline var ending: Subscribers.Completion<Failure>?
  @exclusivity(unchecked) @usableFromInline var lastEmission: Time?
  // Whether downstream has its subscription; nothing is delivered before that.
  @exclusivity(unchecked) @usableFromInline var isOpen = false
  // Whether a job has run before that, in vain: another is to make up for it.
  @exclusivity(unchecked) @usableFromInline var cameTooEarly = false

  @inlinable
  init<Upstream>(_ publisher: Publishers.Throttle<Upstream, Context>, to downstream: Downstream) {
    scheduler = publisher.scheduler
    interval = publisher.interval
    latest = publisher.latest
    self.downstream = downstream
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    guard hold(subscription) else { return }
    subscription.request(.unlimited)
    combiningLock.pass { downstream.receive(subscription: self) }
    lock.lock()
    isOpen = true
    let cameTooEarly = cameTooEarly
    lock.unlock()
    if cameTooEarly { scheduler.schedule(options: nil) { [weak self] in self?.emit() } }
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isHolding else { return .none }
    lock.lock()
    if waiting == nil {
      guard outstanding.takeOne() else {
        lock.unlock()
        return .none
      }
      waiting = input
      let lastEmission = lastEmission
      lock.unlock()
      schedule(after: lastEmission)
    } else if latest {
      let replaced = waiting
      waiting = input
      lock.unlock()
      // Outside the lock: values may run code of their own when they go.
      withExtendedLifetime(replaced) {}
    } else {
      lock.unlock()
    }
    return .none
  }

  @inlinable
  func schedule(after lastEmission: Time?) {
    if let due = lastEmission?.advanced(by: interval), case let now = scheduler.now, due > now {
      scheduler.schedule(
        // Never longer than the interval, though the clock may have been set back.
        after: min(due, now.advanced(by: interval)),
        tolerance: scheduler.minimumTolerance,
        options: nil
      ) { [weak self] in self?.emit() }
    } else {
      scheduler.schedule(options: nil) { [weak self] in self?.emit() }
    }
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    guard end() != nil else { return }
    lock.lock()
    ending = completion
    let isScheduled = waiting != nil
    lock.unlock()
    if !isScheduled { scheduler.schedule(options: nil) { [weak self] in self?.emit() } }
  }

  /// Delivers the value that waits, and the end if it has come.
  @inlinable
  func emit() {
    let now = scheduler.now
    combiningLock.pass {
      lock.lock()
      guard isOpen else {
        cameTooEarly = true
        lock.unlock()
        return
      }
      let (input, ending) = (waiting, ending)
      waiting = nil
      self.ending = nil
      if input != nil { lastEmission = now }
      lock.unlock()
      if let input, !outstanding.isClosed { outstanding.add(downstream.receive(input)) }
      if let ending, outstanding.close() != nil { downstream.receive(completion: ending) }
    }
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    outstanding.add(demand)
  }

  @usableFromInline
  override func cancel() {
    _ = outstanding.close()
    lock.lock()
    let dropped = (waiting, ending)
    waiting = nil
    ending = nil
    lock.unlock()
    withExtendedLifetime(dropped) {}
    endForGood()?.cancel()
  }

  @usableFromInline override var name: String { "Throttle" }
}
