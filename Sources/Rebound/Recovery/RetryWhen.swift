import Combine
import StreamSupport

extension Publisher {
  /// Tries again when a companion publisher, made from the stream of the failures, says so.
  ///
  ///     let pauses = [1, 3, 5, 10]
  ///     forecast.retry { errors in
  ///       errors.zip((0...4).publisher).flatMap { failure, number -> AnyPublisher<Void, NetworkFailure> in
  ///         guard number < pauses.count else { return Fail(error: failure).eraseToAnyPublisher() }
  ///         return Just(()).delay(for: .seconds(pauses[number]), scheduler: queue)
  ///           .setFailureType(to: NetworkFailure.self).eraseToAnyPublisher()
  ///       }
  ///     }
  ///
  /// After a failure, a value of the companion subscribes to the upstream anew. At any time, its failure is the failure
  /// of the whole and its finish the finish. Its values are ignored while no failure waits for one.
  ///
  /// A companion that finishes with its last signal, as `prefix(2)` does, ends the attempt that it has just allowed, and
  /// without a failure. Let it answer the failure behind that with one, as above.
  ///
  /// The companion is made for each subscriber, and subscribed to before the upstream is. The failures come one at a
  /// time, each kept until the companion asks for it. A companion that does not look at the failures but ends by itself,
  /// such as a sequence, ends the whole before the first attempt.
  ///
  /// - Parameter companion: Gets the failures; called once for each subscriber.
  ///
  /// - Demand: Passes up; what is still owed when an attempt fails is requested from the next. Values beyond the demand
  ///   are dropped. The companion is asked for everything.
  /// - Failure: The companion's, of the same type as the upstream's; the upstream's own go to the companion.
  /// - Threads: Values arrive where the upstream sends them; the next subscription is made where the companion sends.
  /// - Note: An upstream that shares one execution (`share()`, `Future`) only repeats its error; wrap the making of it
  ///   in `Deferred`.
  public func retry<Companion: Publisher>(
    when companion: @escaping (AnyPublisher<Failure, Never>) -> Companion
  ) -> Publishers.WithPolicy<Self, RetryWhenPolicy<Companion>> where Companion.Failure == Failure {
    Publishers.WithPolicy(upstream: self, policy: RetryWhenPolicy(companion: companion))
  }

  /// Tries again when a companion publisher that cannot fail says so.
  ///
  ///     forecast.retry { errors in
  ///       errors.delay(for: .seconds(1), scheduler: queue)   // for ever
  ///     }
  ///
  /// The form for a companion that can fail states the contract; here there is no failure unless the companion has one.
  ///
  /// - Parameter companion: Gets the failures; called once for each subscriber.
  public func retry<Companion: Publisher>(
    when companion: @escaping (AnyPublisher<Failure, Never>) -> Companion
  ) -> Publishers.WithPolicy<Self, RetryWhenPolicy<Publishers.SetFailureType<Companion, Failure>>>
  where Companion.Failure == Never {
    retry { companion($0).setFailureType(to: Failure.self) }
  }

  /// Tries again after each failure as soon as a signal comes.
  ///
  ///     forecast.retry(when: connectivity.restored)
  ///
  /// A signal that comes while no failure waits for it is ignored; so is the value that a stateful publisher has from
  /// the start. When the signal finishes, so does the whole.
  ///
  /// - Parameter signal: Subscribed to once for each subscriber, before the upstream is.
  ///
  /// - Demand: Passes up; what is still owed when an attempt fails is requested from the next.
  /// - Failure: None, since the signal has none and the upstream's own only wait for it.
  /// - Threads: Values arrive where the upstream sends them; the next subscription is made where the signal comes.
  public func retry<Signal: Publisher>(
    when signal: Signal
  ) -> Publishers.WithPolicy<Self, RetryWhenPolicy<Publishers.SetFailureType<Signal, Failure>>>
  where Signal.Failure == Never {
    retry { _ in signal.setFailureType(to: Failure.self) }
  }

