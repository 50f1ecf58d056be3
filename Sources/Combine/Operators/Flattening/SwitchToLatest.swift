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
    @inlinable @inline(__always)
    public func receive<S>(subscriber: S) where P.Output == S.Input, S: Subscriber, Upstream.Failure == S.Failure {
      let pipe = SwitchPipe<P, S>(to: subscriber)
      subscriber.receive(subscription: pipe)
      upstream.subscribe(pipe)
    }
  }
}

/// The lives of an outer upstream and of the latest inner one.
///
/// Not generic, so that its code exists once.
@usableFromInline
class SwitchLink: Courier {
  @usableFromInline
  enum InnerPhase {
    case none, awaited, held
  }

  /// Whether an inner publisher may deliver a value.
  @usableFromInline
  enum Claim {
    case granted
    /// Nothing is owed.
    case refused
    /// Another publisher has taken its place, or the end has come.
    case late
  }

  // All guarded by `lock`.
  @exclusivity(unchecked) private var outer: (any Subscription)?
  @exclusivity(unchecked) private var hasOuterCome = false
  @exclusivity(unchecked) @usableFromInline var isOuterOver = false
  @exclusivity(unchecked) @usableFromInline var inner: (any Subscription)?
  @exclusivity(unchecked) @usableFromInline var innerPhase = InnerPhase.none
  // The number of the latest inner publisher; written under `lock`.
  @usableFromInline let latest = Atomic<Int>(0)

  @usableFromInline
  final func holdOuter(_ subscription: any Subscription) -> Bool {
    lock.lock()
    guard !ledger.isClosed, !hasOuterCome else {
      lock.unlock()
      subscription.cancel()
      return false
    }
    hasOuterCome = true
    outer = subscription
    lock.unlock()
    return true
  }

  /// Notes the end of the outer upstream; says whether nothing is left to come.
  @usableFromInline
  final func finishOuter() -> Bool {
    lock.lock()
    let over = outer
    outer = nil
    isOuterOver = true
    let isDone = innerPhase == .none
    lock.unlock()
    withExtendedLifetime(over) {}
    return isDone
  }

  /// Leaves the inner publisher of before, and gives the number of the one to come.
  @inlinable @inline(__always)
  final func advance() -> Int {
    lock.lock()
    let previous = inner
    inner = nil
    innerPhase = .awaited
    let number = latest.load(ordering: .relaxed) &+ 1
    latest.store(number, ordering: .releasing)
    lock.unlock()
    previous?.cancel()
    return number
  }

  /// Keeps the subscription of the latest inner publisher, and says how much to ask of it.
  ///
  /// One that has ended may begin anew, as in Apple's Combine.
  @usableFromInline
  final func hold(_ subscription: any Subscription, ofInner number: Int) -> Subscribers.Demand? {
    lock.lock()
    guard let owed = ledger.demand, isLatest(number), innerPhase != .held else {
      lock.unlock()
      subscription.cancel()
      return nil
    }
    inner = subscription
    innerPhase = .held
    lock.unlock()
    return owed
  }

  /// Notes the end of an inner publisher: nil if another has taken its place, else whether nothing is left to come.
  @inlinable @inline(__always)
  final func finishInner(_ number: Int) -> Bool? {
    lock.lock()
    guard isLatest(number), innerPhase != .none else {
      lock.unlock()
      return nil
    }
    let over = inner
    inner = nil
    innerPhase = .none
    let isDone = isOuterOver
    lock.unlock()
    withExtendedLifetime(over) {}
    return isDone
  }

  @inlinable @inline(__always)
  final func isLatest(_ number: Int) -> Bool { latest.load(ordering: .acquiring) == number }

  /// Whether an inner publisher owes its subscription; after the end nobody does, since none is kept then.
  @usableFromInline
  final func isAwaited(_ number: Int) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    return !ledger.isClosed && isLatest(number) && innerPhase == .awaited
  }

  /// Takes one off what is owed, for an inner publisher.
  ///
  /// Under the lock unless there is no limit, so that what the next inner publisher is asked for does not count what
  /// this one takes.
  @inlinable @inline(__always)
  final func takeOne(forInner number: Int) -> Claim {
    ledger.isUnlimited ? .granted : takeCounted(forInner: number)
  }

  @usableFromInline
  final func takeCounted(forInner number: Int) -> Claim {
    lock.lock()
    defer { lock.unlock() }
    guard !ledger.isClosed, isLatest(number) else { return .late }
    return ledger.takeOne() ? .granted : .refused
  }

  /// Owes what downstream answered to a value, and says what to answer the inner publisher that sent it.
  ///
  /// If another has taken its place meanwhile, that one is asked instead.
  @usableFromInline
  final func owe(_ demand: Subscribers.Demand, toInner number: Int) -> Subscribers.Demand {
    guard demand != .none else { return .none }
    lock.lock()
    ledger.owe(demand)
    let isLatest = isLatest(number)
    let successor = isLatest ? nil : inner
    lock.unlock()
    if let successor { ask(successor, for: demand) }
    return isLatest ? demand : .none
  }

  @usableFromInline
  override final func request(_ demand: Subscribers.Demand) {
    demand.mustNotBeNone(name)
    lock.lock()
    ledger.owe(demand)
    let inner = self.inner
    lock.unlock()
    if let inner { ask(inner, for: demand) }
  }

  @usableFromInline
  override final func cancel() {
    guard let (inner, outer) = end() else { return }
    inner?.cancel()
    outer?.cancel()
  }

  @usableFromInline
  final func end() -> (inner: (any Subscription)?, outer: (any Subscription)?)? {
    lock.lock()
    defer { lock.unlock() }
    guard ledger.close() != nil else { return nil }
    let held = (inner, outer)
    inner = nil
    outer = nil
    return held
  }
}

