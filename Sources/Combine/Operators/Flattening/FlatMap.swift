import StreamSupport
import Synchronization

extension Publisher {
  /// Makes a publisher of each value, and publishes what all of these publish, as it comes.
  ///
  /// - Parameters:
  ///   - maxPublishers: how many of the publishers made may be active at a time.
  ///   - transform: makes a publisher of a value, where the upstream sends it.
  /// - Demand: the upstream is asked for `maxPublishers` values, and for one more as each publisher made finishes. Each
  ///   of those is asked for one value at a time, or for everything if downstream did.
  /// - Failure: the first failure, of the upstream or of a publisher made, cancels the other publishers made and ends
  ///   the stream.
  /// - Threads: values arrive where the publishers made send them, one at a time.
  @inlinable @inline(__always)
  public func flatMap<T, P>(
    maxPublishers: Subscribers.Demand = .unlimited,
    _ transform: @escaping (Output) -> P
  ) -> Publishers.FlatMap<P, Self> where T == P.Output, P: Publisher, Failure == P.Failure {
    Publishers.FlatMap(upstream: self, maxPublishers: maxPublishers, transform: transform)
  }
}

extension Publisher {
  /// Makes a publisher of each value, and publishes what all of these publish, as it comes.
  ///
  /// For publishers made that can't fail, whereas the upstream can; otherwise as
  /// `flatMap(maxPublishers:_:)` for failures of one type.
  @inlinable @inline(__always)
  public func flatMap<P>(
    maxPublishers: Subscribers.Demand = .unlimited,
    _ transform: @escaping (Output) -> P
  ) -> Publishers.FlatMap<Publishers.SetFailureType<P, Failure>, Self> where P: Publisher, P.Failure == Never {
    Publishers.FlatMap(upstream: self, maxPublishers: maxPublishers) {
      Publishers.SetFailureType(upstream: transform($0))
    }
  }
}

extension Publisher where Failure == Never {
  /// Makes a publisher of each value, and publishes what all of these publish, as it comes.
  ///
  /// For an upstream and publishers made that can't fail; otherwise as `flatMap(maxPublishers:_:)` for failures of
  /// one type.
  @inlinable @inline(__always)
  public func flatMap<P>(
    maxPublishers: Subscribers.Demand = .unlimited,
    _ transform: @escaping (Output) -> P
  ) -> Publishers.FlatMap<P, Self> where P: Publisher, P.Failure == Never {
    Publishers.FlatMap(upstream: self, maxPublishers: maxPublishers, transform: transform)
  }

  /// Makes a publisher of each value, and publishes what all of these publish, as it comes.
  ///
  /// For an upstream that can't fail, whereas the publishers made can; otherwise as `flatMap(maxPublishers:_:)` for
  /// failures of one type.
  @inlinable @inline(__always)
  public func flatMap<P>(
    maxPublishers: Subscribers.Demand = .unlimited,
    _ transform: @escaping (Output) -> P
  ) -> Publishers.FlatMap<P, Publishers.SetFailureType<Self, P.Failure>> where P: Publisher {
    Publishers.FlatMap(
      upstream: Publishers.SetFailureType(upstream: self),
      maxPublishers: maxPublishers,
      transform: transform
    )
  }
}

extension Publishers {
  /// A publisher of what the publishers made of each upstream value publish.
  public struct FlatMap<NewPublisher: Publisher, Upstream: Publisher>: Publisher
  where NewPublisher.Failure == Upstream.Failure {
    /// The kind of values that the publishers made publish.
    public typealias Output = NewPublisher.Output
    /// Fails as its upstream or a publisher made does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to make publishers of.
    public let upstream: Upstream

    /// How many of the publishers made may be active at a time.
    public let maxPublishers: Subscribers.Demand

    /// Makes a publisher of an upstream value.
    public let transform: (Upstream.Output) -> NewPublisher

    /// Makes a publisher that flattens.
    @inlinable @inline(__always)
    public init(
      upstream: Upstream,
      maxPublishers: Subscribers.Demand,
      transform: @escaping (Upstream.Output) -> NewPublisher
    ) {
      self.upstream = upstream
      self.maxPublishers = maxPublishers
      self.transform = transform
    }

    /// Hands the subscriber its subscription, and then attaches to the upstream.
    @inlinable
    public func receive<S>(subscriber: S)
    where NewPublisher.Output == S.Input, S: Subscriber, Upstream.Failure == S.Failure {
      let parent = FlatMapSubscriber(transform, maxPublishers: maxPublishers, to: subscriber)
      subscriber.receive(subscription: parent)
      upstream.subscribe(parent)
    }
  }
}