  /// Tries again when a companion publisher, made from the stream of the failures, says so.
  ///
  /// Another spelling of `retry(when:)`.
  ///
  /// - Parameter companion: Gets the failures; called once for each subscriber.
  public func retryWhen<Companion: Publisher>(
    _ companion: @escaping (AnyPublisher<Failure, Never>) -> Companion
  ) -> Publishers.WithPolicy<Self, RetryWhenPolicy<Companion>> where Companion.Failure == Failure {
    retry(when: companion)
  }

  /// Tries again when a companion publisher that cannot fail says so.
  ///
  /// Another spelling of `retry(when:)`.
  ///
  /// - Parameter companion: Gets the failures; called once for each subscriber.
  public func retryWhen<Companion: Publisher>(
    _ companion: @escaping (AnyPublisher<Failure, Never>) -> Companion
  ) -> Publishers.WithPolicy<Self, RetryWhenPolicy<Publishers.SetFailureType<Companion, Failure>>>
  where Companion.Failure == Never {
    retry(when: companion)
  }
}

/// Tries again when a companion publisher says so.
///
/// Made by `retry(when:)`.
public struct RetryWhenPolicy<Companion: Publisher>: Policy {
  /// What the companion fails with.
  public typealias Failure = Companion.Failure

  // Unsafe: not `@Sendable`, so that it may capture what Apple's operators let it capture; whoever subscribes from several
  // threads answers for that, as with the closure of `Publishers.Catch`.
  /// Makes the companion from the failures.
  public nonisolated(unsafe) let companion: (AnyPublisher<Failure, Never>) -> Companion

  /// What it does.
  public var descriptor: StageDescriptor {
    StageDescriptor(.retry, parameters: [.init("when", "\(Companion.self)")])
  }

  /// It retries, after the failures that its companion answers.
  public var traits: StageTraits {
    var traits = StageTraits(descriptor: descriptor)
    traits.retries = true
    return traits
  }

  /// Makes the machine of one execution.
  public func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(companion: companion) }

  /// The attempts of one execution.
  public struct Machine: PolicyMachine {
    /// What the companion fails with.
    public typealias Failure = Companion.Failure

    fileprivate let companion: (AnyPublisher<Failure, Never>) -> Companion
    private var subscriber: CompanionSubscriber<Companion>?

    fileprivate init(companion: @escaping (AnyPublisher<Failure, Never>) -> Companion) {
      self.companion = companion
    }

    /// Subscribes to the companion, before the first attempt.
    public mutating func begins(_ execution: ExecutionContext) -> Decision<Failure> {
      let (subscriber, companion) = (CompanionSubscriber<Companion>(), companion)
      self.subscriber = subscriber
      return .park { waker in
        // Kept before it begins, so that a cancel finds it at any time.
        waker.keep(subscriber)
        subscriber.subscribe(to: companion, waking: waker)
        waker.wake()
      }
    }

    /// Tells the companion.
    public mutating func failed(with error: Failure, _ execution: ExecutionContext) -> Decision<Failure> {
      guard let subscriber else { return .proceed }
      subscriber.attemptFailed(with: error)
      return .park(subscriber.wait)
    }

    /// Does as the companion says.
    public mutating func woken(_ execution: ExecutionContext) -> Decision<Failure> {
      guard let subscriber else { return .proceed }
      switch subscriber.takeReply() {
      case .goAhead: return .proceed
      case .nothing: return .park(subscriber.wait)
      case .end(.finished):
        leave()
        return .finish
      case .end(.failure(let error)):
        leave()
        return .fail(error)
      }
    }

    /// Lets the companion go.
    public mutating func succeeded(_ execution: ExecutionContext) -> Decision<Failure> {
      leave()
      return .proceed
    }

    /// Lets the companion go.
    public mutating func cancelled(_ execution: ExecutionContext) {
      leave()
    }

    private mutating func leave() {
      subscriber?.cancel()
      subscriber = nil
    }
  }
}

