import Combine
import StreamSupport

/// What is delivered when the publisher that was to run before a retry fails itself.
public enum ChainedFailure: Hashable, Sendable {
  /// Its own failure, the default: "the refresh token is invalid".
  case chained
  /// The failure that was to be retried: "unauthorised".
  case original
}

extension Publisher {
  /// Tries again after one certain error, each time after another publisher has done its work.
  ///
  ///     api.forecast(for: city)
  ///       .retry(on: .unauthorised, times: 1, after: session.refresh)
  ///
  /// The other publisher runs anew before every retry. Its first value or its finish means that it is done: it is
  /// cancelled, and the upstream is subscribed to once. Other errors pass on at once, and so does this one when the
  /// retries are used up.
  ///
  /// - Parameters:
  ///   - error: The error to retry after.
  ///   - times: How many attempts may follow the first. A negative number counts as none.
  ///   - chained: What to run before each retry.
  ///   - chainedFailure: What to fail with when that fails.
  ///
  /// - Demand: Passes up; what is still owed when an attempt fails is requested from the next. Values beyond the demand
  ///   are dropped. The other publisher is asked for one value.
  /// - Failure: The upstream's, or that of the other publisher, after which nothing is retried.
  /// - Threads: Values arrive where the upstream sends them; the next subscription is made where the other publisher
  ///   sends.
  /// - Note: An upstream that shares one execution (`share()`, `Future`) only repeats its error; wrap the making of it
  ///   in `Deferred`.
  public func retry<Chained: Publisher>(
    on error: Failure,
    times: Int,
    after chained: Chained,
    failingWith chainedFailure: ChainedFailure = .chained
  ) -> Publishers.RetryOn<Self, Chained> where Failure: Equatable, Chained.Failure == Failure {
    retry(on: { $0 == error }, times: times, after: { _ in chained }, failingWith: chainedFailure)
  }

  /// Tries again after errors of one type, each time after another publisher has done its work.
  ///
  ///     request.retry(on: SessionExpired.self, times: 1, after: { session.refresh($0) })
  ///
  /// The form for an equal error states the contract.
  ///
  /// - Parameters:
  ///   - type: The type of the errors to retry after.
  ///   - times: How many attempts may follow the first. A negative number counts as none.
  ///   - chained: Makes what to run before a retry from the error that is retried.
  ///   - chainedFailure: What to fail with when that fails.
  public func retry<Matched: Error, Chained: Publisher>(
    on type: Matched.Type,
    times: Int,
    after chained: @escaping (Matched) -> Chained,
    failingWith chainedFailure: ChainedFailure = .chained
  ) -> Publishers.RetryOn<Self, Chained> where Chained.Failure == Failure {
    Publishers.RetryOn(
      upstream: self,
      retries: times,
      chainedFailure: chainedFailure,
      chained: { ($0 as? Matched).map(chained) }
    )
  }

  /// Tries again after errors for which a condition holds, each time after another publisher has done its work.
  ///
  ///     request.retry(on: \.needsCredential, times: 2, after: { _ in prompt.credential })
  ///
  /// The form for an equal error states the contract.
  ///
  /// - Parameters:
  ///   - condition: Asked on every failure before the retries are used up.
  ///   - times: How many attempts may follow the first. A negative number counts as none.
  ///   - chained: Makes what to run before a retry from the error that is retried.
  ///   - chainedFailure: What to fail with when that fails.
  public func retry<Chained: Publisher>(
    on condition: @escaping (Failure) -> Bool,
    times: Int,
    after chained: @escaping (Failure) -> Chained,
    failingWith chainedFailure: ChainedFailure = .chained
  ) -> Publishers.RetryOn<Self, Chained> where Chained.Failure == Failure {
    Publishers.RetryOn(
      upstream: self,
      retries: times,
      chainedFailure: chainedFailure,
      chained: { condition($0) ? chained($0) : nil }
    )
  }

  /// Tries again after one certain error, each time after another publisher has done its work.
  ///
  /// Another spelling of `retry(on:times:after:failingWith:)`.
  ///
  /// - Parameters:
  ///   - error: The error to retry after.
  ///   - retries: How many attempts may follow the first.
  ///   - chainedPublisher: What to run before each retry.
  public func retryOn<Chained: Publisher>(
    _ error: Failure,
    retries: UInt,
    chainedPublisher: Chained
  ) -> Publishers.RetryOn<Self, Chained> where Failure: Equatable, Chained.Failure == Failure {
    retry(on: error, times: Int(clamping: retries), after: chainedPublisher)
  }
}

