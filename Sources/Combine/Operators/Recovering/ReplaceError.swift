import StreamSupport
import Synchronization

extension Publisher {
  /// Publishes a value in place of a failure, and then finishes.
  ///
  /// - Demand: passes as it is; the value waits until something is owed.
  /// - Failure: none.
  /// - Threads: values pass where the upstream sends; a value that waited comes where it is asked for.
  @inlinable @inline(__always)
  public func replaceError(with output: Output) -> Publishers.ReplaceError<Self> {
    Publishers.ReplaceError(upstream: self, output: output)
  }
}

extension Publishers {
  /// A publisher that replaces a failure by a value.
  public struct ReplaceError<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// It can't fail.
    public typealias Failure = Never

    /// The value to publish in place of a failure.
    public let output: Upstream.Output

    /// The publisher that may fail.
    public let upstream: Upstream

    /// Makes a publisher that replaces the failure of another by a value.
    @inlinable @inline(__always)
    public init(upstream: Upstream, output: Output) {
      self.upstream = upstream
      self.output = output
    }

    /// Attaches a subscriber to the upstream.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Output == S.Input, S.Failure == Never {
      upstream.subscribe(ReplaceErrorSubscriber<Upstream.Failure, S>(output, to: subscriber))
    }
  }
}

extension Publishers.ReplaceError: Equatable where Upstream: Equatable, Upstream.Output: Equatable {}

/// Counts what the upstream delivers, so that the value in place of a failure waits for demand.
@usableFromInline
final class ReplaceErrorSubscriber<Failure: Error, Downstream: Subscriber>: SubscriptionArbiter, Subscriber
where Downstream.Failure == Never {
  @usableFromInline typealias Input = Downstream.Input

  @usableFromInline let output: Downstream.Input
  @usableFromInline let downstream: Downstream

  @inlinable @inline(__always)
  init(_ output: Downstream.Input, to downstream: Downstream) {
    self.output = output
    self.downstream = downstream
    super.init()
  }

  @inlinable
  func receive(subscription: any Subscription) {
    guard hold(subscription, from: Phase.awaitingFirst, to: Phase.first) != nil else { return }
    downstream.receive(subscription: self)
  }

  @inlinable @inline(__always)
  func receive(_ input: Downstream.Input) -> Subscribers.Demand {
    guard isIn(Phase.first) else { return .none }
    guard outstanding.takeOne() else { beyondDemand() }
    let answer = downstream.receive(input)
    return answer == .none ? .none : add(answer)
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    switch completion {
    case .finished:
      if advance(from: Phase.first, to: Phase.over) { downstream.receive(completion: .finished) }
    case .failure:
      if advance(from: Phase.first, to: Phase.awaitingSecond) { replaceIfOwed() }
    }
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(name)
    super.request(demand)
    replaceIfOwed()
  }

  @usableFromInline
  override func cancel() {
    // Apple's way: a cancel that comes before the subscription is forgotten.
    if !isIn(Phase.awaitingFirst) { super.cancel() }
  }

  @usableFromInline
  func add(_ answer: Subscribers.Demand) -> Subscribers.Demand {
    let passedOn = addDemand(answer, answeringIn: Phase.first)
    // The upstream may have failed from inside the value.
    replaceIfOwed()
    return passedOn
  }

  /// Publishes the value once there are both a failure and demand.
  @usableFromInline
  func replaceIfOwed() {
    // What is owed is read after the failure is known, and raised before the failure is looked for: so one of the two
    // who may come here at the same time finds both.
    guard isIn(Phase.awaitingSecond), outstanding.demand != Subscribers.Demand.none,
      advance(from: Phase.awaitingSecond, to: Phase.second)
    else { return }
    _ = downstream.receive(output)
    // Unless it was cancelled from inside.
    guard advance(from: Phase.second, to: Phase.over) else { return }
    downstream.receive(completion: .finished)
  }

  @usableFromInline override var name: String { "ReplaceError" }
}
