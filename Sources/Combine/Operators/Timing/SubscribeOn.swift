import StreamSupport
import Synchronization

extension Publisher {
  /// Subscribes, requests and cancels on a scheduler.
  ///
  /// Values come where the upstream sends them; for one that sends upon request, that is the scheduler.
  ///
  /// - Parameters:
  ///   - scheduler: where to talk to the upstream.
  ///   - options: how the scheduler is to do it.
  /// - Demand: each request is scheduled, and passes as it is.
  /// - Failure: passes as it is.
  /// - Threads: the subscription comes on the scheduler. A cancel takes effect at once, and reaches the upstream on the
  ///   scheduler.
  @inlinable @inline(__always)
  public func subscribe<S: Scheduler>(
    on scheduler: S,
    options: S.SchedulerOptions? = nil
  ) -> Publishers.SubscribeOn<Self, S> {
    Publishers.SubscribeOn(upstream: self, scheduler: scheduler, options: options)
  }
}

extension Publishers {
  /// A publisher that talks to its upstream on a scheduler.
  public struct SubscribeOn<Upstream: Publisher, Context: Scheduler>: Publisher {
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

    /// Makes a publisher that talks to its upstream on a scheduler.
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

    /// Attaches a subscriber to the upstream once the scheduler comes to it.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      let upstream = self.upstream
      let inner = SubscribeOnSubscriber(to: subscriber, on: scheduler, options)
      scheduler.schedule(options: options) { upstream.subscribe(inner) }
    }
  }
}

/// One subscriber's way to an upstream through a scheduler.
@usableFromInline
final class SubscribeOnSubscriber<Context: Scheduler, Downstream: Subscriber>: UpstreamSubscription, Subscriber {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let scheduler: Context
  @usableFromInline let options: Context.SchedulerOptions?
  @usableFromInline let downstream: Downstream
  // Held while the subscription goes downstream.
  @usableFromInline let handover = CombiningLock()
  // Both guarded by `lock`: requests that came on other threads meanwhile.
  @exclusivity(unchecked) @usableFromInline var isHandedOver = false
  @exclusivity(unchecked) @usableFromInline var early: [Subscribers.Demand] = []

  @inlinable
  init(to downstream: Downstream, on scheduler: Context, _ options: Context.SchedulerOptions?) {
    self.downstream = downstream
    self.scheduler = scheduler
    self.options = options
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    guard hold(subscription) else { return }
    handover.pass { downstream.receive(subscription: self) }
    lock.lock()
    isHandedOver = true
    let requests = early
    early = []
    lock.unlock()
    for demand in requests { held?.request(demand) }
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    isHolding ? downstream.receive(input) : .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    if end() != nil { downstream.receive(completion: completion) }
  }

  @inlinable
  override func request(_ demand: Subscribers.Demand) {
    guard !isOver else { return }
    scheduler.schedule(options: options) { self.forward(demand) }
  }

  /// Passes a request on, in its job.
  ///
  /// On a concurrent scheduler the job may run while the subscriber is still taking the subscription on another thread.
  /// The request waits then, so that no value comes in before the subscriber is ready.
  @usableFromInline
  func forward(_ demand: Subscribers.Demand) {
    if handover.tryEnter() {
      handover.leave()
    } else {
      lock.lock()
      let isTooEarly = !isHandedOver
      if isTooEarly { early.append(demand) }
      lock.unlock()
      if isTooEarly { return }
    }
    held?.request(demand)
  }

  @inlinable
  override func cancel() {
    guard let upstream = end() else { return }
    scheduler.schedule(options: options) { upstream.cancel() }
  }

  @usableFromInline override var name: String { "SubscribeOn" }
}
