import Combine
import StreamSupport

extension Publisher {
  /// Tries again when a companion publisher, made from the stream of the failures, says so.
  ///
  ///     forecast.retry { errors in
  ///       errors.zip([1, 3, 5, 10].publisher) { $1 }
  ///         .flatMap { Just(()).delay(for: .seconds($0), scheduler: queue) }
  ///         .setFailureType(to: NetworkFailure.self)
  ///     }
  ///
  /// After a failure, a value of the companion subscribes to the upstream anew. At any time, its failure is the failure
  /// of the whole and its finish the finish. Its values are ignored while no failure waits for one.
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
  ) -> Publishers.RetryWhen<Self, Companion> where Companion.Failure == Failure {
    Publishers.RetryWhen(upstream: self, companion: companion)
  }

  /// Tries again when a companion publisher that cannot fail says so.
  ///
  ///     forecast.retry { errors in
  ///       errors.delay(for: .seconds(1), scheduler: queue).prefix(2)   // the third failure ends it
  ///     }
  ///
  /// The form for a companion that can fail states the contract; here there is no failure unless the companion has one.
  ///
  /// - Parameter companion: Gets the failures; called once for each subscriber.
  public func retry<Companion: Publisher>(
    when companion: @escaping (AnyPublisher<Failure, Never>) -> Companion
  ) -> Publishers.RetryWhen<Self, Publishers.SetFailureType<Companion, Failure>> where Companion.Failure == Never {
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
  ) -> Publishers.RetryWhen<Self, Publishers.SetFailureType<Signal, Failure>> where Signal.Failure == Never {
    retry { _ in signal.setFailureType(to: Failure.self) }
  }
}

extension Publishers {
  /// Tries again when a companion publisher says so.
  ///
  /// Made by `retry(when:)`.
  public struct RetryWhen<Upstream: Publisher, Companion: Publisher>: Publisher
  where Companion.Failure == Upstream.Failure {
    /// What the upstream publishes.
    public typealias Output = Upstream.Output
    /// What the companion fails with.
    public typealias Failure = Upstream.Failure

    /// The publisher of the attempts.
    public let upstream: Upstream
    /// Makes the companion from the failures.
    public let companion: (AnyPublisher<Failure, Never>) -> Companion

    /// Makes a publisher that tries again when a companion says so.
    ///
    /// - Parameters:
    ///   - upstream: The publisher of the attempts.
    ///   - companion: Makes the companion from the failures; called once for each subscriber.
    public init(upstream: Upstream, companion: @escaping (AnyPublisher<Failure, Never>) -> Companion) {
      self.upstream = upstream
      self.companion = companion
    }

    /// Begins attempts for this subscriber, with a companion of their own.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let execution = RetryWhenExecution<Upstream, Companion, S>(upstream: upstream, downstream: subscriber)
      subscriber.receive(subscription: execution)
      execution.begin(with: companion)
    }
  }
}

/// The attempts of one subscription, as a companion decides on them.
private final class RetryWhenExecution<Upstream: Publisher, Companion: Publisher, Downstream: Subscriber>:
  Attempts<Upstream, Downstream>, CustomStringConvertible
where
  Downstream.Input == Upstream.Output,
  Downstream.Failure == Upstream.Failure,
  Companion.Failure == Upstream.Failure
{
  /// What lives from the first subscription to the end.
  private enum Company {
    case none
    case awaited
    case present(any Subscription)
    case over
  }

  /// The failure that waits for an answer, kept for whoever asks late.
  private let failures = CurrentValueSubject<Upstream.Failure?, Never>(nil)
  private var company = Company.none

  var description: String { "RetryWhen" }

  func begin(with companion: (AnyPublisher<Upstream.Failure, Never>) -> Companion) {
    let isWanted = lock.withLock {
      guard case .none = company else { return false }
      company = .awaited
      return true
    }
    guard isWanted else { return }
    companion(failures.compactMap { $0 }.eraseToAnyPublisher()).subscribe(CompanionSubscriber(self))
    begin()
  }

  override func attemptFailed(_ attempt: Int, with error: Upstream.Failure) {
    failures.send(error)
  }

  override func letGo(_ completion: Subscribers.Completion<Upstream.Failure>?) {
    let before = lock.withLock {
      let before = company
      company = .over
      return before
    }
    if case .present(let subscription) = before { subscription.cancel() }
    // Whoever keeps the stream of the failures must not keep the failure.
    failures.send(nil)
    failures.send(completion: .finished)
  }

  fileprivate func companionCame(_ subscription: any Subscription) {
    let isWanted = lock.withLock {
      guard case .awaited = company else { return false }
      company = .present(subscription)
      return true
    }
    if isWanted { subscription.request(.unlimited) } else { subscription.cancel() }
  }

  fileprivate func companionSent() {
    guard let attempt = openQuestion else { return }
    // Answered. No attempt runs, so no other failure can be overwritten here.
    failures.send(nil)
    resume(after: attempt)
  }

  fileprivate func companionEnded(_ completion: Subscribers.Completion<Upstream.Failure>) {
    // It is not cancelled any more.
    let before = lock.withLock {
      let before = company
      company = .over
      return before
    }
    withExtendedLifetime(before) { end(with: completion) }
  }
}

/// The subscriber of the companion.
private final class CompanionSubscriber<Upstream: Publisher, Companion: Publisher, Downstream: Subscriber>: Subscriber
where
  Downstream.Input == Upstream.Output,
  Downstream.Failure == Upstream.Failure,
  Companion.Failure == Upstream.Failure
{
  private let execution: RetryWhenExecution<Upstream, Companion, Downstream>

  init(_ execution: RetryWhenExecution<Upstream, Companion, Downstream>) {
    self.execution = execution
  }

  func receive(subscription: any Subscription) {
    execution.companionCame(subscription)
  }

  func receive(_ input: Companion.Output) -> Subscribers.Demand {
    execution.companionSent()
    return .none
  }

  func receive(completion: Subscribers.Completion<Companion.Failure>) {
    execution.companionEnded(completion)
  }
}
