import StreamSupport
import Synchronization

extension Publisher where Output: Publisher {
  /// Publishes what the latest of the publishers received publishes, and cancels the one before.
  ///
  /// - Demand: the upstream is asked for everything; what is owed downstream passes from each inner publisher to the
  ///   next.
  /// - Failure: a failure of the upstream or of the latest inner publisher cancels the other and ends the stream.
  /// - Threads: values arrive where the latest publisher sends them, one at a time.
  @inlinable @inline(__always)
  public func switchToLatest() -> Publishers.SwitchToLatest<Output, Self> where Failure == Output.Failure {
    Publishers.SwitchToLatest(upstream: self)
  }

  /// Publishes what the latest of the publishers received publishes, and cancels the one before.
  ///
  /// For inner publishers that can't fail, whereas the upstream can; otherwise as `switchToLatest()` for failures of
  /// one type.
  @inlinable @inline(__always)
  public func switchToLatest()
    -> Publishers.SwitchToLatest<
      Publishers.SetFailureType<Output, Failure>, Publishers.Map<Self, Publishers.SetFailureType<Output, Failure>>
    >
  where Output.Failure == Never {
    Publishers.SwitchToLatest(
      upstream: Publishers.Map(upstream: self) { Publishers.SetFailureType(upstream: $0) }
    )
  }
}

extension Publisher where Failure == Never, Output: Publisher {
  /// Publishes what the latest of the publishers received publishes, and cancels the one before.
  ///
  /// For an upstream that can't fail, whereas the inner publishers can; otherwise as `switchToLatest()` for failures
  /// of one type.
  @inlinable @inline(__always)
  public func switchToLatest()
    -> Publishers.SwitchToLatest<Output, Publishers.SetFailureType<Self, Output.Failure>>
  {
    Publishers.SwitchToLatest(upstream: Publishers.SetFailureType(upstream: self))
  }

  /// Publishes what the latest of the publishers received publishes, and cancels the one before.
  ///
  /// For an upstream and inner publishers that can't fail; otherwise as `switchToLatest()` for failures of one type.
  @inlinable @inline(__always)
  public func switchToLatest() -> Publishers.SwitchToLatest<Output, Self> where Output.Failure == Never {
    Publishers.SwitchToLatest(upstream: self)
  }
}

extension Publishers {
  /// A publisher of what the latest of the upstream's publishers publishes.
  public struct SwitchToLatest<P: Publisher, Upstream: Publisher>: Publisher
  where P == Upstream.Output, P.Failure == Upstream.Failure {
    /// The kind of values that the inner publishers publish.
    public typealias Output = P.Output
    /// Fails as the upstream or an inner publisher does.
    public typealias Failure = P.Failure

    /// The publisher of publishers.
    public let upstream: Upstream

    /// Makes a publisher that switches between the publishers of another.
    @inlinable @inline(__always)
    public init(upstream: Upstream) {
      self.upstream = upstream
    }

    /// Hands the subscriber its subscription, and then attaches to the upstream.
    @inlinable
    public func receive<S>(subscriber: S) where P.Output == S.Input, S: Subscriber, Upstream.Failure == S.Failure {
      let parent = SwitchToLatestSubscriber<P, S>(to: subscriber)
      subscriber.receive(subscription: parent)
      upstream.subscribe(parent)
    }
  }
}