/// Delivers what the latest inner publisher sends.
@usableFromInline
final class SwitchPipe<Inner: Publisher, Downstream: Subscriber>: SwitchLink, Subscriber
where Downstream.Input == Inner.Output, Downstream.Failure == Inner.Failure {
  @usableFromInline typealias Input = Inner
  @usableFromInline typealias Failure = Inner.Failure

  @usableFromInline let downstream: Downstream

  @inlinable @inline(__always)
  init(to downstream: Downstream) {
    self.downstream = downstream
    super.init()
  }

  // MARK: Upstream

  @inlinable
  func receive(subscription: any Subscription) {
    if holdOuter(subscription) { subscription.request(.unlimited) }
  }

  @inlinable @inline(__always)
  func receive(_ input: Inner) -> Subscribers.Demand {
    guard !ledger.isClosed else { return .none }
    let number = advance()
    // A `Just` delivers at once if something is owed; if not it has to wait, and needs a subscription.
    if let output = input.soleOutput, takeOne(forInner: number) == .granted {
      receive(sole: output, from: number)
    } else {
      input.subscribe(InnerSide(number, of: self))
    }
    return .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    let isDone = finishOuter()
    if case .finished = completion, !isDone { return }
    end(completion)
  }

  // MARK: Inner publishers

  /// Does what subscribing to a `Just` would do.
  @inlinable @inline(__always)
  func receive(sole output: Inner.Output, from number: Int) {
    enter()
    if isLatest(number), !ledger.isClosed {
      let answer = downstream.receive(output)
      if answer != .none { _ = owe(answer, toInner: number) }
    }
    leave()
    if finishInner(number) == true { end(.finished) }
  }

  @inlinable @inline(__always)
  func receive(_ output: Inner.Output, from number: Int) -> Subscribers.Demand {
    enter()
    var answer = Subscribers.Demand.none
    switch takeOne(forInner: number) {
    case .granted:
      // Without a limit the claim did not look who asks.
      if isLatest(number) { answer = owe(downstream.receive(output), toInner: number) }
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
    if isAwaited(number) {
      violation(
        name,
        "received the completion of an inner publisher before its subscription",
        advice: "A publisher must call receive(subscription:) first."
      )
    }
    guard let isDone = finishInner(number) else { return }
    if case .finished = completion, !isDone { return }
    end(completion)
  }

  @usableFromInline
  func end(_ completion: Subscribers.Completion<Failure>) {
    guard let (inner, outer) = end() else { return }
    inner?.cancel()
    outer?.cancel()
    enter()
    downstream.receive(completion: completion)
    leave()
  }

  @usableFromInline override var name: String { "SwitchToLatest" }

  /// The subscriber of one inner publisher.
  @usableFromInline
  struct InnerSide: Subscriber, CourierSide {
    @usableFromInline typealias Input = Inner.Output
    @usableFromInline typealias Failure = Inner.Failure

    @usableFromInline let number: Int
    @usableFromInline let pipe: SwitchPipe
    @usableFromInline let combineIdentifier = CombineIdentifier()

    @inlinable @inline(__always)
    init(_ number: Int, of pipe: SwitchPipe) {
      self.number = number
      self.pipe = pipe
    }

    @usableFromInline var courier: Courier { pipe }

    @inlinable
    func receive(subscription: any Subscription) {
      guard let owed = pipe.hold(subscription, ofInner: number), owed != .none else { return }
      subscription.request(owed)
    }

    @inlinable @inline(__always)
    func receive(_ input: Inner.Output) -> Subscribers.Demand {
      pipe.receive(input, from: number)
    }

    @inlinable
    func receive(completion: Subscribers.Completion<Failure>) {
      pipe.receive(completion: completion, from: number)
    }
  }
}