/// The subscriber of a companion, from the first attempt to the end.
private final class CompanionSubscriber<Companion: Publisher>: Subscriber, Cancellable, Sendable {
  enum Reply {
    case nothing
    case goAhead
    case end(Subscribers.Completion<Companion.Failure>)
  }

  private struct State {
    /// Until the first attempt, and then whenever a failure waits for an answer.
    var isAwaited = true
    var isAnswered = true
    /// Whether the first attempt has its go-ahead; a companion that ends before ends it all.
    var hasBegun = false
    var waker: Waker?
    var end: Subscribers.Completion<Companion.Failure>?
    var subscription: (any Subscription)?
    var isOver = false
  }

  /// The failure that waits for an answer, kept for whoever asks late.
  private let failures = SharedSubject(CurrentValueSubject<Companion.Failure?, Never>(nil))
  private let state = Locked(State())

  func subscribe(to companion: (AnyPublisher<Companion.Failure, Never>) -> Companion, waking waker: Waker) {
    state.withLock { $0.waker = waker }
    companion(failures.subject.compactMap { $0 }.eraseToAnyPublisher()).subscribe(self)
  }

  func attemptFailed(with error: Companion.Failure) {
    state.withLock { ($0.isAwaited, $0.isAnswered) = (true, false) }
    failures.subject.send(error)
  }

  /// Has whoever waits woken when it says something, or at once if it has: an asynchronous function has a waker for each wait.
  func wait(_ waker: Waker) {
    let hasSpoken = state.withLock { state in
      state.waker = waker
      return state.end != nil || state.isAwaited && state.isAnswered
    }
    if hasSpoken { waker.wake() }
  }

  /// What it has said since the last time.
  func takeReply() -> Reply {
    let reply: Reply = state.withLock { state in
      if !state.hasBegun, let end = state.end { return .end(end) }
      state.hasBegun = true
      if state.isAwaited, state.isAnswered {
        (state.isAwaited, state.isAnswered) = (false, false)
        return .goAhead
      }
      if let end = state.end { return .end(end) }
      return .nothing
    }
    if case .goAhead = reply {
      // No attempt runs, so no other failure can be overwritten here.
      failures.subject.send(nil)
      // An end that came behind it is heard when the attempt has begun.
      let (hasEnded, waker) = state.withLock { ($0.end != nil, $0.waker) }
      if hasEnded { waker?.wake() }
    }
    return reply
  }

  /// Lets go of the companion, unless it has ended.
  func cancel() {
    let (subscription, isFirst): ((any Subscription)?, Bool) = state.withLock { state in
      let rest = (state.end == nil ? state.subscription : nil, !state.isOver)
      state.subscription = nil
      state.isOver = true
      return rest
    }
    guard isFirst else { return }
    subscription?.cancel()
    // Whoever keeps the stream of the failures must not keep the failure.
    failures.subject.send(nil)
    failures.subject.send(completion: .finished)
  }

  func receive(subscription: any Subscription) {
    let isWanted = state.withLock { state in
      guard !state.isOver, state.subscription == nil else { return false }
      state.subscription = subscription
      return true
    }
    if isWanted { subscription.request(.unlimited) } else { subscription.cancel() }
  }

  func receive(_ input: Companion.Output) -> Subscribers.Demand {
    let waker: Waker? = state.withLock { state in
      guard state.isAwaited, !state.isAnswered else { return nil }
      state.isAnswered = true
      return state.waker
    }
    waker?.wake()
    return .none
  }

  func receive(completion: Subscribers.Completion<Companion.Failure>) {
    let waker: Waker? = state.withLock { state in
      guard state.end == nil, !state.isOver else { return nil }
      state.end = completion
      return state.waker
    }
    waker?.wake()
  }
}
