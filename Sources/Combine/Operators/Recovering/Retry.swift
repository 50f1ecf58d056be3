import StreamSupport
import Synchronization

extension Publisher {
  /// Subscribes to the upstream again when it fails, up to a number of times.
  ///
  /// What was published before a failure is not taken back. An upstream that fails at once is tried again in a loop,
  /// whatever the number: the stack does not grow.
  ///
  /// - Parameter retries: how many times to subscribe again; without limit if negative.
  /// - Demand: passes as it is; each new attempt is asked for what is still owed.
  /// - Failure: that of the last attempt.
  /// - Threads: values pass where the attempt under way sends. The next attempt begins where the last one failed.
  @inlinable @inline(__always)
  public func retry(_ retries: Int) -> Publishers.Retry<Self> {
    Publishers.Retry(upstream: self, retries: retries)
  }
}

extension Publishers {
  /// A publisher that subscribes to its upstream again when it fails.
  public struct Retry<Upstream: Publisher>: Publisher {
    /// The kind of values published.
    public typealias Output = Upstream.Output
    /// Fails as the last attempt does.
    public typealias Failure = Upstream.Failure

    /// The publisher that may fail.
    public let upstream: Upstream

    /// How many times to subscribe again; without limit if nil or negative.
    public let retries: Int?

    /// Makes a publisher that subscribes to another again when that fails.
    @inlinable @inline(__always)
    public init(upstream: Upstream, retries: Int?) {
      self.upstream = upstream
      self.retries = retries
    }

    /// Attaches a subscriber to the upstream.
    @inlinable
    public func receive<S>(subscriber: consuming S)
    where S: Subscriber, Upstream.Failure == S.Failure, Upstream.Output == S.Input {
      RetrySubscriber(upstream, retries: retries, to: subscriber).subscribe()
    }
  }
}

extension Publishers.Retry: Equatable where Upstream: Equatable {}

/// Subscribes to the upstream again and again, with one subscription for downstream.
@usableFromInline
final class RetrySubscriber<Upstream: Publisher, Downstream: Subscriber>: SubscriptionArbiter, Subscriber
where Downstream.Input == Upstream.Output, Downstream.Failure == Upstream.Failure {
  @usableFromInline typealias Input = Upstream.Output
  @usableFromInline typealias Failure = Upstream.Failure

  @usableFromInline let upstream: Upstream
  @usableFromInline let downstream: Downstream
  // Touched as subscriptions come, which is once for each attempt.
  @exclusivity(unchecked) @usableFromInline var hasHandedOver = false
  // Guarded by `lock`; negative without a limit.
  @exclusivity(unchecked) @usableFromInline var retriesLeft: Int
  @usableFromInline let loop = Atomic<RetryLoop>(.subscribing)

  @inlinable @inline(__always)
  init(_ upstream: Upstream, retries: Int?, to downstream: Downstream) {
    self.upstream = upstream
    self.downstream = downstream
    retriesLeft = retries ?? -1
    super.init()
  }

  /// Subscribes, and again in a loop as long as attempts fail before `subscribe` returns.
  @inlinable
  func subscribe() {
    repeat { upstream.subscribe(self) } while mustGoOn()
  }

  @inlinable
  func mustGoOn() -> Bool {
    let (mayRest, _) = loop.compareExchange(expected: .subscribing, desired: .idle, ordering: .acquiringAndReleasing)
    // Nobody else changes it now: no attempt is under way that could fail.
    if !mayRest { loop.store(.subscribing, ordering: .relaxed) }
    return !mayRest
  }

  @inlinable @inline(__always)
  func receive(subscription: any Subscription) {
    guard let owed = hold(subscription, from: Phase.awaitingFirst, to: Phase.first) else { return }
    if !hasHandedOver {
      hasHandedOver = true
      downstream.receive(subscription: self)
    } else if owed != .none {
      subscription.request(owed)
    }
  }

  @inlinable @inline(__always)
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isIn(Phase.first) else { return .none }
    guard outstanding.takeOne() else { beyondDemand() }
    let answer = downstream.receive(input)
    if answer != .none { addDemand(answer)?.request(answer) }
    return .none
  }

  @inlinable
  func receive(completion: Subscribers.Completion<Failure>) {
    if case .failure = completion, fail() { return }
    let isFirstEvent = !hasHandedOver && advance(from: Phase.awaitingFirst, to: Phase.over)
    if isFirstEvent || advance(from: Phase.first, to: Phase.over) { downstream.receive(completion: completion) }
  }

  /// Starts another attempt if there is one left; says whether it did.
  @usableFromInline
  func fail() -> Bool {
    lock.lock()
    guard isIn(Phase.first), retriesLeft != 0 else {
      lock.unlock()
      return false
    }
    if retriesLeft > 0 { retriesLeft -= 1 }
    let failed = held
    held = nil
    phase.store(Phase.awaitingFirst, ordering: .releasing)
    lock.unlock()
    withExtendedLifetime(failed) {}
    if !haveLoopGoOn() { subscribe() }
    return true
  }

  /// Has the loop subscribe again; if none is running, says so, and the caller is the loop.
  @usableFromInline
  func haveLoopGoOn() -> Bool {
    while true {
      if loop.compareExchange(expected: .subscribing, desired: .again, ordering: .acquiringAndReleasing).exchanged {
        return true
      }
      let (isLoop, found) = loop.compareExchange(
        expected: .idle,
        desired: .subscribing,
        ordering: .acquiringAndReleasing
      )
      if isLoop { return false }
      // An upstream may bring two subscriptions, which both fail.
      if found == .again { return true }
    }
  }

  @usableFromInline override var name: String { "Retry" }
}

/// What the loop that subscribes is at.
@usableFromInline
enum RetryLoop: UInt8, AtomicRepresentable {
  /// Nobody subscribes.
  case idle
  case subscribing
  /// The attempt that is being made has failed already.
  case again
}
