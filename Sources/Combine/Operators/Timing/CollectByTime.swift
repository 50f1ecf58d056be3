import StreamSupport
import Synchronization

extension Publisher {
  /// Publishes values in groups, by time or by time and number.
  ///
  /// - Parameters:
  ///   - strategy: when a group is complete, and on which scheduler.
  ///   - options: how the scheduler is to do the work.
  /// - Demand: by time, each request and each value asks for one value more; groups without demand wait and grow. By
  ///   time or count, a request asks for as many values as fill the groups; what the subscriber answers to a group that
  ///   is complete by time asks the upstream for nothing, as in Apple's Combine.
  /// - Failure: passes on the scheduler; values that wait are dropped. The normal end publishes them as a last group.
  /// - Threads: groups and the end come on the scheduler, one at a time; the subscription comes where it is made.
  @inlinable @inline(__always)
  public func collect<S: Scheduler>(
    _ strategy: Publishers.TimeGroupingStrategy<S>,
    options: S.SchedulerOptions? = nil
  ) -> Publishers.CollectByTime<Self, S> {
    Publishers.CollectByTime(upstream: self, strategy: strategy, options: options)
  }
}

extension Publishers {
  /// When a group of values is complete.
  public enum TimeGroupingStrategy<Context: Scheduler> {
    /// After each interval, on a scheduler.
    case byTime(Context, Context.SchedulerTimeType.Stride)

    /// After each interval, on a scheduler, or sooner when there are so many values, at least one.
    case byTimeOrCount(Context, Context.SchedulerTimeType.Stride, Int)
  }
}

extension Publishers {
  /// A publisher of the upstream values in groups.
  public struct CollectByTime<Upstream: Publisher, Context: Scheduler>: Publisher {
    /// Groups of upstream values.
    public typealias Output = [Upstream.Output]
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values.
    public let upstream: Upstream

    /// When a group is complete.
    public let strategy: Publishers.TimeGroupingStrategy<Context>

    /// How the scheduler is to do the work.
    public let options: Context.SchedulerOptions?

    /// Makes a publisher of groups.
    @inlinable
    public init(
      upstream: Upstream,
      strategy: Publishers.TimeGroupingStrategy<Context>,
      options: Context.SchedulerOptions?
    ) {
      self.upstream = upstream
      self.strategy = strategy
      self.options = options
    }

    /// Attaches a subscriber to the upstream, through the scheduler.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, S.Input == [Upstream.Output] {
      upstream.subscribe(CollectByTimeSubscriber(strategy, options, to: subscriber))
    }
  }
}

