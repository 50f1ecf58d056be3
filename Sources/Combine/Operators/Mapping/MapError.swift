extension Publisher {
  /// Publishes what a closure makes of the failure, in its place.
  ///
  /// - Demand: passes as it is.
  /// - Failure: converted by the closure; a normal end passes as it is.
  /// - Threads: the closure runs where the upstream fails.
  @inlinable @inline(__always)
  public func mapError<E>(_ transform: @escaping (Failure) -> E) -> Publishers.MapError<Self, E> where E: Error {
    Publishers.MapError(upstream: self, transform)
  }
}

extension Publishers {
  /// A publisher that fails with what a closure makes of the upstream failure.
  public struct MapError<Upstream: Publisher, Failure: Error>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output

    /// The publisher whose failure is converted.
    public let upstream: Upstream

    /// Makes a failure of an upstream failure.
    public let transform: (Upstream.Failure) -> Failure

    /// Makes a publisher that converts the failure of another.
    @inlinable @inline(__always)
    public init(upstream: Upstream, transform: @escaping (Upstream.Failure) -> Failure) {
      self.upstream = upstream
      self.transform = transform
    }

    /// Makes a publisher that converts the failure of another.
    @inlinable @inline(__always)
    public init(upstream: Upstream, _ map: @escaping (Upstream.Failure) -> Failure) {
      self.init(upstream: upstream, transform: map)
    }

    /// Attaches a subscriber to the upstream, with the closure between failure and subscriber.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where Failure == S.Failure, S: Subscriber, Upstream.Output == S.Input {
      upstream.subscribe(
        PassThroughSubscriber(MapErrorMachine<Output, Upstream.Failure, Failure>(transform), to: subscriber)
      )
    }
  }
}

@usableFromInline
struct MapErrorMachine<Input, Failure: Error, NewFailure: Error>: PassThroughMachine {
  @usableFromInline let transform: (Failure) -> NewFailure

  @inlinable @inline(__always)
  init(_ transform: @escaping (Failure) -> NewFailure) {
    self.transform = transform
  }

  @inlinable @inline(__always)
  func step(_ input: Input) -> Step<Input> { .emit(input) }

  @inlinable
  func convert(_ failure: Failure) -> NewFailure { transform(failure) }

  @usableFromInline var name: String { "MapError" }
}
