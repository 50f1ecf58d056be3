extension Publisher {
  /// Publishes whether a closure accepts all values; true if none comes.
  ///
  /// - Parameter predicate: says whether a value is as it should be. The first that is not cancels the upstream.
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes as it is, without waiting for a request.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func allSatisfy(_ predicate: @escaping (Output) -> Bool) -> Publishers.AllSatisfy<Self> {
    Publishers.AllSatisfy(upstream: self, predicate: predicate)
  }

  /// Publishes whether a closure accepts all values, true if none comes, and fails if it throws.
  ///
  /// - Parameter predicate: says whether a value is as it should be. The first that is not cancels the upstream.
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes without waiting for a request; an error thrown cancels the upstream and ends the stream.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func tryAllSatisfy(_ predicate: @escaping (Output) throws -> Bool) -> Publishers.TryAllSatisfy<Self> {
    Publishers.TryAllSatisfy(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// A publisher of whether a closure accepts all upstream values.
  public struct AllSatisfy<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Bool
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to check.
    public let upstream: Upstream

    /// Says whether a value is as it should be.
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
          PredicateReducer<Upstream.Output, Total<Upstream.Failure>>("AllSatisfy", on: false, predicate),
          to: subscriber
        )
      )
    }
  }

  /// A publisher of whether a closure, which may throw, accepts all upstream values.
  public struct TryAllSatisfy<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Bool
    /// Fails as its upstream does, or as the closure throws.
    public typealias Failure = any Error

    /// The publisher of the values to check.
    public let upstream: Upstream

    /// Says whether a value is as it should be, or throws.
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
          PredicateReducer<Upstream.Output, Partial<Upstream.Failure>>("TryAllSatisfy", on: false, predicate),
          to: subscriber
        )
      )
    }
  }
}
