extension Publisher {
  /// Publishes values until another publisher publishes one, and finishes then.
  ///
  /// - Parameter publisher: asked for one value, before this publisher is subscribed to, and left after it. Its end and
  ///   its failure change nothing. If it publishes while being subscribed to, the stream finishes without a subscription.
  /// - Demand: passes as it is.
  /// - Failure: passes as it is.
  /// - Threads: values pass where the upstream sends, the end comes where the other publisher sends; never both at once. Who
  ///   finds the other inside leaves its event to that thread.
  @inlinable @inline(__always)
  public func prefix<P>(untilOutputFrom publisher: P) -> Publishers.PrefixUntilOutput<Self, P> where P: Publisher {
    Publishers.PrefixUntilOutput(upstream: self, other: publisher)
  }
}

extension Publishers {
  /// A publisher of the upstream values until another publisher publishes one.
  public struct PrefixUntilOutput<Upstream: Publisher, Other: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values.
    public let upstream: Upstream

    /// The publisher whose first value is the end.
    public let other: Other

    /// Makes a publisher of the values of one publisher until another publishes one.
    @inlinable @inline(__always)
    public init(upstream: Upstream, other: Other) {
      self.upstream = upstream
      self.other = other
    }

    /// Attaches a subscriber to the upstream, with the other publisher to end it.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      let parent = PrefixUntilOutputSubscriber<Other.Failure, S>(to: subscriber)
      other.subscribe(NotifierSubscriber<Other.Output, PrefixUntilOutputSubscriber<Other.Failure, S>>(to: parent))
      upstream.subscribe(parent)
    }
  }
}

/// Passes values on until a notifier signals.
@usableFromInline
final class PrefixUntilOutputSubscriber<NotifierFailure: Error, Downstream: Subscriber>: SerialSubscription, Subscriber,
  Notified
{
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let downstream: Downstream
  @usableFromInline let source = UpstreamSubscription()
  @usableFromInline let notifier = UpstreamSubscription()

  @inlinable
  init(to downstream: Downstream) {
    self.downstream = downstream
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    // Inside the combining lock, so that a signal on another thread does not get ahead of the subscription.
    guard enter() else { return delegate { [self] in receive(subscription: subscription) } }
    if source.hold(subscription) { downstream.receive(subscription: self) }
    leave()
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    guard enter() else { return delegate({ [self] in receive(input) }, from: { [self] in source.held }) }
    let answer = source.isHolding ? downstream.receive(input) : .none
    leave()
    return answer
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    notifier.endForGood()?.cancel()
    guard mayProceed() else { return delegate { [self] in receive(completion: completion) } }
    if source.end() != nil { deliver(completion) }
  }

  @usableFromInline
  func notify() {
    guard mayProceed() else { return delegate { [self] in notify() } }
    guard let ending = source.conclude() else { return }
    ending.upstream?.cancel()
    deliver(.finished)
  }

  @usableFromInline
  func deliver(_ completion: Subscribers.Completion<Failure>) {
    guard enter() else { return delegate { [self] in deliver(completion) } }
    if outstanding.close() != nil { downstream.receive(completion: completion) }
    leave()
  }

  @usableFromInline
  func notifierEnded(_ completion: Subscribers.Completion<NotifierFailure>) {}

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) { source.held?.request(demand) }

  @usableFromInline
  override func cancel() {
    _ = outstanding.close()
    source.endForGood()?.cancel()
    notifier.endForGood()?.cancel()
  }
}
