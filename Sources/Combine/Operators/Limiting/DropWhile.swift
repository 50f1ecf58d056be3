import StreamSupport

extension Publisher {
  /// Leaves out values as long as a closure says so, and publishes all from the first that it does not.
  ///
  /// - Demand: passes as it is; each value left out asks for one more.
  /// - Failure: passes as it is.
  /// - Threads: the closure runs where the upstream sends, and not any more once a value has passed.
  @inlinable @inline(__always)
  public func drop(while predicate: @escaping (Output) -> Bool) -> Publishers.DropWhile<Self> {
    Publishers.DropWhile(upstream: self, predicate: predicate)
  }

  /// Leaves out values as long as a closure says so, publishes all from the first that it does not, and fails if it
  /// throws.
  ///
  /// - Demand: passes as it is; each value left out asks for one more.
  /// - Failure: an error thrown cancels the upstream and ends the stream.
  /// - Threads: the closure runs where the upstream sends, and not any more once a value has passed.
  @inlinable @inline(__always)
  public func tryDrop(while predicate: @escaping (Output) throws -> Bool) -> Publishers.TryDropWhile<Self> {
    Publishers.TryDropWhile(upstream: self, predicate: predicate)
  }
}

extension Publishers {
  /// A publisher of the upstream values from the first that a closure does not leave out.
  public struct DropWhile<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does.
    public typealias Failure = Upstream.Failure

    /// The publisher of the values.
    public let upstream: Upstream

    /// Says whether a value is left out and more may be.
    public let predicate: (Upstream.Output) -> Bool

    /// Makes a publisher of the values of another without some first ones.
    @inlinable @inline(__always)
    public init(upstream: Upstream, predicate: @escaping (Upstream.Output) -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    /// Attaches a subscriber to the upstream, through the closure.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      upstream.subscribe(DropWhileSubscriber<Total<Failure>, S>("DropWhile", predicate, to: subscriber))
    }
  }

  /// A publisher of the upstream values from the first that a closure, which may throw, does not leave out.
  public struct TryDropWhile<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as its upstream does, or as the closure throws.
    public typealias Failure = any Error

    /// The publisher of the values.
    public let upstream: Upstream

    /// Says whether a value is left out and more may be, or throws.
    public let predicate: (Upstream.Output) throws -> Bool

    /// Makes a publisher of the values of another without some first ones.
    @inlinable @inline(__always)
    public init(upstream: Upstream, predicate: @escaping (Upstream.Output) throws -> Bool) {
      self.upstream = upstream
      self.predicate = predicate
    }

    /// Attaches a subscriber to the upstream, through the closure.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Output == S.Input, S.Failure == any Error {
      upstream.subscribe(DropWhileSubscriber<Partial<Upstream.Failure>, S>("TryDropWhile", predicate, to: subscriber))
    }
  }
}

/// Leaves out values until its predicate says no, once.
@usableFromInline
final class DropWhileSubscriber<Failures: FailureFlow, Downstream: Subscriber>: UpstreamSubscription, Subscriber
where Downstream.Failure == Failures.Downstream {
  @usableFromInline typealias Input = Downstream.Input
  @usableFromInline typealias Failure = Failures.Upstream
  @usableFromInline typealias Predicate = (Input) throws(Failures.Thrown) -> Bool

  @usableFromInline let label: String
  @usableFromInline let downstream: Downstream
  // Written by the one upstream that sends.
  @exclusivity(unchecked) @usableFromInline var isDropping = true
  // Guarded by `lock`; taken out at the end. Not read any more once values pass.
  @exclusivity(unchecked) @usableFromInline var predicate: Predicate?

  @inlinable
  init(_ label: String, _ predicate: @escaping Predicate, to downstream: Downstream) {
    self.label = label
    self.predicate = predicate
    self.downstream = downstream
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    if hold(subscription) { downstream.receive(subscription: self) }
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isHolding else { return .none }
    guard isDropping else { return downstream.receive(input) }
    return drop(input)
  }

  @inlinable
  func drop(_ input: Input) -> Subscribers.Demand {
    guard let predicate = heldPredicate else { return .none }
    do throws(Failures.Thrown) {
      if try predicate(input) { return .max(1) }
    } catch {
      finish(.failure(Failures.raise(error)))
      return .none
    }
    isDropping = false
    return downstream.receive(input)
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failures.Upstream>) {
    guard end() != nil else { return }
    releasePredicate()
    downstream.receive(completion: completion.mapError(Failures.pass))
  }

  @inlinable
  func finish(_ completion: Subscribers.Completion<Failures.Downstream>) {
    guard let upstream = end() else { return }
    releasePredicate()
    upstream.cancel()
    downstream.receive(completion: completion)
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(label)
    held?.request(demand)
  }

  @usableFromInline
  override func cancel() {
    guard let upstream = end() else { return }
    releasePredicate()
    upstream.cancel()
  }

  @usableFromInline
  var heldPredicate: Predicate? {
    lock.lock()
    defer { lock.unlock() }
    return predicate
  }

  /// Lets the closure go, not under the lock, since what it captured may run code of its own.
  @usableFromInline
  func releasePredicate() {
    lock.lock()
    let released = predicate
    predicate = nil
    lock.unlock()
    withExtendedLifetime(released) {}
  }

  @usableFromInline override var name: String { label }
}
