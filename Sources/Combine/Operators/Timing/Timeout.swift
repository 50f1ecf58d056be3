import StreamSupport
import Synchronization

extension Publisher {
  /// Ends the stream if no value comes for a while.
  ///
  /// The time runs from the subscription, anew from the first request and from each value, also while nobody asks for
  /// any. At most one timer is under way: when it fires and values have come meanwhile, another is made for the rest of
  /// the time. So a value that the scheduler brings at the very moment when the time is over may come first, and the time
  /// runs anew.
  ///
  /// On ``ImmediateScheduler``, where every pause is over at once, the stream ends as soon as it has begun.
  ///
  /// - Parameters:
  ///   - interval: how long to wait for a value.
  ///   - scheduler: where to wait and deliver.
  ///   - options: how the scheduler is to do it.
  ///   - customError: makes the error to fail with; without it the stream ends normally.
  /// - Demand: passes as it is, at once; what the subscriber answers to a value is a request of its own.
  /// - Failure: passes on the scheduler, after the values before it. When the time is over, the upstream is cancelled
  ///   first.
  /// - Threads: values and the end come on the scheduler, one at a time and in order; the subscription comes where
  ///   it is made.
  @inlinable @inline(__always)
  public func timeout<S: Scheduler>(
    _ interval: S.SchedulerTimeType.Stride,
    scheduler: S,
    options: S.SchedulerOptions? = nil,
    customError: (() -> Failure)? = nil
  ) -> Publishers.Timeout<Self, S> {
    Publishers.Timeout(
      upstream: self,
      interval: interval,
      scheduler: scheduler,
      options: options,
      customError: customError
    )
  }
}

extension Publishers {
  /// A publisher that ends if its upstream sends nothing for a while.
  public struct Timeout<Upstream: Publisher, Context: Scheduler>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values.
    public let upstream: Upstream

    /// How long to wait for a value.
    public let interval: Context.SchedulerTimeType.Stride

    /// Where the work is done.
    public let scheduler: Context

    /// How the scheduler is to do the work.
    public let options: Context.SchedulerOptions?

    /// Makes the error to fail with; the stream ends normally if nil.
    public let customError: (() -> Upstream.Failure)?

    /// Makes a publisher that does not wait for ever.
    @inlinable
    public init(
      upstream: Upstream,
      interval: Context.SchedulerTimeType.Stride,
      scheduler: Context,
      options: Context.SchedulerOptions?,
      customError: (() -> Upstream.Failure)?
    ) {
      self.upstream = upstream
      self.interval = interval
      self.scheduler = scheduler
      self.options = options
      self.customError = customError
    }

    /// Attaches a subscriber to the upstream, through the scheduler.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      upstream.subscribe(TimeoutSubscriber(self, to: subscriber))
    }
  }
}

/// Delivers what comes, and the end when nothing does.
@usableFromInline
final class TimeoutSubscriber<Context: Scheduler, Downstream: Subscriber>: UpstreamSubscription, Subscriber {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let downstream: Downstream
  @usableFromInline let timer: RearmingTimer<Context, Void>
  @usableFromInline let makeError: (() -> Failure)?
  @usableFromInline let mailbox = OrderedMailbox<MailboxEvent<Input, Failure>>()
  @usableFromInline let isRequested = Atomic<Bool>(false)
  // Guarded by `lock`: an upstream that has ended, until its end is delivered. A cancel still reaches it, as Apple's does.
  @exclusivity(unchecked) @usableFromInline var ended: SubscriptionBase?

  @inlinable
  init<Upstream>(_ publisher: Publishers.Timeout<Upstream, Context>, to downstream: Downstream)
  where Upstream.Failure == Failure {
    self.downstream = downstream
    timer = RearmingTimer(on: publisher.scheduler, publisher.options, after: publisher.interval)
    makeError = publisher.customError
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    guard hold(subscription) else { return }
    mailbox.combiningLock.pass { downstream.receive(subscription: self) }
    // The first request has set the timer already, if there was one.
    if !isRequested.load(ordering: .relaxed) { restartTimer() }
  }

  @inlinable @inline(__always)
  func restartTimer() {
    timer.postpone(()) { { self.fire($0) } }
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isHolding else { return .none }
    restartTimer()
    mailbox.post(.value(input))
    timer.scheduler.schedule(options: timer.options) { self.deliverOldest() }
    return .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    guard let upstream = end() else { return }
    lock.withLock { ended = upstream }
    timer.stop()
    mailbox.postLast(.completion(completion))
    timer.scheduler.schedule(options: timer.options) { self.deliverOldest() }
  }

  @inlinable
  func fire(_ number: Int) {
    guard timer.fire(number, { self.fire($0) }) != nil, let upstream = end() else { return }
    timer.stop()
    upstream.cancel()
    mailbox.postLast(.completion(makeError.map { .failure($0()) } ?? .finished))
    // Values before the end have jobs of their own: this one stands for the end.
    deliverOldest()
  }

  @inlinable
  func deliverOldest() {
    mailbox.deliverOldest { event in
      switch event {
      case .value(let input):
        let more = downstream.receive(input)
        if more != .none { held?.request(more) }
      case .completion(let completion):
        withExtendedLifetime(takeEnded()) {}
        downstream.receive(completion: completion)
      }
    }
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    if !isRequested.exchange(true, ordering: .relaxed) { restartTimer() }
    held?.request(demand)
  }

  @usableFromInline
  override func cancel() {
    timer.stop()
    mailbox.close()
    (end() ?? takeEnded())?.cancel()
  }

  @usableFromInline
  func takeEnded() -> SubscriptionBase? {
    lock.lock()
    defer { lock.unlock() }
    let upstream = ended
    ended = nil
    return upstream
  }

  @usableFromInline override var name: String { "Timeout" }
}
