extension Publisher {
  /// Publishes whether a closure accepts any of the values.
  ///
  /// - Parameter predicate: says whether a value is one looked for. The first such cancels the upstream.
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes as it is, without waiting for a request.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func contains(where predicate: @escaping (Output) -> Bool) -> Publishers.ContainsWhere<Self> {
    Publishers.ContainsWhere(upstream: self, predicate: predicate)
  }

  /// Publishes whether a closure accepts any of the values, and fails if it throws.
  ///
  /// - Parameter predicate: says whether a value is one looked for. The first such cancels the upstream.
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes without waiting for a request; an error thrown cancels the upstream and ends the stream.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func tryContains(where predicate: @escaping (Output) throws -> Bool) -> Publishers.TryContainsWhere<Self> {
    Publishers.TryContainsWhere(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// A publisher of whether a closure accepts any of the upstream values.
  public struct ContainsWhere<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Bool
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
    where S: Subscriber, S.Input == Bool, Upstream.Failure == S.Failure {
      upstream.subscribe(
        ReduceSubscriber(
          PredicateReducer<Upstream.Output, Total<Upstream.Failure>>("ContainsWhere", on: true, predicate),
          to: subscriber
        )
      )
    }
  }

  /// A publisher of whether a closure, which may throw, accepts any of the upstream values.
  public struct TryContainsWhere<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Bool
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
    public func receive<S>(subscriber: consuming S) where S: Subscriber, S.Input == Bool, S.Failure == any Error {
      upstream.subscribe(
        ReduceSubscriber(
          PredicateReducer<Upstream.Output, Partial<Upstream.Failure>>("TryContainsWhere", on: true, predicate),
          to: subscriber
        )
      )
    }
  }
}
