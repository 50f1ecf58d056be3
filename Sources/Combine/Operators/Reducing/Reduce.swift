extension Publisher {
  /// Publishes what a closure makes of all values, one after the other.
  ///
  /// - Parameters:
  ///   - initialResult: what to start with; the result if no value comes.
  ///   - nextPartialResult: takes the result so far and a value, and returns the next result.
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes as it is, without waiting for a request.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func reduce<T>(_ initialResult: T, _ nextPartialResult: @escaping (T, Output) -> T)
    -> Publishers.Reduce<Self, T>
  {
    Publishers.Reduce(upstream: self, initial: initialResult, nextPartialResult: nextPartialResult)
  }

  /// Publishes what a closure makes of all values, one after the other, and fails if it throws.
  ///
  /// - Parameters:
  ///   - initialResult: what to start with; the result if no value comes.
  ///   - nextPartialResult: takes the result so far and a value, and returns the next result.
  /// - Demand: asks upstream for everything; the result waits for the first request of any size.
  /// - Failure: passes without waiting for a request; an error thrown cancels the upstream and ends the stream.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func tryReduce<T>(_ initialResult: T, _ nextPartialResult: @escaping (T, Output) throws -> T)
    -> Publishers.TryReduce<Self, T>
  {
    Publishers.TryReduce(upstream: self, initial: initialResult, nextPartialResult: nextPartialResult)
  }
}

extension Publishers {
  /// A publisher of what a closure makes of all upstream values.
  public struct Reduce<Upstream: Publisher, Output>: Publisher {
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to reduce.
    public let upstream: Upstream

    /// What to start with.
    public let initial: Output

    /// Makes the next result of the one so far and a value.
    public let nextPartialResult: (Output, Upstream.Output) -> Output

    /// Makes a publisher of the result.
    @inlinable @inline(__always)
    public init(upstream: Upstream, initial: Output, nextPartialResult: @escaping (Output, Upstream.Output) -> Output) {
      self.upstream = upstream
      self.initial = initial
      self.nextPartialResult = nextPartialResult
    }

    /// Attaches a subscriber to the upstream, with a memory of its own.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Output == S.Input, Upstream.Failure == S.Failure {
      upstream.subscribe(
        ReduceSubscriber(
          ClosureReducer<Upstream.Output, Output, Total<Upstream.Failure>>("Reduce", initial, nextPartialResult),
          to: subscriber
        )
      )
    }
  }

  /// A publisher of what a closure, which may throw, makes of all upstream values.
  public struct TryReduce<Upstream: Publisher, Output>: Publisher {
    /// Fails as its upstream does, or as the closure throws.
    public typealias Failure = any Error

    /// The publisher of the values to reduce.
    public let upstream: Upstream

    /// What to start with.
    public let initial: Output

    /// Makes the next result of the one so far and a value, or throws.
    public let nextPartialResult: (Output, Upstream.Output) throws -> Output

    /// Makes a publisher of the result.
    @inlinable @inline(__always)
    public init(
      upstream: Upstream,
      initial: Output,
      nextPartialResult: @escaping (Output, Upstream.Output) throws -> Output
    ) {
      self.upstream = upstream
      self.initial = initial
      self.nextPartialResult = nextPartialResult
    }

    /// Attaches a subscriber to the upstream, with a memory of its own.
    @inlinable
    public func receive<S>(subscriber: consuming S) where S: Subscriber, Output == S.Input, S.Failure == any Error {
      upstream.subscribe(
        ReduceSubscriber(
          ClosureReducer<Upstream.Output, Output, Partial<Upstream.Failure>>(
            "TryReduce",
            initial,
            nextPartialResult
          ),
          to: subscriber
        )
      )
    }
  }
}

@usableFromInline
struct ClosureReducer<Input, Output, Failures: FailureFlow>: Reducer {
  @usableFromInline let name: String
  @usableFromInline let initial: Output
  @usableFromInline let nextPartialResult: (Output, Input) throws(Failures.Thrown) -> Output

  @inlinable @inline(__always)
  init(
    _ name: String,
    _ initial: Output,
    _ nextPartialResult: @escaping (Output, Input) throws(Failures.Thrown) -> Output
  ) {
    self.name = name
    self.initial = initial
    self.nextPartialResult = nextPartialResult
  }

  @inlinable @inline(__always)
  func add(_ input: Input, to result: consuming Output) throws(Failures.Thrown) -> Reduction<Output, Output> {
    .more(try nextPartialResult(result, input))
  }

  @inlinable
  func result(of memory: Output) -> Output? { memory }
}
