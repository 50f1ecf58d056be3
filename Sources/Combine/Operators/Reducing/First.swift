extension Publisher {
  /// Publishes the first value, cancels the upstream and ends.
  ///
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes as it is, without waiting for a request.
  /// - Threads: values are taken where the upstream sends.
  @inlinable @inline(__always)
  public func first() -> Publishers.First<Self> {
    Publishers.First(upstream: self)
  }
}

extension Publishers {
  /// A publisher of the first upstream value.
  public struct First<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to choose from.
    public let upstream: Upstream

    /// Makes a publisher of the result.
    @inlinable @inline(__always)
    public init(upstream: Upstream) {
      self.upstream = upstream
    }

    /// Attaches a subscriber to the upstream, with a memory of its own.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Output == S.Input, Upstream.Failure == S.Failure {
      upstream.subscribe(
        ReduceSubscriber(FirstReducer<Upstream.Output, Total<Upstream.Failure>>("First") { _ in true }, to: subscriber)
      )
    }
  }
}

extension Publishers.First: Equatable where Upstream: Equatable {}

/// Takes the first value that a predicate accepts, for all operators that do.
@usableFromInline
struct FirstReducer<Input, Failures: FailureFlow>: Reducer {
  @usableFromInline let name: String
  @usableFromInline let predicate: (Input) throws(Failures.Thrown) -> Bool

  @inlinable @inline(__always)
  init(_ name: String, where predicate: @escaping (Input) throws(Failures.Thrown) -> Bool) {
    self.name = name
    self.predicate = predicate
  }

  @inlinable var initial: Void { () }

  @inlinable @inline(__always)
  func add(_ input: Input, to memory: consuming Void) throws(Failures.Thrown) -> Reduction<Void, Input> {
    try predicate(input) ? .decided(input) : .more(())
  }

  @inlinable
  func result(of memory: Void) -> Input? { nil }
}
