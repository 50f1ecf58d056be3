extension Publisher where Failure == Never {
  /// Declares a kind of failure for a publisher that can't fail, so that it fits beside others that can.
  ///
  /// - Demand: passes as it is.
  /// - Failure: never happens.
  /// - Threads: values pass where the upstream sends.
  @inlinable @inline(__always)
  public func setFailureType<E>(to failureType: E.Type) -> Publishers.SetFailureType<Self, E> where E: Error {
    Publishers.SetFailureType(upstream: self)
  }
}

extension Publishers {
  /// A publisher that could fail by its type and never does.
  public struct SetFailureType<Upstream: Publisher, Failure: Error>: Publisher where Upstream.Failure == Never {
    /// The kind of values published.
    public typealias Output = Upstream.Output

    /// The publisher that can't fail.
    public let upstream: Upstream

    /// Makes a publisher with a kind of failure from one that can't fail.
    @inlinable @inline(__always)
    public init(upstream: Upstream) {
      self.upstream = upstream
    }

    /// Attaches a subscriber to the upstream.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where Failure == S.Failure, S: Subscriber, Upstream.Output == S.Input {
      upstream.subscribe(PassThroughSubscriber(SetFailureTypeMachine<Output, Failure>(), to: subscriber))
    }

    /// Declares another kind of failure over the same upstream.
    @inlinable @inline(__always)
    public func setFailureType<E>(to failure: E.Type) -> Publishers.SetFailureType<Upstream, E> where E: Error {
      Publishers.SetFailureType<Upstream, E>(upstream: upstream)
    }
  }
}

extension Publishers.SetFailureType: Equatable where Upstream: Equatable {}

@usableFromInline
struct SetFailureTypeMachine<Input, NewFailure: Error>: PassThroughMachine {
  @usableFromInline typealias Failure = Never

  @inlinable @inline(__always)
  init() {}

  @inlinable @inline(__always)
  func step(_ input: Input) -> Step<Input> { .emit(input) }

  @inlinable
  func convert(_ failure: Never) -> NewFailure {}

  @usableFromInline var name: String { "SetFailureType" }
}
