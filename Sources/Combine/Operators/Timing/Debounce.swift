import StreamSupport
import Synchronization

extension Publisher {
  /// Publishes a value once no other has come for a while.
  ///
  /// A value that is still waiting when the upstream ends is lost, as in Apple's Combine. At most one timer is under
  /// way: when it fires and values have come meanwhile, another is made for the rest of the time. Apple's makes one for
  /// each value; values come at the same moments. What else is due on the scheduler at such a moment may come first: a value
  /// from there takes the place of the one that waits, also where Apple's timer would have been the earlier of the two.
  ///
  /// - Parameters:
  ///   - dueTime: how long to wait for another value.
  ///   - scheduler: where to wait and deliver.
  ///   - options: how the scheduler is to do it.
  /// - Demand: asks for everything; a value that is due without demand is dropped.
  /// - Failure: passes on the scheduler.
  /// - Threads: values and the end come on the scheduler, one at a time; the subscription comes where it is made.
  @inlinable @inline(__always)
  public func debounce<S: Scheduler>(
    for dueTime: S.SchedulerTimeType.Stride,
    scheduler: S,
    options: S.SchedulerOptions? = nil
  ) -> Publishers.Debounce<Self, S> {
    Publishers.Debounce(upstream: self, dueTime: dueTime, scheduler: scheduler, options: options)
  }
}

extension Publishers {
  /// A publisher of the upstream values that no other follows for a while.
  public struct Debounce<Upstream: Publisher, Context: Scheduler>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values.
    public let upstream: Upstream

    /// How long to wait for another value.
    public let dueTime: Context.SchedulerTimeType.Stride

    /// Where the work is done.
    public let scheduler: Context

    /// How the scheduler is to do the work.
    public let options: Context.SchedulerOptions?

    /// Makes a publisher that leaves out values that others follow soon.
    @inlinable
    public init(
      upstream: Upstream,
      dueTime: Context.SchedulerTimeType.Stride,
      scheduler: Context,
      options: Context.SchedulerOptions?
    ) {
      self.upstream = upstream
      self.dueTime = dueTime
      self.scheduler = scheduler
      self.options = options
    }

    /// Attaches a subscriber to the upstream, through the scheduler.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      upstream.subscribe(DebounceSubscriber(self, to: subscriber))
    }
  }
}

/// Keeps the latest value until its time has come.
@usableFromInline
final class DebounceSubscriber<Context: Scheduler, Downstream: Subscriber>: UpstreamSubscription, Subscriber {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let downstream: Downstream
  @usableFromInline let timer: RearmingTimer<Context, Input>
  // What downstream asked for and did not get yet; closed at the end.
  @usableFromInline let outstanding = DemandCounter()
  // Held while something goes downstream, and from the decision what it is.
  @usableFromInline let combiningLock = CombiningLock()

  @inlinable
  init<Upstream>(_ publisher: Publishers.Debounce<Upstream, Context>, to downstream: Downstream) {
    self.downstream = downstream
    timer = RearmingTimer(on: publisher.scheduler, publisher.options, after: publisher.dueTime)
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    guard hold(subscription) else { return }
    combiningLock.pass { downstream.receive(subscription: self) }
    held?.request(.unlimited)
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    if isHolding { timer.postpone(input) { { self.fire($0) } } }
    return .none
  }

  @inlinable
  func fire(_ number: Int) {
    combiningLock.pass {
      guard let input = timer.fire(number, { self.fire($0) }), outstanding.takeOne() else { return }
      outstanding.add(downstream.receive(input))
    }
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    guard end() != nil else { return }
    timer.stop()
    timer.scheduler.schedule(options: nil) {
      self.combiningLock.pass {
        if self.outstanding.close() != nil { self.downstream.receive(completion: completion) }
      }
    }
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    outstanding.add(demand)
  }

  @usableFromInline
  override func cancel() {
    _ = outstanding.close()
    timer.stop()
    end()?.cancel()
  }

  @usableFromInline override var name: String { "Debounce" }
  @usableFromInline
  override var children: [(label: String?, value: Any)] {
    [
      ("downstream", downstream), ("downstreamDemand", outstanding.demand ?? .none),
      ("currentValue", timer.current as Any),
    ]
  }
}