extension Publishers {
  /// Tries again after certain errors, each time after another publisher has done its work.
  ///
  /// Made by `retry(on:times:after:failingWith:)`.
  public struct RetryOn<Upstream: Publisher, Chained: Publisher>: Publisher
  where Chained.Failure == Upstream.Failure {
    /// What the upstream publishes.
    public typealias Output = Upstream.Output
    /// What the upstream and the other publisher fail with.
    public typealias Failure = Upstream.Failure

    /// The publisher of the attempts.
    public let upstream: Upstream
    /// How many attempts may follow the first.
    public let retries: Int
    /// What to fail with when the other publisher fails.
    public let chainedFailure: ChainedFailure
    /// Makes what to run before a retry; `nil` where there is to be none.
    public let chained: (Failure) -> Chained?

    /// Makes a publisher that tries again after certain errors.
    ///
    /// - Parameters:
    ///   - upstream: The publisher of the attempts.
    ///   - retries: How many attempts may follow the first. A negative number counts as none.
    ///   - chainedFailure: What to fail with when the other publisher fails.
    ///   - chained: Makes what to run before a retry; `nil` passes the error on.
    public init(
      upstream: Upstream,
      retries: Int,
      chainedFailure: ChainedFailure = .chained,
      chained: @escaping (Failure) -> Chained?
    ) {
      self.upstream = upstream
      self.retries = retries
      self.chainedFailure = chainedFailure
      self.chained = chained
    }

    /// Begins attempts for this subscriber, counted apart from those of others.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let execution = RetryOnExecution(self, downstream: subscriber)
      subscriber.receive(subscription: execution)
      execution.begin()
    }
  }
}

/// The attempts of one subscription, with another publisher between them.
private final class RetryOnExecution<Upstream: Publisher, Chained: Publisher, Downstream: Subscriber>:
  Attempts<Upstream, Downstream>, CustomStringConvertible
where
  Downstream.Input == Upstream.Output,
  Downstream.Failure == Upstream.Failure,
  Chained.Failure == Upstream.Failure
{
  private var recipe: Publishers.RetryOn<Upstream, Chained>?

  init(_ recipe: Publishers.RetryOn<Upstream, Chained>, downstream: Downstream) {
    self.recipe = recipe
    super.init(upstream: recipe.upstream, downstream: downstream)
  }

  var description: String { "RetryOn" }

  override func attemptFailed(_ attempt: Int, with error: Upstream.Failure) {
    // Every attempt but the first was a retry.
    guard let recipe = lock.withLock({ recipe }), attempt <= recipe.retries, let chained = recipe.chained(error) else {
      return end(with: .failure(error), after: attempt)
    }
    let step = ChainedStep<Chained> { completion in
      switch (completion, recipe.chainedFailure) {
      case (.finished, _): self.resume(after: attempt)
      case (.failure(let other), .chained): self.end(with: .failure(other), after: attempt)
      case (.failure, .original): self.end(with: .failure(error), after: attempt)
      }
    }
    // Held before it begins, so that a cancel finds it at any time.
    hold(step, after: attempt)
    chained.subscribe(step)
  }

  override func letGo(_ completion: Subscribers.Completion<Upstream.Failure>?) {
    let rest = lock.withLock {
      let rest = recipe
      recipe = nil
      return rest
    }
    withExtendedLifetime(rest) {}
  }
}

/// The subscriber of a publisher that runs before a retry: one value, or the completion, and it is done.
private final class ChainedStep<Chained: Publisher>: Subscriber, Cancellable {
  private enum Phase {
    case ready
    case running(any Subscription)
    case over
  }

  private let lock = Lock()
  private var phase = Phase.ready
  private var done: ((Subscribers.Completion<Chained.Failure>) -> Void)?

  init(done: @escaping (Subscribers.Completion<Chained.Failure>) -> Void) {
    self.done = done
  }

  func receive(subscription: any Subscription) {
    let isWanted = lock.withLock {
      guard case .ready = phase else { return false }
      phase = .running(subscription)
      return true
    }
    if isWanted { subscription.request(.max(1)) } else { subscription.cancel() }
  }

  func receive(_ input: Chained.Output) -> Subscribers.Demand {
    let (before, done) = end()
    if case .running(let subscription) = before { subscription.cancel() }
    done?(.finished)
    return .none
  }

  func receive(completion: Subscribers.Completion<Chained.Failure>) {
    end().1?(completion)
  }

  func cancel() {
    let (before, done) = end()
    if case .running(let subscription) = before { subscription.cancel() }
    withExtendedLifetime(done) {}
  }

  private func end() -> (Phase, ((Subscribers.Completion<Chained.Failure>) -> Void)?) {
    lock.withLock {
      let before = (phase, done)
      (phase, done) = (.over, nil)
      return before
    }
  }
}

extension ChainedStep: CustomStringConvertible {
  var description: String { "RetryOn" }
}
