import StreamSupport
import Synchronization

extension Publisher {
  /// Goes on with another publisher after a failure.
  ///
  /// - Parameter handler: makes the other publisher of the failure. A failure of that one is not caught.
  /// - Demand: passes as it is; the other publisher is asked for what is still owed.
  /// - Failure: only that of the other publisher.
  /// - Threads: the closure runs where the upstream fails.
  @inlinable @inline(__always)
  public func `catch`<P>(_ handler: @escaping (Failure) -> P) -> Publishers.Catch<Self, P>
  where P: Publisher, Output == P.Output {
    Publishers.Catch(upstream: self, handler: handler)
  }

  /// Goes on with another publisher after a failure, or fails if a closure throws.
  ///
  /// - Parameter handler: makes the other publisher of the failure. A failure of that one is not caught.
  /// - Demand: passes as it is; the other publisher is asked for what is still owed.
  /// - Failure: that of the other publisher, or what the closure throws.
  /// - Threads: the closure runs where the upstream fails.
  @inlinable @inline(__always)
  public func tryCatch<P>(_ handler: @escaping (Failure) throws -> P) -> Publishers.TryCatch<Self, P>
  where P: Publisher, Output == P.Output {
    Publishers.TryCatch(upstream: self, handler: handler)
  }
}

extension Publishers {
  /// A publisher that goes on with another after a failure.
  public struct Catch<Upstream: Publisher, NewPublisher: Publisher>: Publisher
  where Upstream.Output == NewPublisher.Output {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as the other publisher does.
    public typealias Failure = NewPublisher.Failure

    /// The publisher that may fail.
    public let upstream: Upstream

    /// Makes the publisher to go on with.
    public let handler: (Upstream.Failure) -> NewPublisher

    /// Makes a publisher that goes on with another after a failure.
    @inlinable @inline(__always)
    public init(upstream: Upstream, handler: @escaping (Upstream.Failure) -> NewPublisher) {
      self.upstream = upstream
      self.handler = handler
    }

    /// Attaches a subscriber to the upstream.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where NewPublisher.Failure == S.Failure, NewPublisher.Output == S.Input, S: Subscriber {
      upstream.subscribe(
        CatchSubscriber<Upstream.Failure, NewPublisher, Total<NewPublisher.Failure>, S>(
          "Catch",
          handler,
          to: subscriber
        )
      )
    }
  }

  /// A publisher that goes on with another after a failure, or fails if a closure throws.
  public struct TryCatch<Upstream: Publisher, NewPublisher: Publisher>: Publisher
  where Upstream.Output == NewPublisher.Output {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as the other publisher does, or as the closure throws.
    public typealias Failure = any Error

    /// The publisher that may fail.
    public let upstream: Upstream

    /// Makes the publisher to go on with, or throws.
    public let handler: (Upstream.Failure) throws -> NewPublisher

    /// Makes a publisher that goes on with another after a failure.
    @inlinable @inline(__always)
    public init(upstream: Upstream, handler: @escaping (Upstream.Failure) throws -> NewPublisher) {
      self.upstream = upstream
      self.handler = handler
    }

    /// Attaches a subscriber to the upstream.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where NewPublisher.Output == S.Input, S.Failure == any Error, S: Subscriber {
      upstream.subscribe(
        CatchSubscriber<Upstream.Failure, NewPublisher, Partial<NewPublisher.Failure>, S>(
          "TryCatch",
          handler,
          to: subscriber
        )
      )
    }
  }
}

/// Counts what the first upstream delivers, so that the second is asked for the rest.
@usableFromInline
final class CatchSubscriber<Failure: Error, NewPublisher: Publisher, Failures: FailureFlow, Downstream: Subscriber>:
  SubscriptionArbiter, Subscriber
