extension Publisher {
  /// Publishes how many values came.
  ///
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes as it is, without waiting for a request.
  /// - Threads: values are taken where the upstream sends.
  @inlinable @inline(__always)
  public func count() -> Publishers.Count<Self> {
    Publishers.Count(upstream: self)
  }
}

extension Publishers {
  /// A publisher of how many values came from upstream.
  public struct Count<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Int
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to count.
    public let upstream: Upstream

    /// Makes a publisher of the result.
    @inlinable @inline(__always)
    public init(upstream: Upstream) {
      self.upstream = upstream
    }

    /// Attaches a subscriber to the upstream, with a memory of its own.
    @inlinable
    public func receive<S>(subscriber: consuming S) where S: Subscriber, S.Input == Int, Upstream.Failure == S.Failure {
      upstream.subscribe(ReduceSubscriber(CountReducer<Upstream.Output, Failure>(), to: subscriber))
    }
  }
}

extension Publishers.Count: Equatable where Upstream: Equatable {}

@usableFromInline
struct CountReducer<Input, Failure: Error>: Reducer {
  @usableFromInline typealias Failures = Total<Failure>

  @inlinable @inline(__always)
  init() {}

  @inlinable static var runsNoForeignCode: Bool { true }
  @inlinable var initial: Int { 0 }

  @inlinable @inline(__always)
  func add(_ input: Input, to count: consuming Int) -> Reduction<Int, Int> { .more(count + 1) }

  @inlinable
  func result(of count: Int) -> Int? { count }

  @usableFromInline var name: String { "Count" }
}
