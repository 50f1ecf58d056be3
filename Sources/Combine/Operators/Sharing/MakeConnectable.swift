extension Publisher where Failure == Never {
  /// Holds this publisher back until `connect()` is called, so that several subscribers can attach first.
  ///
  /// - Demand: a connection asks this publisher for everything, once anybody asks; who did not ask misses values.
  /// - Failure: there is none.
  /// - Threads: values come where this publisher sends.
  @inlinable
  public func makeConnectable() -> Publishers.MakeConnectable<Self> {
    Publishers.MakeConnectable(upstream: self)
  }
}

extension Publishers {
  /// A publisher that shares another, and starts when told to.
  public struct MakeConnectable<Upstream: Publisher>: ConnectablePublisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    @usableFromInline let shared: Multicast<Upstream, PassthroughSubject<Output, Failure>>

    /// Makes a publisher that starts another when told to.
    @inlinable
    public init(upstream: Upstream) {
      shared = upstream.multicast { PassthroughSubject() }
    }

    /// Attaches a subscriber, which gets nothing before the connection.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      shared.receive(subscriber: subscriber)
    }

    /// Subscribes to the upstream.
    ///
    /// Connecting twice subscribes twice.
    ///
    /// - Returns: a handle that ends the connection when it is cancelled or released.
    public func connect() -> any Cancellable {
      shared.connect()
    }
  }
}