where
  Downstream.Input == NewPublisher.Output, Downstream.Failure == Failures.Downstream,
  Failures.Upstream == NewPublisher.Failure
{
  @usableFromInline typealias Input = NewPublisher.Output

  @usableFromInline let label: String
  @usableFromInline let handler: (Failure) throws(Failures.Thrown) -> NewPublisher
  @usableFromInline let downstream: Downstream

  @inlinable @inline(__always)
  init(
    _ label: String,
    _ handler: @escaping (Failure) throws(Failures.Thrown) -> NewPublisher,
    to downstream: Downstream
  ) {
    self.label = label
    self.handler = handler
    self.downstream = downstream
    super.init()
  }

  @inlinable @inline(__always)
  func receive(subscription: any Subscription) {
    guard hold(subscription, from: Phase.awaitingFirst, to: Phase.first) != nil else { return }
    downstream.receive(subscription: self)
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isIn(Phase.first) else { return receiveOutOfTurn() }
    guard outstanding.takeOne() else { beyondDemand() }
    let answer = downstream.receive(input)
    return answer == .none ? .none : addDemand(answer, answeringIn: Phase.first)
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    switch completion {
    case .finished:
      if advance(from: Phase.first, to: Phase.over) { downstream.receive(completion: .finished) }
    case .failure(let error):
      if advance(from: Phase.first, to: Phase.awaitingSecond) { goOn(after: error) } else { failOutOfTurn() }
    }
  }

  @inlinable
  func goOn(after error: Failure) {
    do throws(Failures.Thrown) {
      let successor = try handler(error)
      if let output = successor.scalarValue, beginScalar() {
        finish(scalar: output)
      } else {
        successor.subscribe(Second(self))
      }
    } catch {
      guard advance(from: Phase.awaitingSecond, to: Phase.over) else { return }
      downstream.receive(completion: .failure(Failures.raise(error)))
    }
  }

  /// Does what subscribing to a `Just` would do.
  @inlinable
  func finish(scalar output: Input) {
    _ = downstream.receive(output)
    if advance(from: Phase.second, to: Phase.over) { downstream.receive(completion: .finished) }
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(name)
    if isIn(Phase.awaitingFirst) {
      violation(
        name,
        "was asked for values before its subscription",
        advice: "A subscriber must wait for receive(subscription:) before it calls request(_:)."
      )
    }
    super.request(demand)
  }

  @usableFromInline
  func receiveOutOfTurn() -> Subscribers.Demand {
    if isIn(Phase.awaitingFirst) { outOfTurn("received a value before its subscription") }
    return .none
  }

  @usableFromInline
  func failOutOfTurn() {
    if isIn(Phase.awaitingFirst) { outOfTurn("received a failure before its subscription") }
    if !isIn(Phase.over) {
      violation(name, "received a second failure", advice: "A publisher must not send anything after its completion.")
    }
  }

  @usableFromInline override var name: String { label }
  @usableFromInline
  override var children: [(label: String?, value: Any)] {
    [("downstream", downstream), ("demand", outstanding.demand ?? .none)]
  }

  /// The subscriber of the handler's publisher.
  @usableFromInline
  struct Second: Subscriber, CustomStringConvertible, CustomReflectable, CustomPlaygroundDisplayConvertible {
    @usableFromInline typealias Input = NewPublisher.Output
    @usableFromInline typealias Failure = NewPublisher.Failure

    @usableFromInline let parent: CatchSubscriber
    @usableFromInline let combineIdentifier = CombineIdentifier()

    @inlinable @inline(__always)
    init(_ parent: CatchSubscriber) {
      self.parent = parent
    }

    @inlinable
    func receive(subscription: any Subscription) {
      guard let owed = parent.hold(subscription, from: Phase.awaitingSecond, to: Phase.second), owed != .none
      else { return }
      subscription.request(owed)
    }

    @inlinable @inline(__always)
    func receive(_ input: Input) -> Subscribers.Demand {
      parent.isIn(Phase.second) ? parent.downstream.receive(input) : .none
    }

    @inlinable
    func receive(completion: Subscribers.Completion<Failure>) {
      guard parent.advance(from: Phase.second, to: Phase.over) else { return }
      parent.downstream.receive(completion: completion.mapError(Failures.pass))
    }

    @usableFromInline var description: String { parent.name }
    @usableFromInline var playgroundDescription: Any { parent.name }
    @usableFromInline
    var customMirror: Mirror { parent.customMirror }
  }
}