/// Delivers what the latest inner publisher sends.
@usableFromInline
final class SwitchToLatestSubscriber<Inner: Publisher, Downstream: Subscriber>: SerialSubscription, Subscriber
where Downstream.Input == Inner.Output, Downstream.Failure == Inner.Failure {
  @usableFromInline typealias Input = Inner
  @usableFromInline typealias Failure = Inner.Failure

  @usableFromInline let downstream: Downstream
  @usableFromInline let latest = LatestInner()

  @inlinable @inline(__always)
  init(to downstream: Downstream) {
    self.downstream = downstream
    super.init()
  }

  // MARK: Upstream

  @inlinable
  func receive(subscription: any Subscription) {
    if latest.holdOuter(subscription.asBase, outstanding) { subscription.request(.unlimited) }
  }

  @inlinable @inline(__always)
  func receive(_ input: Inner) -> Subscribers.Demand {
    guard mayProceed() else {
      delegate { [self] in _ = receive(input) }
      return .none
    }
    guard !outstanding.isClosed, let number = latest.advance() else { return .none }
    // A `Just` delivers at once if something is owed; if not it has to wait, and needs a subscription.
    if let output = input.scalarValue, latest.takeOne(for: number, of: outstanding) == .granted {
      receive(scalar: output, from: number)
    } else {
      input.subscribe(InnerSubscriber(number, of: self))
    }
    return .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    guard mayProceed() else { return delegate { [self] in receive(completion: completion) } }
    let isDone = latest.finishOuter()
    if case .finished = completion, !isDone { return }
    end(completion)
  }

  // MARK: Inner publishers

  /// Does what subscribing to a `Just` would do.
  @inlinable @inline(__always)
  func receive(scalar output: Inner.Output, from number: Int) {
    guard enter() else { return delegate { [self] in receive(scalar: output, from: number) } }
    if latest.isLatest(number), !outstanding.isClosed {
      let answer = downstream.receive(output)
      if answer != .none { _ = add(answer, from: number) }
    }
    leave()
    if latest.finish(number) == true { end(.finished) }
  }

  @inlinable @inline(__always)
  func receive(_ output: Inner.Output, from number: Int) -> Subscribers.Demand {
    guard enter() else {
      return delegate({ [self] in receive(output, from: number) }, from: { [self] in latest.subscription(of: number) })
    }
    var answer = Subscribers.Demand.none
    switch latest.takeOne(for: number, of: outstanding) {
    case .granted:
      // Without a limit the claim did not look who asks.
      if latest.isLatest(number) { answer = add(downstream.receive(output), from: number) }
    case .refused:
      violation(name, "received more values than it asked for", advice: "A publisher must not exceed the demand.")
    case .late:
      break
    }
    leave()
    return answer
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>, from number: Int) {
    guard mayProceed() else { return delegate { [self] in receive(completion: completion, from: number) } }
    if latest.isAwaited(number, outstanding) {
      violation(
        name,
        "received the completion of an inner publisher before its subscription",
        advice: "A publisher must call receive(subscription:) first."
      )
    }
    guard let isDone = latest.finish(number) else { return }
    if case .finished = completion, !isDone { return }
    end(completion)
  }

  // MARK: Downstream

  /// Adds what downstream answered to a value, and says what to answer the inner publisher that sent it.
  ///
  /// If another has taken its place meanwhile, that one is asked instead.
  @usableFromInline
  func add(_ answer: Subscribers.Demand, from number: Int) -> Subscribers.Demand {
    guard answer != .none else { return .none }
    let (isLatest, successor) = latest.add(answer: answer, from: number, to: outstanding)
    if let successor { request(from: successor, answer) }
    return isLatest ? answer : .none
  }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(name)
    if let inner = latest.add(demand, to: outstanding) { request(from: inner, demand) }
  }

  @usableFromInline
  override func cancel() {
    guard let (inner, outer) = latest.end(outstanding) else { return }
    inner?.cancel()
    outer?.cancel()
  }

  @usableFromInline
  func end(_ completion: Subscribers.Completion<Failure>) {
    guard let (inner, outer) = latest.end(outstanding) else { return }
    inner?.cancel()
    outer?.cancel()
    deliver(completion)
  }

  @usableFromInline
  func deliver(_ completion: Subscribers.Completion<Failure>) {
    guard enter() else { return delegate { [self] in deliver(completion) } }
    downstream.receive(completion: completion)
    leave()
  }

  @usableFromInline override var name: String { "SwitchToLatest" }

  /// The subscriber of one inner publisher.
  @usableFromInline
  struct InnerSubscriber: Subscriber, SerialInput {
    @usableFromInline typealias Input = Inner.Output
    @usableFromInline typealias Failure = Inner.Failure

    @usableFromInline let number: Int
    @usableFromInline let parent: SwitchToLatestSubscriber
    @usableFromInline let combineIdentifier = CombineIdentifier()

    @inlinable @inline(__always)
    init(_ number: Int, of parent: SwitchToLatestSubscriber) {
      self.number = number
      self.parent = parent
    }

    @usableFromInline var owner: SerialSubscription { parent }

    @inlinable @inline(__always)
    func receive(subscription: any Subscription) {
      guard let owed = parent.latest.hold(subscription.asBase, of: number, parent.outstanding), owed != .none else {
        return
      }
      subscription.request(owed)
    }

    @inlinable @inline(__always)
    func receive(_ input: Inner.Output) -> Subscribers.Demand {
      parent.receive(input, from: number)
    }

    @inlinable
    func receive(completion: Subscribers.Completion<Failure>) {
      parent.receive(completion: completion, from: number)
    }
  }
}
