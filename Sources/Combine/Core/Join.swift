import StreamSupport
import Synchronization

/// Several upstreams of different types that meet in rows: the heart of `zip` and `combineLatest`.
///
/// Downstream gets its subscription when the last upstream's has come; a failure before that waits for it.
@usableFromInline
class Join<Buffers: InputBuffers, Downstream: Subscriber>: SerialSubscription where Downstream.Input == Buffers.Output {
  @usableFromInline final let downstream: Downstream
  @usableFromInline final let upstreams: UpstreamSlots
  // Both are touched only inside the combining lock: whether a row is being delivered, and what was requested meanwhile.
  @exclusivity(unchecked) @usableFromInline final var isDelivering = false
  @exclusivity(unchecked) @usableFromInline final var requestedInside = Subscribers.Demand.none
  // Touched only inside the combining lock; nothing foreign runs while it changes.
  @exclusivity(unchecked) @usableFromInline final var buffers = Buffers()
  // How many upstreams nobody has promised anything, see ``Entrusted``.
  @usableFromInline final let distrustedCount: Atomic<Int>
  // Touched only inside the combining lock.
  @exclusivity(unchecked) private final var earlyFailure: Subscribers.Completion<Downstream.Failure>?

  @usableFromInline
  init(upstreamCount: Int, to downstream: Downstream) {
    self.downstream = downstream
    distrustedCount = Atomic(upstreamCount)
    upstreams = UpstreamSlots(count: upstreamCount)
    super.init()
  }

  @usableFromInline
  final func receive(subscription: any Subscription, at index: Int) {
    // Inside the combining lock, so that an end on another thread waits until downstream has its subscription.
    guard enter() else { return delegate { [self] in receive(subscription: subscription, at: index) } }
    if upstreams.hold(subscription.asBase, at: index, outstanding)?.isLast == true {
      downstream.receive(subscription: self)
      if let earlyFailure { end(earlyFailure) } else if isDone { end(.finished) }
    }
    leave()
  }

  @usableFromInline
  final func receive(completion: Subscribers.Completion<Downstream.Failure>, at index: Int) {
    // Inside, so that nobody takes the upstream for used up while a value of it is delegated.
    guard enter() else { return delegate { [self] in receive(completion: completion, at: index) } }
    if upstreams.finish(index, outstanding) {
      switch completion {
      case .finished: if !upstreams.areAwaited, isDone { end(.finished) }
      case .failure: if upstreams.areAwaited { earlyFailure = earlyFailure ?? completion } else { end(completion) }
      }
    }
    leave()
  }

  @usableFromInline
  final func end(_ completion: Subscribers.Completion<Downstream.Failure>) {
    guard upstreams.end(outstanding) else { return }
    dropBuffers()
    downstream.receive(completion: completion)
  }

  /// Whether no row can be completed any more.
  ///
  /// Called inside the combining lock.
  @usableFromInline var isDone: Bool { false }

  @usableFromInline
  override final func drainPendingWork() {
    if outstanding.isClosed { dropBuffers() }
  }

  @usableFromInline
  override final func cancel() {
    // What waits goes when nobody is inside.
    if upstreams.end(outstanding) { scheduleWork() }
  }

  /// Asks all upstreams, in order, but one.
  @usableFromInline
  final func requestFromAll(_ demand: Subscribers.Demand, except index: Int? = nil) {
    let held = if let index { upstreams.held(except: index) } else { upstreams.held }
    for upstream in held { request(from: upstream, demand) }
  }

  /// Asks all upstreams; a request from inside a row's delivery is noted for whoever delivers that.
  @usableFromInline
  final func requestOrNote(_ demand: Subscribers.Demand) {
    if combiningLock.isMine, isDelivering {
      requestedInside += demand
    } else {
      requestFromAll(demand)
    }
  }

  private final func dropBuffers() {
    let dropped = buffers
    buffers = Buffers()
    withExtendedLifetime(dropped) {}
  }
}

extension Join {
  /// Passes the promise on once all upstreams have made it.
  @inlinable
  final func entrustInput() {
    if distrustedCount.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { entrust(downstream) }
  }
}

/// What one upstream of a ``Join`` sees.
@usableFromInline
protocol JoinParent: SerialSubscription {
  associatedtype Buffers: InputBuffers
  associatedtype Failure: Error

  func entrustInput()

  func receive(subscription: any Subscription, at index: Int)
  func receive<S: InputSlot>(_ input: S.Input, at slot: S.Type) -> Subscribers.Demand where S.Buffers == Buffers
  func receive(completion: Subscribers.Completion<Failure>, at index: Int)
}

/// The subscriber of one upstream, which knows its buffer at compile time.
@usableFromInline
struct JoinInput<S: InputSlot, Parent: JoinParent>: Subscriber, SerialInput where S.Buffers == Parent.Buffers {
  @usableFromInline typealias Input = S.Input
  @usableFromInline typealias Failure = Parent.Failure

  @usableFromInline let parent: Parent
  @usableFromInline let combineIdentifier = CombineIdentifier()

  @inlinable @inline(__always)
  init(_ slot: S.Type, of parent: Parent) {
    self.parent = parent
  }

  @usableFromInline var owner: SerialSubscription { parent }

  @inlinable
  func receive(subscription: any Subscription) {
    parent.receive(subscription: subscription, at: S.index)
  }

  @inlinable @inline(__always)
  func receive(_ input: S.Input) -> Subscribers.Demand {
    parent.receive(input, at: S.self)
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    parent.receive(completion: completion, at: S.index)
  }
}
