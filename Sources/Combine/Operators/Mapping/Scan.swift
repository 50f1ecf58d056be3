extension Publisher {
  /// Publishes, for each value, what a closure makes of the last result and the value.
  ///
  /// - Parameters:
  ///   - initialResult: stands for the last result at the first value; it is not published itself.
  ///   - nextPartialResult: takes the last result and a value, and returns the next result.
  /// - Demand: passes as it is.
  /// - Failure: passes as it is.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func scan<T>(
    _ initialResult: T,
    _ nextPartialResult: @escaping (T, Output) -> T
  ) -> Publishers.Scan<Self, T> {
    Publishers.Scan(upstream: self, initialResult: initialResult, nextPartialResult: nextPartialResult)
  }

  /// Publishes, for each value, what a closure makes of the last result and the value, and fails if it throws.
  ///
  /// - Parameters:
  ///   - initialResult: stands for the last result at the first value; it is not published itself.
  ///   - nextPartialResult: takes the last result and a value, and returns the next result.
  /// - Demand: passes as it is.
  /// - Failure: an error thrown cancels the upstream and ends the stream.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func tryScan<T>(
    _ initialResult: T,
    _ nextPartialResult: @escaping (T, Output) throws -> T
  ) -> Publishers.TryScan<Self, T> {
    Publishers.TryScan(upstream: self, initialResult: initialResult, nextPartialResult: nextPartialResult)
  }
}

extension Publishers {
  /// A publisher of what a closure makes of the last result and each upstream value.
  public struct Scan<Upstream: Publisher, Output>: Publisher {
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to add up.
    public let upstream: Upstream

    /// Stands for the last result at the first value.
    public let initialResult: Output

    /// Makes a result of the last one and a value.
    public let nextPartialResult: (Output, Upstream.Output) -> Output

    /// Makes a publisher that adds up the values of another.
    @inlinable @inline(__always)
    public init(
      upstream: Upstream,
      initialResult: Output,
      nextPartialResult: @escaping (Output, Upstream.Output) -> Output
    ) {
      self.upstream = upstream
      self.initialResult = initialResult
      self.nextPartialResult = nextPartialResult
    }

    /// Attaches a subscriber to the upstream, with a result of its own.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where Output == S.Input, S: Subscriber, Upstream.Failure == S.Failure {
      upstream.subscribe(
        ScanSubscriber<Upstream.Output, S>(startingWith: initialResult, nextPartialResult, to: subscriber)
      )
    }
  }

  /// A publisher of what a closure, which may throw, makes of the last result and each upstream value.
  public struct TryScan<Upstream: Publisher, Output>: Publisher {
    /// Fails as its upstream does, or as the closure throws.
    public typealias Failure = any Error

    /// The publisher of the values to add up.
    public let upstream: Upstream

    /// Stands for the last result at the first value.
    public let initialResult: Output

    /// Makes a result of the last one and a value, or throws.
    public let nextPartialResult: (Output, Upstream.Output) throws -> Output

    /// Makes a publisher that adds up the values of another.
    @inlinable @inline(__always)
    public init(
      upstream: Upstream,
      initialResult: Output,
      nextPartialResult: @escaping (Output, Upstream.Output) throws -> Output
    ) {
      self.upstream = upstream
      self.initialResult = initialResult
      self.nextPartialResult = nextPartialResult
    }

    /// Attaches a subscriber to the upstream, with a result of its own.
    @inlinable
    public func receive<S>(subscriber: consuming S) where Output == S.Input, S: Subscriber, S.Failure == any Error {
      upstream.subscribe(
        MachineSubscriber(
          TryScanMachine<Upstream.Output, Output, Upstream.Failure>(nextPartialResult),
          remembering: initialResult,
          to: subscriber
        )
      )
    }
  }
}

/// Adds up values on their way, without a subscription of its own: events pass in any state and any number.
@usableFromInline
final class ScanSubscriber<Input, Downstream: Subscriber>: Subscriber, CustomStringConvertible, CustomReflectable,
  CustomPlaygroundDisplayConvertible
{
  @usableFromInline typealias Failure = Downstream.Failure

  @usableFromInline let nextPartialResult: (Downstream.Input, Input) -> Downstream.Input
  @usableFromInline let downstream: Downstream
  // Read and written whole, by the one upstream that sends.
  @exclusivity(unchecked) @usableFromInline var result: Downstream.Input

  @inlinable @inline(__always)
  init(
    startingWith initialResult: Downstream.Input,
    _ nextPartialResult: @escaping (Downstream.Input, Input) -> Downstream.Input,
    to downstream: Downstream
  ) {
    result = initialResult
    self.nextPartialResult = nextPartialResult
    self.downstream = downstream
  }

  @inlinable
  func receive(subscription: any Subscription) {
    downstream.receive(subscription: subscription)
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    let next = nextPartialResult(result, input)
    // What was there goes once this is in its place: a value may send another as it goes.
    let replaced = exchange(&result, with: next)
    withExtendedLifetime(replaced) {}
    return downstream.receive(next)
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    downstream.receive(completion: completion)
  }

  @usableFromInline var description: String { "Scan" }
  @usableFromInline var playgroundDescription: Any { description }
  @usableFromInline
  var customMirror: Mirror { Mirror(self, children: ["downstream": downstream, "result": result]) }
}

@usableFromInline
struct TryScanMachine<Input, Output, UpstreamFailure: Error>: Machine {
  @usableFromInline typealias Failures = Partial<UpstreamFailure>
  @usableFromInline let nextPartialResult: (Output, Input) throws -> Output

  @inlinable @inline(__always)
  init(_ nextPartialResult: @escaping (Output, Input) throws -> Output) {
    self.nextPartialResult = nextPartialResult
  }

  @inlinable static var caution: Caution { .none }

  @inlinable @inline(__always)
  func step(_ result: Output, _ input: Input) throws -> (Step<Output>, Output) {
    let next = try nextPartialResult(result, input)
    return (.emit(next), next)
  }

  @usableFromInline var name: String { "TryScan" }
  @usableFromInline
  func children(of result: Output) -> [(label: String?, value: Any)] { [("result", result)] }
}
