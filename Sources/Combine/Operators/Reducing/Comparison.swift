extension Publisher {
  /// Publishes the smallest value, once the upstream has ended; of equal ones the first.
  ///
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes as it is, without waiting for a request.
  /// - Threads: values are compared where the upstream sends.
  @inlinable @inline(__always)
  public func min() -> Publishers.Comparison<Self> where Output: Comparable {
    max(by: >)
  }

  /// Publishes the largest value, once the upstream has ended; of equal ones the first.
  ///
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes as it is, without waiting for a request.
  /// - Threads: values are compared where the upstream sends.
  @inlinable @inline(__always)
  public func max() -> Publishers.Comparison<Self> where Output: Comparable {
    max(by: <)
  }

  /// Publishes the smallest value by an order of your own, once the upstream has ended; of equal ones the first.
  ///
  /// - Parameter areInIncreasingOrder: says whether its first argument belongs before its second.
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes as it is, without waiting for a request.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func min(by areInIncreasingOrder: @escaping (Output, Output) -> Bool) -> Publishers.Comparison<Self> {
    Publishers.Comparison(upstream: self) { areInIncreasingOrder($1, $0) }
  }

  /// Publishes the largest value by an order of your own, once the upstream has ended; of equal ones the first.
  ///
  /// - Parameter areInIncreasingOrder: says whether its first argument belongs before its second.
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes as it is, without waiting for a request.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func max(by areInIncreasingOrder: @escaping (Output, Output) -> Bool) -> Publishers.Comparison<Self> {
    Publishers.Comparison(upstream: self, areInIncreasingOrder: areInIncreasingOrder)
  }

  /// Publishes the smallest value by an order of your own, once the upstream has ended; fails if the closure throws.
  ///
  /// - Parameter areInIncreasingOrder: says whether its first argument belongs before its second.
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes without waiting for a request; an error thrown cancels the upstream and ends the stream.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func tryMin(by areInIncreasingOrder: @escaping (Output, Output) throws -> Bool)
    -> Publishers.TryComparison<Self>
  {
    Publishers.TryComparison(upstream: self) { try areInIncreasingOrder($1, $0) }
  }

  /// Publishes the largest value by an order of your own, once the upstream has ended; fails if the closure throws.
  ///
  /// - Parameter areInIncreasingOrder: says whether its first argument belongs before its second.
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes without waiting for a request; an error thrown cancels the upstream and ends the stream.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func tryMax(by areInIncreasingOrder: @escaping (Output, Output) throws -> Bool)
    -> Publishers.TryComparison<Self>
  {
    Publishers.TryComparison(upstream: self, areInIncreasingOrder: areInIncreasingOrder)
  }
}

extension Publishers {
  /// A publisher of the upstream value that no other exceeds.
  public struct Comparison<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to compare.
    public let upstream: Upstream

    /// Takes the value so far and a new one, and says whether the new one takes its place.
    public let areInIncreasingOrder: (Upstream.Output, Upstream.Output) -> Bool

    /// Makes a publisher of the result.
    @inlinable @inline(__always)
    public init(upstream: Upstream, areInIncreasingOrder: @escaping (Upstream.Output, Upstream.Output) -> Bool) {
      self.upstream = upstream
      self.areInIncreasingOrder = areInIncreasingOrder
    }

    /// Attaches a subscriber to the upstream, with a memory of its own.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Output == S.Input, Upstream.Failure == S.Failure {
      upstream.subscribe(
        ReduceSubscriber(
          ComparisonReducer<Upstream.Output, Total<Upstream.Failure>>("Comparison", areInIncreasingOrder),
          to: subscriber
        )
      )
    }
  }

  /// A publisher of the upstream value that no other exceeds, by a closure that may throw.
  public struct TryComparison<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does, or as the closure throws.
    public typealias Failure = any Error

    /// The publisher of the values to compare.
    public let upstream: Upstream

    /// Takes the value so far and a new one, and says whether the new one takes its place, or throws.
    public let areInIncreasingOrder: (Upstream.Output, Upstream.Output) throws -> Bool

    /// Makes a publisher of the result.
    @inlinable @inline(__always)
    public init(upstream: Upstream, areInIncreasingOrder: @escaping (Upstream.Output, Upstream.Output) throws -> Bool) {
      self.upstream = upstream
      self.areInIncreasingOrder = areInIncreasingOrder
    }

    /// Attaches a subscriber to the upstream, with a memory of its own.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Output == S.Input, S.Failure == any Error {
      upstream.subscribe(
        ReduceSubscriber(
          ComparisonReducer<Upstream.Output, Partial<Upstream.Failure>>("TryComparison", areInIncreasingOrder),
          to: subscriber
        )
      )
    }
  }
}

@usableFromInline
struct ComparisonReducer<Input, Failures: FailureFlow>: Reducer {
  @usableFromInline let name: String
  @usableFromInline let isExceeded: (Input, Input) throws(Failures.Thrown) -> Bool

  @inlinable @inline(__always)
  init(_ name: String, _ isExceeded: @escaping (Input, Input) throws(Failures.Thrown) -> Bool) {
    self.name = name
    self.isExceeded = isExceeded
  }

  @inlinable var initial: Input? { nil }

  @inlinable @inline(__always)
  func add(_ input: Input, to best: consuming Input?) throws(Failures.Thrown) -> Reduction<Input?, Input> {
    guard let best else { return .more(input) }
    return .more(try isExceeded(best, input) ? input : best)
  }

  @inlinable
  func result(of best: Input?) -> Input? { best }
}
