extension Publisher {
  /// Publishes whether a value is among those that come.
  ///
  /// - Parameter output: the value to look for. The first like it cancels the upstream.
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes as it is, without waiting for a request.
  /// - Threads: values are compared where the upstream sends.
  @inlinable @inline(__always)
  public func contains(_ output: Output) -> Publishers.Contains<Self> where Output: Equatable {
    Publishers.Contains(upstream: self, output: output)
  }
}

extension Publishers {
  /// A publisher of whether a value is among those of upstream.
  public struct Contains<Upstream: Publisher>: Publisher where Upstream.Output: Equatable {
    /// The kind of values published.
    public typealias Output = Bool
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to search.
    public let upstream: Upstream

    /// The value to look for.
    public let output: Upstream.Output

    /// Makes a publisher of the result.
    @inlinable @inline(__always)
    public init(upstream: Upstream, output: Upstream.Output) {
      self.upstream = upstream
      self.output = output
    }

    /// Attaches a subscriber to the upstream, with a memory of its own.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, S.Input == Bool, Upstream.Failure == S.Failure {
      upstream.subscribe(
        ReduceSubscriber(
          PredicateReducer<Upstream.Output, Total<Upstream.Failure>>("Contains", on: true) { [output] in $0 == output },
          to: subscriber
        )
      )
    }
  }
}

extension Publishers.Contains: Equatable where Upstream: Equatable {}
