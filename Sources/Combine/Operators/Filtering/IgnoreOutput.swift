extension Publisher {
  /// Publishes the end only.
  ///
  /// - Demand: asks for everything, whatever the subscriber asks for.
  /// - Failure: passes as it is.
  /// - Threads: the end comes where the upstream sends it.
  @inlinable @inline(__always)
  public func ignoreOutput() -> Publishers.IgnoreOutput<Self> {
    Publishers.IgnoreOutput(upstream: self)
  }
}

extension Publishers {
  /// A publisher of the upstream's end, without its values.
  public struct IgnoreOutput<Upstream: Publisher>: Publisher {
    /// No value is ever published.
    public typealias Output = Never
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to leave out.
    public let upstream: Upstream

    /// Makes a publisher of the end of another.
    @inlinable @inline(__always)
    public init(upstream: Upstream) {
      self.upstream = upstream
    }

    /// Attaches a subscriber to the upstream's end.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, S.Input == Never {
      upstream.subscribe(IgnoreOutputSubscriber<Upstream.Output, S>(to: subscriber))
    }
  }
}

extension Publishers.IgnoreOutput: Equatable where Upstream: Equatable {}

/// Passes everything but values, in any state and any number, and asks for all values itself.
@usableFromInline
struct IgnoreOutputSubscriber<Input, Downstream: Subscriber>: Subscriber, CustomStringConvertible, CustomReflectable,
  CustomPlaygroundDisplayConvertible
where Downstream.Input == Never {
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let downstream: Downstream
  @usableFromInline let combineIdentifier = CombineIdentifier()

  @inlinable @inline(__always)
  init(to downstream: Downstream) {
    self.downstream = downstream
  }

  @inlinable
  func receive(subscription: any Subscription) {
    downstream.receive(subscription: subscription)
    subscription.request(.unlimited)
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand { .none }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    downstream.receive(completion: completion)
  }

  @usableFromInline var description: String { "IgnoreOutput" }
  @usableFromInline var playgroundDescription: Any { description }
  @usableFromInline var customMirror: Mirror { Mirror(self, children: [:]) }
}
