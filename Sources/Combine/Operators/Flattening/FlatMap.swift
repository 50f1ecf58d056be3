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
    @inlinable @inline(__always)
    public func receive<S>(subscriber: S)
    where NewPublisher.Output == S.Input, S: Subscriber, Upstream.Failure == S.Failure {
      let pipe = FlatMapPipe(transform, maxPublishers: maxPublishers, to: subscriber)
      subscriber.receive(subscription: pipe)
      upstream.subscribe(pipe)
    }
  }
}

/// Takes values from many children, in turns; those beyond the demand wait in the order of their arrival.
@usableFromInline
final class FlatMapPipe<Input, Inner: Publisher, Downstream: Subscriber>: Brood, Subscriber
where Downstream.Input == Inner.Output, Downstream.Failure == Inner.Failure {
  @usableFromInline typealias Failure = Inner.Failure

  @usableFromInline let transform: (Input) -> Inner
  @usableFromInline let maxPublishers: Subscribers.Demand
  @usableFromInline let downstream: Downstream
  // Touched only inside the turnstile; nothing foreign runs while it changes.
  @exclusivity(unchecked) @usableFromInline var queue = Queue<(value: Inner.Output, child: ChildID?)>()
  // How many values of a `Just` are being delivered; touched only inside the turnstile. They count as children.
  @exclusivity(unchecked) @usableFromInline var soleCount = 0
  // Touched only inside the turnstile.
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
    if holdOuter(subscription.tether) { subscription.request(maxPublishers) }
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    guard !ledger.isClosed else { return .none }
    let inner = transform(input)
    if let output = inner.soleOutput { receive(sole: output) } else { subscribe(to: inner) }
    return .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    guard settle() else { return delegate { [self] in receive(completion: completion) } }
    switch completion {
    case .finished:
      if finishOuter() { finishIfDone() }
    case .failure:
      if finishOuter() { fail(completion) }
    }
  }

  // MARK: Children

  @inlinable
  func subscribe(to inner: Inner) {
    guard let id = admitChild() else { return }
    inner.subscribe(Child(id, of: self))
  }

  /// Does what subscribing to a `Just` would do.
  @inlinable @inline(__always)
  func receive(sole output: Inner.Output) {
    guard enter() else { return delegate { [self] in receive(sole: output) } }
    soleCount &+= 1
    if ledger.isUnlimited, queue.isEmpty {
      // More can't be asked, so the answer doesn't matter.
      _ = downstream.receive(output)
    } else {
      _ = receiveCounted(output, from: nil)
    }
    soleCount &-= 1
    leave()
    if !maxPublishers.isUnlimited || isOuterOver.load(ordering: .acquiring) { childDidFinish() }
  }

  @inlinable @inline(__always)
  func receive(_ output: Inner.Output, from child: ChildID) -> Subscribers.Demand {
    guard enter() else {
      return delegate({ [self] in receive(output, from: child) }, from: { [self] in subscription(of: child) })
    }
    if ledger.isUnlimited, queue.isEmpty {
      _ = downstream.receive(output)
      leave()
      return .none
    }
    let answer = receiveCounted(output, from: child)
    leave()
    return answer
  }

  @usableFromInline
  func receiveCounted(_ output: Inner.Output, from child: ChildID?) -> Subscribers.Demand {
    guard !ledger.isClosed else { return .none }
    guard queue.isEmpty, ledger.takeOne() else {
      queue.append((output, child))
      return .none
    }
    add(downstream.receive(output))
    drain()
    return .max(1)
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>, from child: ChildID) {
    guard settle() else { return delegate { [self] in receive(completion: completion, from: child) } }
    guard removeChild(child) else { return }
    switch completion {
    case .finished: childDidFinish()
    case .failure: fail(completion)
    }
  }

  @usableFromInline
  func childDidFinish() {
    if !maxPublishers.isUnlimited, let outer = heldOuter { ask(outer, for: .max(1)) }
    // The child is out already: either this finds the upstream over, or the upstream finds the child out.
    if isOuterOver.load(ordering: .acquiring) { finishIfDone() }
  }

  // MARK: Downstream

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(name)
    add(demand)
  }

  /// Owes more, delivers what waits, and lets children know when there is no limit any more.
  @usableFromInline
  func add(_ demand: Subscribers.Demand) {
    guard demand != .none else { return }
    let released = owe(demand)
    callErrand()
    for subscription in released { ask(subscription, for: .unlimited) }
  }

  @usableFromInline
  override func cancel() {
    guard let (children, outer) = end() else { return }
    for child in children { child.cancel() }
    outer?.cancel()
    callErrand()
  }

  @usableFromInline
  override func runErrand() {
    if ledger.isClosed { dropQueue() } else { drain() }
  }

  /// Delivers what waits, as far as it is owed.
  ///
  /// Called inside the turnstile.
  @usableFromInline
  func drain() {
    // Inside itself there is nothing to do: the outer loop goes on.
    guard !isDraining, !queue.isEmpty else { return }
    isDraining = true
    while !queue.isEmpty, ledger.takeOne(), let (output, child) = queue.popFirst() {
      let more = downstream.receive(output)
      if more != .none {
        for subscription in owe(more) { ask(subscription, for: .unlimited) }
      }
      if let child, !ledger.isUnlimited, let upstream = subscription(of: child) { ask(upstream, for: .max(1)) }
    }
    isDraining = false
    finishIfDone()
  }

  @usableFromInline
  func finishIfDone() {
    guard enter() else { return delegate { [self] in finishIfDone() } }
    if queue.isEmpty, soleCount == 0, !isDraining, isBarren, end() != nil {
      downstream.receive(completion: .finished)
    }
    leave()
  }

  /// The outer upstream is not cancelled when a child fails: Apple's does not.
  @usableFromInline
  func fail(_ completion: Subscribers.Completion<Failure>) {
    guard let (children, _) = end() else { return }
    for child in children { child.cancel() }
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
  struct Child: Subscriber, CourierSide {
    @usableFromInline typealias Input = Inner.Output
    @usableFromInline typealias Failure = Inner.Failure

    @usableFromInline let id: ChildID
    @usableFromInline let pipe: FlatMapPipe
    @usableFromInline let combineIdentifier = CombineIdentifier()

    @inlinable @inline(__always)
    init(_ id: ChildID, of pipe: FlatMapPipe) {
      self.id = id
      self.pipe = pipe
    }

    @usableFromInline var courier: Courier { pipe }

    @inlinable @inline(__always)
    func receive(subscription: any Subscription) {
      if let demand = pipe.hold(subscription.tether, of: id) { subscription.request(demand) }
    }

    @inlinable @inline(__always)
    func receive(_ input: Inner.Output) -> Subscribers.Demand {
      pipe.receive(input, from: id)
    }

    @inlinable
    func receive(completion: Subscribers.Completion<Failure>) {
      pipe.receive(completion: completion, from: id)
    }
  }
}
