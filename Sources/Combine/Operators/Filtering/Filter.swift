extension Publisher {
  /// Publishes the values that a closure accepts.
  ///
  /// - Demand: passes as it is; each value left out asks for one more.
  /// - Failure: passes as it is.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func filter(_ isIncluded: @escaping (Output) -> Bool) -> Publishers.Filter<Self> {
    Publishers.Filter(upstream: self, isIncluded: isIncluded)
  }

  /// Publishes the values that a closure accepts, and fails if it throws.
  ///
  /// - Demand: passes as it is; each value left out asks for one more.
  /// - Failure: an error thrown cancels the upstream and ends the stream.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func tryFilter(_ isIncluded: @escaping (Output) throws -> Bool) -> Publishers.TryFilter<Self> {
    Publishers.TryFilter(upstream: self, isIncluded: isIncluded)
  }
}

extension Publishers {
  /// A publisher of the upstream values that a closure accepts.
  public struct Filter<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values to choose from.
    public let upstream: Upstream

    /// Says whether a value is published.
    public let isIncluded: (Upstream.Output) -> Bool

    /// Makes a publisher of some values of another.
    @inlinable @inline(__always)
    public init(upstream: Upstream, isIncluded: @escaping (Upstream.Output) -> Bool) {
      self.upstream = upstream
      self.isIncluded = isIncluded
    }

    /// Attaches a subscriber to the upstream, through the closure.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      upstream.subscribe(PassThroughSubscriber(FilterMachine<Output, Failure>(isIncluded), to: subscriber))
    }

    /// Fuses with another condition into one.
    @inlinable @inline(__always)
    public func filter(_ isIncluded: @escaping (Output) -> Bool) -> Publishers.Filter<Upstream> {
      let first = self.isIncluded
      return Publishers.Filter(upstream: upstream) { first($0) && isIncluded($0) }
    }

    /// Fuses with a condition that may throw into one.
    @inlinable @inline(__always)
    public func tryFilter(_ isIncluded: @escaping (Output) throws -> Bool) -> Publishers.TryFilter<Upstream> {
      let first = self.isIncluded
      return Publishers.TryFilter(upstream: upstream) { try first($0) && isIncluded($0) }
    }
  }

  /// A publisher of the upstream values that a closure, which may throw, accepts.
  public struct TryFilter<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does, or as the closure throws.
    public typealias Failure = any Error

    /// The publisher of the values to choose from.
    public let upstream: Upstream

    /// Says whether a value is published, or throws.
    public let isIncluded: (Upstream.Output) throws -> Bool

    /// Makes a publisher of some values of another.
    @inlinable @inline(__always)
    public init(upstream: Upstream, isIncluded: @escaping (Upstream.Output) throws -> Bool) {
      self.upstream = upstream
      self.isIncluded = isIncluded
    }

    /// Attaches a subscriber to the upstream, through the closure.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Output == S.Input, S.Failure == any Error {
      upstream.subscribe(
        MachineSubscriber(TryFilterMachine<Output, Upstream.Failure>(isIncluded), remembering: (), to: subscriber)
      )
    }

    /// Fuses with another condition into one.
    @inlinable @inline(__always)
    public func filter(_ isIncluded: @escaping (Output) -> Bool) -> Publishers.TryFilter<Upstream> {
      let first = self.isIncluded
      return Publishers.TryFilter(upstream: upstream) { try first($0) && isIncluded($0) }
    }

    /// Fuses with a condition that may throw into one.
    @inlinable @inline(__always)
    public func tryFilter(_ isIncluded: @escaping (Output) throws -> Bool) -> Publishers.TryFilter<Upstream> {
      let first = self.isIncluded
      return Publishers.TryFilter(upstream: upstream) { try first($0) && isIncluded($0) }
    }
  }
}

@usableFromInline
struct FilterMachine<Input, Failure: Error>: PassThroughMachine {
  @usableFromInline typealias NewFailure = Failure
  @usableFromInline let isIncluded: (Input) -> Bool

  @inlinable @inline(__always)
  init(_ isIncluded: @escaping (Input) -> Bool) {
    self.isIncluded = isIncluded
  }

  @inlinable @inline(__always)
  func step(_ input: Input) -> Step<Input> { isIncluded(input) ? .emit(input) : .skip }

  @usableFromInline var name: String { "Filter" }
}

@usableFromInline
struct TryFilterMachine<Input, UpstreamFailure: Error>: Machine {
  @usableFromInline typealias Failures = Partial<UpstreamFailure>
  @usableFromInline let isIncluded: (Input) throws -> Bool

  @inlinable @inline(__always)
  init(_ isIncluded: @escaping (Input) throws -> Bool) {
    self.isIncluded = isIncluded
  }

  @inlinable @inline(__always)
  func step(_ memory: Void, _ input: Input) throws -> (Step<Input>, Void) {
    (try isIncluded(input) ? .emit(input) : .skip, ())
  }

  @usableFromInline var name: String { "TryFilter" }
}
