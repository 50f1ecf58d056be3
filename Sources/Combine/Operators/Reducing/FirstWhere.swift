extension Publisher {
  /// Publishes the first value that a closure accepts, cancels the upstream and ends.
  ///
  /// - Parameter predicate: says whether a value is one looked for.
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes as it is, without waiting for a request.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func first(where predicate: @escaping (Output) -> Bool) -> Publishers.FirstWhere<Self> {
    Publishers.FirstWhere(upstream: self, predicate: predicate)
  }

  /// Publishes the first value that a closure accepts, cancels the upstream and ends; fails if the closure throws.
  ///
  /// - Parameter predicate: says whether a value is one looked for.
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes without waiting for a request; an error thrown cancels the upstream and ends the stream.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func tryFirst(where predicate: @escaping (Output) throws -> Bool) -> Publishers.TryFirstWhere<Self> {
    Publishers.TryFirstWhere(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// A publisher of the first upstream value that a closure accepts.
  public struct FirstWhere<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to search.
    public let upstream: Upstream

    /// Says whether a value is one looked for.
    public let predicate: (Upstream.Output) -> Bool

    /// Makes a publisher of the result.
    @inlinable @inline(__always)
    public init(upstream: Upstream, predicate: @escaping (Upstream.Output) -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    /// Attaches a subscriber to the upstream, with a memory of its own.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Output == S.Input, Upstream.Failure == S.Failure {
      upstream.subscribe(
        ReduceSubscriber(
          FirstReducer<Upstream.Output, Total<Upstream.Failure>>("TryFirst", where: predicate),
          to: subscriber
        )
      )
    }
  }

  /// A publisher of the first upstream value that a closure, which may throw, accepts.
  public struct TryFirstWhere<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does, or as the closure throws.
    public typealias Failure = any Error

    /// The publisher of the values to search.
    public let upstream: Upstream

    /// Says whether a value is one looked for, or throws.
    public let predicate: (Upstream.Output) throws -> Bool

    /// Makes a publisher of the result.
    @inlinable @inline(__always)
    public init(upstream: Upstream, predicate: @escaping (Upstream.Output) throws -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    /// Attaches a subscriber to the upstream, with a memory of its own.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Output == S.Input, S.Failure == any Error {
      upstream.subscribe(
        ReduceSubscriber(
          FirstReducer<Upstream.Output, Partial<Upstream.Failure>>("TryFirstWhere", where: predicate),
          to: subscriber
        )
      )
    }
  }
}
