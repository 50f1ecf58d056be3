extension Publisher {
  /// Publishes what a closure makes of each value.
  ///
  /// - Demand: passes as it is.
  /// - Failure: passes as it is.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func map<T>(_ transform: @escaping (Output) -> T) -> Publishers.Map<Self, T> {
    Publishers.Map(upstream: self, transform: transform)
  }

  /// Publishes what a closure makes of each value, and fails if it throws.
  ///
  /// - Demand: passes as it is.
  /// - Failure: an error thrown cancels the upstream and ends the stream.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func tryMap<T>(_ transform: @escaping (Output) throws -> T) -> Publishers.TryMap<Self, T> {
    Publishers.TryMap(upstream: self, transform: transform)
  }

  /// Publishes a value in place of each nil.
  ///
  /// - Demand: passes as it is.
  /// - Failure: passes as it is.
  /// - Threads: values pass where the upstream sends.
  @inlinable
  public func replaceNil<T>(with output: T) -> Publishers.Map<Self, T> where Output == T? {
    map { $0 ?? output }
  }
}

extension Publishers {
  /// A publisher of what a closure makes of each upstream value.
  public struct Map<Upstream: Publisher, Output>: Publisher {
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to transform.
    public let upstream: Upstream

    /// Makes an output of an upstream value.
    public let transform: (Upstream.Output) -> Output

    /// Makes a publisher that transforms the values of another.
    @inlinable @inline(__always)
    public init(upstream: Upstream, transform: @escaping (Upstream.Output) -> Output) {
      self.upstream = upstream
      self.transform = transform
    }

    /// Attaches a subscriber to the upstream, through the closure.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where Output == S.Input, S: Subscriber, Upstream.Failure == S.Failure {
      upstream.subscribe(PassThroughSubscriber(MapMachine<Upstream.Output, Output, Failure>(transform), to: subscriber))
    }

    /// Fuses with another transformation into one.
    @inlinable @inline(__always)
    public func map<T>(_ transform: @escaping (Output) -> T) -> Publishers.Map<Upstream, T> {
      let first = self.transform
      return Publishers.Map<Upstream, T>(upstream: upstream) { transform(first($0)) }
    }

    /// Fuses with a transformation that may throw into one.
    @inlinable @inline(__always)
    public func tryMap<T>(_ transform: @escaping (Output) throws -> T) -> Publishers.TryMap<Upstream, T> {
      let first = self.transform
      return Publishers.TryMap<Upstream, T>(upstream: upstream) { try transform(first($0)) }
    }
  }

  /// A publisher of what a closure, which may throw, makes of each upstream value.
  public struct TryMap<Upstream: Publisher, Output>: Publisher {
    /// Fails as its upstream does, or as the closure throws.
    public typealias Failure = any Error

    /// The publisher of the values to transform.
    public let upstream: Upstream

    /// Makes an output of an upstream value, or throws.
    public let transform: (Upstream.Output) throws -> Output

    /// Makes a publisher that transforms the values of another.
    @inlinable @inline(__always)
    public init(upstream: Upstream, transform: @escaping (Upstream.Output) throws -> Output) {
      self.upstream = upstream
      self.transform = transform
    }

    /// Attaches a subscriber to the upstream, through the closure.
    @inlinable
    public func receive<S>(subscriber: consuming S) where Output == S.Input, S: Subscriber, S.Failure == any Error {
      upstream.subscribe(
        MachineSubscriber(
          TryMapMachine<Upstream.Output, Output, Upstream.Failure>(transform),
          remembering: (),
          to: subscriber
        )
      )
    }

    /// Fuses with another transformation into one.
    @inlinable @inline(__always)
    public func map<T>(_ transform: @escaping (Output) -> T) -> Publishers.TryMap<Upstream, T> {
      let first = self.transform
      return Publishers.TryMap<Upstream, T>(upstream: upstream) { transform(try first($0)) }
    }

    /// Fuses with a transformation that may throw into one.
    @inlinable @inline(__always)
    public func tryMap<T>(_ transform: @escaping (Output) throws -> T) -> Publishers.TryMap<Upstream, T> {
      let first = self.transform
      return Publishers.TryMap<Upstream, T>(upstream: upstream) { try transform(try first($0)) }
    }
  }
}

@usableFromInline
struct MapMachine<Input, Output, Failure: Error>: PassThroughMachine {
  @usableFromInline typealias NewFailure = Failure
  @usableFromInline let transform: (Input) -> Output

  @inlinable @inline(__always)
  init(_ transform: @escaping (Input) -> Output) {
    self.transform = transform
  }

  @inlinable @inline(__always)
  func step(_ input: Input) -> Step<Output> { .emit(transform(input)) }

  @usableFromInline var name: String { "Map" }
}

@usableFromInline
struct TryMapMachine<Input, Output, UpstreamFailure: Error>: Machine {
  @usableFromInline typealias Failures = Partial<UpstreamFailure>
  @usableFromInline let transform: (Input) throws -> Output

  @inlinable @inline(__always)
  init(_ transform: @escaping (Input) throws -> Output) {
    self.transform = transform
  }

  @inlinable static var caution: Caution { .none }

  @inlinable @inline(__always)
  func step(_ memory: Void, _ input: Input) throws -> (Step<Output>, Void) { (.emit(try transform(input)), ()) }

  @usableFromInline var name: String { "TryMap" }
}
