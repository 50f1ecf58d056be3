extension Publisher {
  /// Publishes all values at once, as an array.
  ///
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes as it is, without waiting for a request.
  /// - Threads: values are taken where the upstream sends.
  @inlinable @inline(__always)
  public func collect() -> Publishers.Collect<Self> {
    Publishers.Collect(upstream: self)
  }
}

extension Publishers {
  /// A publisher of all upstream values at once.
  public struct Collect<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = [Upstream.Output]
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to collect.
    public let upstream: Upstream

    /// Makes a publisher of the result.
    @inlinable @inline(__always)
    public init(upstream: Upstream) {
      self.upstream = upstream
    }

    /// Attaches a subscriber to the upstream, with a memory of its own.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, S.Input == [Upstream.Output], Upstream.Failure == S.Failure {
      upstream.subscribe(ReduceSubscriber(CollectReducer<Upstream.Output, Failure>(), to: subscriber))
    }
  }
}

extension Publishers.Collect: Equatable where Upstream: Equatable {}

@usableFromInline
struct CollectReducer<Input, Failure: Error>: Reducer {
  @usableFromInline typealias Failures = Total<Failure>

  @inlinable @inline(__always)
  init() {}

  @inlinable static var runsNoForeignCode: Bool { true }
  @inlinable var initial: [Input] { [] }

  @inlinable @inline(__always)
  func add(_ input: Input, to collected: consuming [Input]) -> Reduction<[Input], [Input]> {
    collected.append(input)
    return .more(collected)
  }

  @inlinable
  func result(of collected: [Input]) -> [Input]? { collected }

  @usableFromInline var name: String { "Collect" }

  @usableFromInline
  func children(of collected: [Input]?) -> [(label: String?, value: Any)]? { [("count", collected?.count ?? 0)] }
}
