extension Publisher {
  /// Shares one subscription to this publisher among all subscribers, while there are any.
  ///
  /// Who comes late misses what was sent before; after the end, only the end is left.
  ///
  /// - Demand: this publisher is asked for everything, once anybody asks; who did not ask misses values.
  /// - Failure: passes as it is.
  /// - Threads: values come where this publisher sends.
  @inlinable
  public func share() -> Publishers.Share<Self> {
    Publishers.Share(upstream: self)
  }
}

extension Publishers {
  /// A publisher that shares one subscription to another among its subscribers.
  public final class Share<Upstream: Publisher>: Publisher, Equatable {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher to share.
    public let upstream: Upstream

    @usableFromInline let shared: Autoconnect<Multicast<Upstream, PassthroughSubject<Output, Failure>>>

    /// Makes a publisher that shares another.
    @inlinable
    public init(upstream: Upstream) {
      self.upstream = upstream
      shared = upstream.multicast { PassthroughSubject() }.autoconnect()
    }

    /// Attaches a subscriber, and subscribes to the upstream if it is the first.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      shared.receive(subscriber: subscriber)
    }

    /// Whether both are the same object.
    public static func == (lhs: Share, rhs: Share) -> Bool {
      lhs === rhs
    }
  }
}