/// Fills groups and hands them out when they are due.
@usableFromInline
final class CollectByTimeSubscriber<Context: Scheduler, Input, Downstream: Subscriber>: UpstreamSubscription, Subscriber
where Downstream.Input == [Input] {
  @usableFromInline typealias Failure = Downstream.Failure
  @usableFromInline typealias Stride = Context.SchedulerTimeType.Stride

  @usableFromInline let scheduler: Context
  @usableFromInline let interval: Stride
  // How many values fill a group; nil if only time does.
  @usableFromInline let size: Int?
  @usableFromInline let options: Context.SchedulerOptions?
  @usableFromInline let downstream: Downstream
  // Groups that downstream asked for and did not get yet; closed at the end.
  @usableFromInline let outstanding = DemandCounter()
  // Held while something goes downstream, and from the decision what it is.
  @usableFromInline let combiningLock = CombiningLock()
  // All guarded by `lock`.
  @exclusivity(unchecked) @usableFromInline var group: [Input] = []
  @exclusivity(unchecked) @usableFromInline var fullGroups = Queue<[Input]>()
  @exclusivity(unchecked) @usableFromInline var timer: (any Cancellable)?
  @exclusivity(unchecked) @usableFromInline var timerNumber = 0

  @inlinable
  init(
    _ strategy: Publishers.TimeGroupingStrategy<Context>,
    _ options: Context.SchedulerOptions?,
    to downstream: Downstream
  ) {
    switch strategy {
    case .byTime(let scheduler, let interval):
      (self.scheduler, self.interval, size) = (scheduler, interval, nil)
    case .byTimeOrCount(let scheduler, let interval, let count):
      (self.scheduler, self.interval, size) = (scheduler, interval, max(1, count))
    }
    self.options = options
    self.downstream = downstream
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    guard hold(subscription) else { return }
    combiningLock.pass { downstream.receive(subscription: self) }
    restartTimer()
  }

  @inlinable
  func restartTimer() {
    let previous = takeTimer()
    previous.timer?.cancel()
    let timer = scheduler.schedule(
      after: scheduler.now.advanced(by: interval),
      interval: interval,
      tolerance: scheduler.minimumTolerance,
      options: options
    ) { self.tick() }
    lock.lock()
    let isWanted = isHolding && timerNumber == previous.number
    if isWanted { self.timer = timer }
    lock.unlock()
    if !isWanted { timer.cancel() }
  }

  /// Takes the timer out, and gives the next one its number.
  @usableFromInline
  func takeTimer() -> (timer: (any Cancellable)?, number: Int) {
    lock.lock()
    defer { lock.unlock() }
    let timer = timer
    self.timer = nil
    timerNumber &+= 1
    return (timer, timerNumber)
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isHolding else { return .none }
    lock.lock()
    group.append(input)
    guard let size else {
      lock.unlock()
      return .max(1)
    }
    let isFull = group.count >= size
    if isFull {
      fullGroups.append(group)
      group = []
    }
    lock.unlock()
    if isFull { scheduler.schedule(options: options) { self.emitFullGroup() } }
    return .none
  }

  /// Delivers the oldest full group, in its job; without demand it waits for a tick.
  @inlinable
  func emitFullGroup() {
    combiningLock.pass {
      if emitGroup(onlyFull: true), isHolding { restartTimer() }
    }
  }

  /// Delivers one group, full or not.
  @inlinable
  func tick() {
    combiningLock.pass {
      if isHolding { _ = emitGroup(onlyFull: false) }
    }
  }

  /// Delivers the oldest group, if there is one and downstream asked for it; says whether it did.
  @inlinable
  func emitGroup(onlyFull: Bool) -> Bool {
    guard let (group, isFull) = takeGroup(onlyFull: onlyFull) else { return false }
    let more = downstream.receive(group)
    outstanding.add(more)
    if isFull, more != .none, let size { held?.request(more * size) }
    return true
  }

  @inlinable
  func takeGroup(onlyFull: Bool) -> (group: [Input], isFull: Bool)? {
    lock.lock()
    defer { lock.unlock() }
    guard fullGroups.count > 0 || !onlyFull && !group.isEmpty, outstanding.takeOne() else { return nil }
    if let full = fullGroups.popFirst() { return (full, true) }
    let started = group
    group = []
    return (started, false)
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    guard end() != nil else { return }
    takeTimer().timer?.cancel()
    scheduler.schedule(options: options) { self.finish(completion) }
  }

  @inlinable
  func finish(_ completion: Subscribers.Completion<Failure>) {
    combiningLock.pass {
      var (groups, last) = takeAll()
      if case .finished = completion {
        if !last.isEmpty { groups.append(last) }
        while !outstanding.isClosed, let group = groups.popFirst() { _ = downstream.receive(group) }
      }
      if outstanding.close() != nil { downstream.receive(completion: completion) }
    }
  }

  @usableFromInline
  func takeAll() -> (groups: Queue<[Input]>, last: [Input]) {
    lock.lock()
    defer { lock.unlock() }
    let held = (fullGroups, group)
    fullGroups = Queue()
    group = []
    return held
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    guard demand != .none, outstanding.add(demand) else { return }
    held?.request(size.map { demand * $0 } ?? .max(1))
  }

  @usableFromInline
  override func cancel() {
    _ = outstanding.close()
    // Ended first: a job on another thread that is about to set a new timer then sees that none is wanted.
    let upstream = end()
    takeTimer().timer?.cancel()
    // Not under the lock: values may run code of their own when they go.
    withExtendedLifetime(takeAll()) {}
    upstream?.cancel()
  }

  @usableFromInline override var name: String { "CollectByTime" }
}
