import Combine

extension Publisher {
  /// Shares one subscription to publishers that ask for the same thing at the same time.
  ///
  ///     client.forecast(for: city).coalesced(by: forecasts, for: city)
  ///
  /// - Parameters:
  ///   - coalescer: Shared by all that may join each other.
  ///   - key: What is asked for. Publishers of one key must be interchangeable: only the first is subscribed to.
  ///
  /// - Demand: The upstream is asked for what the one who wants most has requested; each gets what it requests, late
  ///   ones from the first value on.
  /// - Failure: The upstream's, for each subscriber; it is not kept for those who come after it.
  /// - Threads: Where the upstream sends, or where the subscriber requests what has come already.
  /// - Note: The upstream runs under no ``Deadline/current``, as it is everybody's. A limit of one subscriber's own is a
  ///   ``Combine/Publisher/timeout(_:time:failingWith:)`` behind this.
  @inlinable
  public func coalesced<Key>(
    by coalescer: Coalescer<Key, Output, Failure>,
    for key: Key
  ) -> Publishers.Coalesced<Self, Key> {
    Publishers.Coalesced(upstream: self, coalescer: coalescer, key: key)
  }
}

extension Publishers {
  /// Shares one subscription to publishers that ask for the same thing at the same time.
  ///
  /// Made by ``Combine/Publisher/coalesced(by:for:)``.
  public struct Coalesced<Upstream: Publisher, Key: Hashable & Sendable>: Publisher {
    /// What the upstream publishes.
    public typealias Output = Upstream.Output
    /// What the upstream fails with.
    public typealias Failure = Upstream.Failure

    @usableFromInline let upstream: Upstream
    @usableFromInline let coalescer: Coalescer<Key, Output, Failure>
    @usableFromInline let key: Key

    @inlinable
    init(upstream: Upstream, coalescer: Coalescer<Key, Output, Failure>, key: Key) {
      (self.upstream, self.coalescer, self.key) = (upstream, coalescer, key)
    }

    /// Joins what is in flight, or starts it.
    @inlinable @inline(__always)
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let (passenger, isFirst) = coalescer.join(key) { SubscribedPassenger(subscriber, on: $0) }
      subscriber.receive(subscription: passenger)
      passenger.begin()
      if isFirst { Deadline.replaced(by: nil) { upstream.subscribe(passenger.flight) } }
    }
  }
}
