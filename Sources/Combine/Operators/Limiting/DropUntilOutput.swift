import Synchronization

extension Publisher {
  /// Leaves out values until another publisher publishes one.
  ///
  /// - Parameter publisher: asked for one value, before this publisher is subscribed to, and left after it. If it ends
  ///   or fails without one, the stream ends the same way.
  /// - Demand: passes as it is. A value left out counts as delivered: what was asked for may be used up before the
  ///   other publisher publishes anything.
  /// - Failure: passes as it is.
  /// - Threads: values pass where the upstream sends, an end comes from either; never two events at once.
  @inlinable @inline(__always)
  public func drop<P>(untilOutputFrom publisher: P) -> Publishers.DropUntilOutput<Self, P>
  where P: Publisher, Failure == P.Failure {
    Publishers.DropUntilOutput(upstream: self, other: publisher)
  }
}

extension Publishers {
  /// A publisher of the upstream values after another publisher has published one.
  public struct DropUntilOutput<Upstream: Publisher, Other: Publisher>: Publisher
  where Upstream.Failure == Other.Failure {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does, or as the other publisher does before it has published anything.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values.
    public let upstream: Upstream

    /// The publisher whose first value is the beginning.
    public let other: Other

    /// Makes a publisher of the values of one publisher after another has published one.
    @inlinable @inline(__always)
    public init(upstream: Upstream, other: Other) {
      self.upstream = upstream
      self.other = other
    }

    /// Attaches a subscriber to the upstream, with the other publisher to open it.
    @inlinable
    public func receive<S>(subscriber: S) where S: Subscriber, Upstream.Output == S.Input, Other.Failure == S.Failure {
      let parent = DropUntilOutputSubscriber(to: subscriber)
      subscriber.receive(subscription: parent)
      other.subscribe(NotifierSubscriber<Other.Output, DropUntilOutputSubscriber<S>>(to: parent))
      upstream.subscribe(parent)
    }
  }
}

extension Publishers.DropUntilOutput: Equatable where Upstream: Equatable, Other: Equatable {}

/// Leaves out values until a notifier signals.
@usableFromInline
final class DropUntilOutputSubscriber<Downstream: Subscriber>: DeferredSubscription, Subscriber, Notified {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure
  @usableFromInline typealias NotifierFailure = Downstream.Failure

  @usableFromInline let downstream: Downstream
  @usableFromInline let notifier = UpstreamSubscription()
  @usableFromInline let isOpen = Atomic<Bool>(false)
  // What was asked for, less what was left out.
  @usableFromInline let outstanding = DemandCounter()
  // Upstream and notifier may send on two threads.
  @usableFromInline let combiningLock = CombiningLock()

  @inlinable
  init(to downstream: Downstream) {
    self.downstream = downstream
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    hold(subscription, askingFor: .none)
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    combiningLock.pass {
      guard isHolding else { return .none }
      guard isOpen.load(ordering: .acquiring) else { return drop() }
      return downstream.receive(input)
    }
  }

  @usableFromInline
  func drop() -> Subscribers.Demand {
    guard outstanding.takeOne() else {
      violation(name, "received a value that nobody asked for", advice: "A publisher must not send beyond the demand.")
    }
    return .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    guard end() != nil else { return }
    // Nothing can come of the notifier any more.
    notifier.endForGood()?.cancel()
    combiningLock.pass { downstream.receive(completion: completion) }
  }

  @usableFromInline
  func notify() {
    isOpen.store(true, ordering: .releasing)
  }

  @usableFromInline
  func notifierEnded(_ completion: Subscribers.Completion<Failure>) {
    guard let ending = conclude() else { return }
    ending.upstream?.cancel()
    combiningLock.pass { downstream.receive(completion: completion) }
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    guard demand != .none else { return }
    outstanding.add(demand)
    super.request(demand)
  }

  @usableFromInline
  override func cancel() {
    super.cancel()
    notifier.endForGood()?.cancel()
  }

  @usableFromInline override var name: String { "DropUntilOutput" }
}