/// Takes values from many inner publishers, in turns; those beyond the demand wait in the order of their arrival.
@usableFromInline
final class FlatMapSubscriber<Input, Inner: Publisher, Downstream: Subscriber>: SerialSubscription, Subscriber
where Downstream.Input == Inner.Output, Downstream.Failure == Inner.Failure {
  @usableFromInline typealias Failure = Inner.Failure

  @usableFromInline let transform: (Input) -> Inner
  @usableFromInline let maxPublishers: Subscribers.Demand
  @usableFromInline let downstream: Downstream
  @usableFromInline let inners = InnerSubscriptions()
  // Touched only inside the combining lock; nothing foreign runs while it changes.
  @exclusivity(unchecked) @usableFromInline var queue = Queue<(value: Inner.Output, id: InnerSubscriptions.InnerID?)>()
  // How many values of a `Just` are being delivered; touched only inside the combining lock. They count as inner publishers.
  @exclusivity(unchecked) @usableFromInline var scalarCount = 0
  // Touched only inside the combining lock.
  @exclusivity(unchecked) @usableFromInline var isDraining = false

  @inlinable @inline(__always)
  init(_ transform: @escaping (Input) -> Inner, maxPublishers: Subscribers.Demand, to downstream: Downstream) {
    self.transform = transform
    self.maxPublishers = maxPublishers
    self.downstream = downstream
    super.init()
  }

  // MARK: Upstream

  @inlinable
  func receive(subscription: any Subscription) {
    if inners.holdOuter(subscription.asBase, outstanding) { subscription.request(maxPublishers) }
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    guard !outstanding.isClosed else { return .none }
    let inner = transform(input)
    if let output = inner.scalarValue { receive(scalar: output) } else { subscribe(to: inner) }
    return .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    guard mayProceed() else { return delegate { [self] in receive(completion: completion) } }
    switch completion {
    case .finished:
      if inners.finishOuter(outstanding) { finishIfDone() }
    case .failure:
      if inners.finishOuter(outstanding) { fail(completion) }
    }
  }

  // MARK: Inner publishers

  @inlinable
  func subscribe(to inner: Inner) {
    guard let id = inners.admit(outstanding) else { return }
    inner.subscribe(InnerSubscriber(id, of: self))
  }

  /// Does what subscribing to a `Just` would do.
  @inlinable @inline(__always)
  func receive(scalar output: Inner.Output) {
    guard enter() else { return delegate { [self] in receive(scalar: output) } }
    scalarCount &+= 1
    if outstanding.isUnlimited, queue.isEmpty {
      // More can't be asked, so the answer doesn't matter.
      _ = downstream.receive(output)
    } else {
      _ = receiveCounted(output, from: nil)
    }
    scalarCount &-= 1
    leave()
    if !maxPublishers.isUnlimited || inners.isOuterOver.load(ordering: .acquiring) { innerDidFinish() }
  }

  @inlinable @inline(__always)
  func receive(_ output: Inner.Output, from id: InnerSubscriptions.InnerID) -> Subscribers.Demand {
    guard enter() else {
      return delegate({ [self] in receive(output, from: id) }, from: { [self] in inners.subscription(of: id) })
    }
    if outstanding.isUnlimited, queue.isEmpty {
      _ = downstream.receive(output)
      leave()
      return .none
    }
    let answer = receiveCounted(output, from: id)
    leave()
    return answer
  }

  @usableFromInline
  func receiveCounted(_ output: Inner.Output, from id: InnerSubscriptions.InnerID?) -> Subscribers.Demand {
    guard !outstanding.isClosed else { return .none }
    guard queue.isEmpty, outstanding.takeOne() else {
      queue.append((output, id))
      return .none
    }
    add(downstream.receive(output))
    drain()
    return .max(1)
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>, from id: InnerSubscriptions.InnerID) {
    guard mayProceed() else { return delegate { [self] in receive(completion: completion, from: id) } }
    guard inners.remove(id) else { return }
    switch completion {
    case .finished: innerDidFinish()
    case .failure: fail(completion)
    }
  }

  @usableFromInline
  func innerDidFinish() {
    if !maxPublishers.isUnlimited, let outer = inners.outer { request(from: outer, .max(1)) }
    // The inner publisher is out already: either this finds the upstream over, or the upstream finds the inner publisher out.
    if inners.isOuterOver.load(ordering: .acquiring) { finishIfDone() }
  }

  // MARK: Downstream

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(name)
    add(demand)
  }

  /// Owes more, delivers what waits, and lets inner publishers know when there is no limit any more.
  @usableFromInline
  func add(_ demand: Subscribers.Demand) {
    guard demand != .none else { return }
    let released = inners.add(demand, to: outstanding)
    scheduleWork()
    for subscription in released { request(from: subscription, .unlimited) }
  }

  @usableFromInline
  override func cancel() {
    guard let (held, outer) = inners.end(outstanding) else { return }
    for inner in held { inner.cancel() }
    outer?.cancel()
    scheduleWork()
  }

  @usableFromInline
  override func drainPendingWork() {
    if outstanding.isClosed { dropQueue() } else { drain() }
  }

  /// Delivers what waits, as far as it is owed.
  ///
  /// Called inside the combining lock.
  @usableFromInline
  func drain() {
    // Inside itself there is nothing to do: the outer loop goes on.
    guard !isDraining, !queue.isEmpty else { return }
    isDraining = true
    while !queue.isEmpty, outstanding.takeOne(), let (output, id) = queue.popFirst() {
      let more = downstream.receive(output)
      if more != .none {
        for subscription in inners.add(more, to: outstanding) { request(from: subscription, .unlimited) }
      }
      if let id, !outstanding.isUnlimited, let upstream = inners.subscription(of: id) {
        request(from: upstream, .max(1))
      }
    }
    isDraining = false
    finishIfDone()
  }

  @usableFromInline
  func finishIfDone() {
    guard enter() else { return delegate { [self] in finishIfDone() } }
    if queue.isEmpty, scalarCount == 0, !isDraining, inners.areAllOver, inners.end(outstanding) != nil {
      downstream.receive(completion: .finished)
    }
    leave()
  }

  /// The outer upstream is not cancelled when an inner publisher fails: Apple's does not.
  @usableFromInline
  func fail(_ completion: Subscribers.Completion<Failure>) {
    guard let (held, _) = inners.end(outstanding) else { return }
    for inner in held { inner.cancel() }
    deliver(completion)
  }

  @usableFromInline
  func deliver(_ completion: Subscribers.Completion<Failure>) {
    guard enter() else { return delegate { [self] in deliver(completion) } }
    dropQueue()
    downstream.receive(completion: completion)
    leave()
  }

  @usableFromInline
  func dropQueue() {
    let dropped = queue
    queue = Queue()
    withExtendedLifetime(dropped) {}
  }

  @usableFromInline override var name: String { "FlatMap" }

  /// The subscriber of one publisher made.
  @usableFromInline
  struct InnerSubscriber: Subscriber, SerialInput {
    @usableFromInline typealias Input = Inner.Output
    @usableFromInline typealias Failure = Inner.Failure

    @usableFromInline let id: InnerSubscriptions.InnerID
    @usableFromInline let parent: FlatMapSubscriber
    @usableFromInline let combineIdentifier = CombineIdentifier()

    @inlinable @inline(__always)
    init(_ id: InnerSubscriptions.InnerID, of parent: FlatMapSubscriber) {
      self.id = id
      self.parent = parent
    }

    @usableFromInline var owner: SerialSubscription { parent }

    @inlinable @inline(__always)
    func receive(subscription: any Subscription) {
      if let demand = parent.inners.hold(subscription.asBase, of: id, parent.outstanding) {
        subscription.request(demand)
      }
    }

    @inlinable @inline(__always)
    func receive(_ input: Inner.Output) -> Subscribers.Demand {
      parent.receive(input, from: id)
    }

    @inlinable
    func receive(completion: Subscribers.Completion<Failure>) {
      parent.receive(completion: completion, from: id)
    }
  }
}
