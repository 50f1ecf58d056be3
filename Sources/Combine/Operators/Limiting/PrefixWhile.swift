extension Publisher {
  /// Publishes values as long as a closure accepts them, and finishes at the first that it refuses.
  ///
  /// - Demand: passes as it is.
  /// - Failure: passes as it is.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func prefix(while predicate: @escaping (Output) -> Bool) -> Publishers.PrefixWhile<Self> {
    Publishers.PrefixWhile(upstream: self, predicate: predicate)
  }

  /// Publishes values as long as a closure accepts them, finishes at the first that it refuses, and fails if it throws.
  ///
  /// - Demand: passes as it is.
  /// - Failure: an error thrown cancels the upstream and ends the stream.
  /// - Threads: the closure runs where the upstream sends.
  @inlinable @inline(__always)
  public func tryPrefix(while predicate: @escaping (Output) throws -> Bool) -> Publishers.TryPrefixWhile<Self> {
    Publishers.TryPrefixWhile(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// A publisher of the upstream values before the first that a closure refuses.
  public struct PrefixWhile<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values.
    public let upstream: Upstream

    /// Says whether a value is published and more may follow.
    public let predicate: (Upstream.Output) -> Bool

    /// Makes a publisher of the first values of another.
    @inlinable @inline(__always)
    public init(upstream: Upstream, predicate: @escaping (Upstream.Output) -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    /// Attaches a subscriber to the upstream, through the closure.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      upstream.subscribe(
        MachineSubscriber(
          PrefixWhileMachine<Output, Total<Failure>>("PrefixWhile", predicate),
          remembering: (),
          to: subscriber
        )
      )
    }
  }

  /// A publisher of the upstream values before the first that a closure, which may throw, refuses.
  public struct TryPrefixWhile<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does, or as the closure throws.
    public typealias Failure = any Error

    /// The publisher of the values.
    public let upstream: Upstream

    /// Says whether a value is published and more may follow, or throws.
    public let predicate: (Upstream.Output) throws -> Bool

    /// Makes a publisher of the first values of another.
    @inlinable @inline(__always)
    public init(upstream: Upstream, predicate: @escaping (Upstream.Output) throws -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    /// Attaches a subscriber to the upstream, through the closure.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Output == S.Input, S.Failure == any Error {
      upstream.subscribe(
        MachineSubscriber(
          PrefixWhileMachine<Output, Partial<Upstream.Failure>>("TryPrefixWhile", predicate),
          remembering: (),
          to: subscriber
        )
      )
    }
  }
}

@usableFromInline
struct PrefixWhileMachine<Input, Failures: FailureFlow>: Machine {
  @usableFromInline let name: String
  @usableFromInline let predicate: (Input) throws(Failures.Thrown) -> Bool

  @inlinable @inline(__always)
  init(_ name: String, _ predicate: @escaping (Input) throws(Failures.Thrown) -> Bool) {
    self.name = name
    self.predicate = predicate
  }

  @inlinable @inline(__always)
  func step(_ memory: Void, _ input: Input) throws(Failures.Thrown) -> (Step<Input>, Void) {
    (try predicate(input) ? .emit(input) : .finish, ())
  }
}
