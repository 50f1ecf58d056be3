extension Publisher {
  /// Publishes what a closure makes of each value, and leaves out each nil.
  ///
  /// - Demand: passes as it is; each value left out asks for one more.
  /// - Failure: passes as it is.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func compactMap<T>(_ transform: @escaping (Output) -> T?) -> Publishers.CompactMap<Self, T> {
    Publishers.CompactMap(upstream: self, transform: transform)
  }

  /// Publishes what a closure makes of each value, leaves out each nil, and fails if the closure throws.
  ///
  /// - Demand: passes as it is; each value left out asks for one more.
  /// - Failure: an error thrown cancels the upstream and ends the stream.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func tryCompactMap<T>(_ transform: @escaping (Output) throws -> T?) -> Publishers.TryCompactMap<Self, T> {
    Publishers.TryCompactMap(upstream: self, transform: transform)
  }
}

extension Publishers {
  /// A publisher of what a closure makes of each upstream value, without the nils.
  public struct CompactMap<Upstream: Publisher, Output>: Publisher {
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to transform.
    public let upstream: Upstream

    /// Makes an output of an upstream value, or nil to leave it out.
    public let transform: (Upstream.Output) -> Output?

    /// Makes a publisher that transforms the values of another and leaves out nils.
    @inlinable @inline(__always)
    public init(upstream: Upstream, transform: @escaping (Upstream.Output) -> Output?) {
      self.upstream = upstream
      self.transform = transform
    }

    /// Attaches a subscriber to the upstream, through the closure.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where Output == S.Input, S: Subscriber, Upstream.Failure == S.Failure {
      upstream.subscribe(
        PassThroughSubscriber(CompactMapMachine<Upstream.Output, Output, Failure>(transform), to: subscriber)
      )
    }

    /// Fuses with another transformation that may leave values out into one.
    @inlinable @inline(__always)
    public func compactMap<T>(_ transform: @escaping (Output) -> T?) -> Publishers.CompactMap<Upstream, T> {
      let first = self.transform
      return Publishers.CompactMap<Upstream, T>(upstream: upstream) { first($0).flatMap(transform) }
    }

    /// Fuses with another transformation into one.
    @inlinable @inline(__always)
    public func map<T>(_ transform: @escaping (Output) -> T) -> Publishers.CompactMap<Upstream, T> {
      let first = self.transform
      return Publishers.CompactMap<Upstream, T>(upstream: upstream) { first($0).map(transform) }
    }
  }

  /// A publisher of what a closure, which may throw, makes of each upstream value, without the nils.
  public struct TryCompactMap<Upstream: Publisher, Output>: Publisher {
    /// Fails as its upstream does, or as the closure throws.
    public typealias Failure = any Error

    /// The publisher of the values to transform.
    public let upstream: Upstream

    /// Makes an output of an upstream value, or nil to leave it out, or throws.
    public let transform: (Upstream.Output) throws -> Output?

    /// Makes a publisher that transforms the values of another and leaves out nils.
    @inlinable @inline(__always)
    public init(upstream: Upstream, transform: @escaping (Upstream.Output) throws -> Output?) {
      self.upstream = upstream
      self.transform = transform
    }

    /// Attaches a subscriber to the upstream, through the closure.
    @inlinable
    public func receive<S>(subscriber: consuming S) where Output == S.Input, S: Subscriber, S.Failure == any Error {
      upstream.subscribe(
        MachineSubscriber(
          TryCompactMapMachine<Upstream.Output, Output, Upstream.Failure>(transform),
          remembering: (),
          to: subscriber
        )
      )
    }

    /// Fuses with another transformation that may leave values out into one.
    @inlinable @inline(__always)
    public func compactMap<T>(_ transform: @escaping (Output) throws -> T?) -> Publishers.TryCompactMap<Upstream, T> {
      let first = self.transform
      return Publishers.TryCompactMap<Upstream, T>(upstream: upstream) { try first($0).flatMap(transform) }
    }
  }
}

@usableFromInline
struct CompactMapMachine<Input, Output, Failure: Error>: PassThroughMachine {
  @usableFromInline typealias NewFailure = Failure
  @usableFromInline let transform: (Input) -> Output?

  @inlinable @inline(__always)
  init(_ transform: @escaping (Input) -> Output?) {
    self.transform = transform
  }

  @inlinable @inline(__always)
  func step(_ input: Input) -> Step<Output> {
    if let output = transform(input) { .emit(output) } else { .skip }
  }

  @usableFromInline var name: String { "CompactMap" }
}

@usableFromInline
struct TryCompactMapMachine<Input, Output, UpstreamFailure: Error>: Machine {
  @usableFromInline typealias Failures = Partial<UpstreamFailure>
  @usableFromInline let transform: (Input) throws -> Output?

  @inlinable @inline(__always)
  init(_ transform: @escaping (Input) throws -> Output?) {
    self.transform = transform
  }

  @inlinable @inline(__always)
  func step(_ memory: Void, _ input: Input) throws -> (Step<Output>, Void) {
    if let output = try transform(input) { (.emit(output), ()) } else { (.skip, ()) }
  }

  @usableFromInline var name: String { "TryCompactMap" }
}
