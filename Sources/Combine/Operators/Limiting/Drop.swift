extension Publisher {
  /// Leaves out the first values.
  ///
  /// - Parameter count: how many values, not negative.
  /// - Demand: passes as it is; the values left out are asked for in addition.
  /// - Failure: passes as it is.
  /// - Threads: values pass where the upstream sends.
  @inlinable @inline(__always)
  public func dropFirst(_ count: Int = 1) -> Publishers.Drop<Self> {
    Publishers.Drop(upstream: self, count: count)
  }
}

extension Publishers {
  /// A publisher of the upstream values without the first.
  public struct Drop<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values.
    public let upstream: Upstream

    /// How many values are left out.
    public let count: Int

    /// Makes a publisher of the values of another without the first.
    ///
    /// - Parameters:
    ///   - upstream: the publisher of the values.
    ///   - count: how many values to leave out, not negative.
    @inlinable @inline(__always)
    public init(upstream: Upstream, count: Int) {
      self.upstream = upstream
      self.count = count
    }

    /// Attaches a subscriber to the upstream, with a count of its own.
    @inlinable
    public func receive<S>(subscriber: S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      let parent = DropSubscriber(count, to: subscriber)
      subscriber.receive(subscription: parent)
      upstream.subscribe(parent)
    }
  }
}

extension Publishers.Drop: Equatable where Upstream: Equatable {}

/// Counts values and leaves out the first.
///
/// Like Apple's, it does not look at its state before it takes a value or an end, and takes another subscription after
/// an end and after a cancel.
@usableFromInline
final class DropSubscriber<Downstream: Subscriber>: DeferredSubscription, Subscriber {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let downstream: Downstream
  // Read and written whole, by the one upstream that sends.
  @exclusivity(unchecked) @usableFromInline var countToDrop: Int

  @inlinable
  init(_ count: Int, to downstream: Downstream) {
    countToDrop = count
    self.downstream = downstream
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    guard countToDrop >= 0 else {
      violation(
        name,
        "was told to leave out \(countToDrop) values",
        advice: "Call dropFirst(_:) with zero or more."
      )
    }
    hold(subscription, askingFor: .max(countToDrop))
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    guard countToDrop > 0 else { return downstream.receive(input) }
    countToDrop &-= 1
    return .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    withExtendedLifetime(waitForAnother()) {}
    downstream.receive(completion: completion)
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(name)
    super.request(demand)
  }

  @usableFromInline
  override func cancel() {
    let upstream = waitForAnother()
    _ = takeAsked()
    upstream?.cancel()
  }

  @usableFromInline override var name: String { "Drop" }
}
