extension Publisher {
  /// Publishes a value of its own if the upstream finishes without one.
  ///
  /// - Demand: passes as it is, and everything is asked for in addition; the replacement waits for a request.
  /// - Failure: passes as it is.
  /// - Threads: the replacement comes where the upstream finishes, or where it is then asked for.
  @inlinable @inline(__always)
  public func replaceEmpty(with output: Output) -> Publishers.ReplaceEmpty<Self> {
    Publishers.ReplaceEmpty(upstream: self, output: output)
  }
}

extension Publishers {
  /// A publisher of the upstream values, or of one of its own if there are none.
  public struct ReplaceEmpty<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The value to publish if the upstream finishes without one.
    public let output: Upstream.Output

    /// The publisher that may be empty.
    public let upstream: Upstream

    /// Makes a publisher that stands in for an empty one.
    @inlinable @inline(__always)
    public init(upstream: Upstream, output: Upstream.Output) {
      self.upstream = upstream
      self.output = output
    }

    /// Attaches a subscriber to the upstream, with the replacement at hand.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      upstream.subscribe(ReplaceEmptySubscriber(with: output, to: subscriber))
    }
  }
}

extension Publishers.ReplaceEmpty: Equatable where Upstream: Equatable, Upstream.Output: Equatable {}

/// Passes values on, and delivers a replacement at the end if there were none.
@usableFromInline
final class ReplaceEmptySubscriber<Downstream: Subscriber>: UpstreamSubscription, Subscriber {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let output: Input
  @usableFromInline let downstream: Downstream
  // Written by the one upstream that sends.
  @exclusivity(unchecked) @usableFromInline var isEmpty = true
  // Whether the replacement is due, and wanted.
  @usableFromInline let deferred = DeferredResult()

  @inlinable
  init(with output: Input, to downstream: Downstream) {
    self.output = output
    self.downstream = downstream
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    guard hold(subscription) else { return }
    downstream.receive(subscription: self)
    // Downstream may have cancelled from inside.
    if isHolding { subscription.request(.unlimited) }
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isHolding else { return .none }
    isEmpty = false
    return downstream.receive(input)
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    guard end() != nil else { return }
    guard isEmpty, case .finished = completion else {
      downstream.receive(completion: completion)
      return
    }
    if deferred.arrive() == .isWanted { replace() }
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(name)
    guard !isWaiting else { return }
    if deferred.request() { replace() } else { super.request(demand) }
  }

  @usableFromInline
  override func cancel() {
    guard !isWaiting else { return }
    _ = deferred.end()
    super.cancel()
  }

  @inlinable
  func replace() {
    _ = downstream.receive(output)
    // Downstream may have cancelled from inside.
    if deferred.end() != .over { downstream.receive(completion: .finished) }
  }

  @usableFromInline override var name: String { "ReplaceEmpty" }
}
