import Combine
import StreamSupport

/// When a circuit breaker counts a stream as a success.
public enum StreamSuccess: Hashable, Sendable {
  /// When it finishes; the default.
  case finish
  /// At its first value: for streams that never end.
  case firstValue
}

extension Publisher {
  /// Subscribes only if a circuit breaker lets it through.
  ///
  ///     request
  ///       .protected(by: breaker) { .unavailable(until: $0.retryAfter) }
  ///       .retry(.standard.when(\.isTransient))
  ///
  /// The breaker is asked for each subscription, and told how it ends. A cancel counts as a success after a value, and
  /// has no vote before.
  ///
  /// - Parameters:
  ///   - breaker: Shared by everything that calls the same service.
  ///   - success: When to count it as a success.
  ///   - refusal: The failure for a subscription that is refused.
  ///
  /// - Demand: Passes up, unchanged.
  /// - Failure: The upstream's, or the one for a refusal.
  /// - Threads: Where the upstream sends; a refusal comes at once.
  public func protected(
    by breaker: CircuitBreaker,
    succeedingOn success: StreamSuccess = .finish,
    refusingWith refusal: @escaping (CircuitOpen) -> Failure
  ) -> Publishers.Protected<Self> {
    Publishers.Protected(upstream: self, breaker: breaker, success: success, refusal: refusal)
  }

  /// Subscribes only if a circuit breaker lets it through, and fails with ``CircuitOpen`` if not.
  ///
  /// See ``Combine/Publisher/protected(by:succeedingOn:refusingWith:)``.
  ///
  /// - Parameters:
  ///   - breaker: Shared by everything that calls the same service.
  ///   - success: When to count it as a success.
  public func protected(
    by breaker: CircuitBreaker,
    succeedingOn success: StreamSuccess = .finish
  ) -> Publishers.Protected<Self> where Failure == any Error {
    protected(by: breaker, succeedingOn: success, refusingWith: { $0 })
  }
}

extension Publishers {
  /// Subscribes only if a circuit breaker lets it through.
  ///
  /// Made by ``Combine/Publisher/protected(by:succeedingOn:refusingWith:)``.
  public struct Protected<Upstream: Publisher>: Publisher {
    /// What the upstream publishes.
    public typealias Output = Upstream.Output
    /// What the upstream fails with.
    public typealias Failure = Upstream.Failure

    /// The publisher that is protected.
    public let upstream: Upstream
    /// Shared by everything that calls the same service.
    public let breaker: CircuitBreaker
    /// When to count a subscription as a success.
    public let success: StreamSuccess
    /// The failure for a subscription that is refused.
    public let refusal: (CircuitOpen) -> Failure

    /// Makes a publisher that a breaker protects.
    ///
    /// - Parameters:
    ///   - upstream: The publisher to protect.
    ///   - breaker: Shared by everything that calls the same service.
    ///   - success: When to count a subscription as a success.
    ///   - refusal: The failure for a subscription that is refused.
    public init(
      upstream: Upstream,
      breaker: CircuitBreaker,
      success: StreamSuccess = .finish,
      refusal: @escaping (CircuitOpen) -> Failure
    ) {
      self.upstream = upstream
      self.breaker = breaker
      self.success = success
      self.refusal = refusal
    }

    /// Asks the breaker, and subscribes to the upstream or fails.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      do {
        let call = try breaker.admit()
        upstream.subscribe(ProtectedExecution(call, success, downstream: subscriber))
      } catch {
        Fail(error: refusal(error)).receive(subscriber: subscriber)
      }
    }
  }
}

/// Stands between the upstream and one subscriber, and tells the breaker how it ends.
///
/// The lock guards `passage` and `hasValue`, and no foreign code runs under it.
private final class ProtectedExecution<Downstream: Subscriber>: Subscriber, Subscription, CustomStringConvertible {
  private let call: CircuitBreaker.Call
  private let success: StreamSuccess
  private let lock = Lock()
  private var passage: Passage<Downstream>
  private var hasValue = false

  init(_ call: CircuitBreaker.Call, _ success: StreamSuccess, downstream: Downstream) {
    self.call = call
    self.success = success
    passage = .ready(downstream)
  }

  var description: String { "Protected" }

  func receive(subscription: any Subscription) {
    guard let downstream = lock.withLock({ passage.begin(subscription) }) else { return subscription.cancel() }
    downstream.receive(subscription: self)
  }

  func receive(_ input: Downstream.Input) -> Subscribers.Demand {
    let (downstream, isFirst): (Downstream?, Bool) = lock.withLock {
      guard let ends = passage.ends else { return (nil, false) }
      defer { hasValue = true }
      return (ends.downstream, !hasValue)
    }
    if isFirst, success == .firstValue { call.succeed() }
    return downstream?.receive(input) ?? .none
  }

  func receive(completion: Subscribers.Completion<Downstream.Failure>) {
    guard let downstream = lock.withLock({ passage.end() }).ends?.downstream else { return }
    // Told first, so that a retry below finds the breaker as it now is.
    switch completion {
    case .finished: call.succeed()
    case .failure(let error): call.fail(with: error)
    }
    downstream.receive(completion: completion)
  }

  func request(_ demand: Subscribers.Demand) {
    lock.withLock { passage.ends }?.subscription.request(demand)
  }

  func cancel() {
    guard let subscription = lock.withLock({ passage.end() }).ends?.subscription else { return }
    if lock.withLock({ hasValue }) { call.succeed() } else { call.cancel() }
    subscription.cancel()
  }
}
