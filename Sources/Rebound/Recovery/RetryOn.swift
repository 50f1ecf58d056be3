import Combine

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
  ) -> Publishers.WithPolicy<Self, RetryOnPolicy<Chained>> where Failure: Equatable, Chained.Failure == Failure {
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
  ) -> Publishers.WithPolicy<Self, RetryOnPolicy<Chained>> where Chained.Failure == Failure {
    retry(times, chainedFailure) { ($0 as? Matched).map(chained) }
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
  ) -> Publishers.WithPolicy<Self, RetryOnPolicy<Chained>> where Chained.Failure == Failure {
    retry(times, chainedFailure) { condition($0) ? chained($0) : nil }
  }

  /// Tries again after one certain error, each time after another publisher has done its work.
  ///
  /// Another spelling of `retry(on:times:after:failingWith:)`.
  ///
  /// - Parameters:
  ///   - error: The error to retry after.
  ///   - retries: How many attempts may follow the first. A negative number counts as none.
  ///   - chainedPublisher: What to run before each retry.
  public func retryOn<Chained: Publisher>(
    _ error: Failure,
    retries: some BinaryInteger,
    chainedPublisher: Chained
  ) -> Publishers.WithPolicy<Self, RetryOnPolicy<Chained>> where Failure: Equatable, Chained.Failure == Failure {
    retry(on: error, times: Int(clamping: retries), after: chainedPublisher)
  }

  /// Tries again after one certain error, each time after another publisher, which cannot fail, has done its work.
  ///
  /// Another spelling of `retry(on:times:after:failingWith:)`.
  ///
  /// - Parameters:
  ///   - error: The error to retry after.
  ///   - retries: How many attempts may follow the first. A negative number counts as none.
  ///   - chainedPublisher: What to run before each retry.
  public func retryOn<Chained: Publisher>(
    _ error: Failure,
    retries: some BinaryInteger,
    chainedPublisher: Chained
  ) -> Publishers.WithPolicy<Self, RetryOnPolicy<Publishers.SetFailureType<Chained, Failure>>>
  where Failure: Equatable, Chained.Failure == Never {
    retryOn(error, retries: retries, chainedPublisher: chainedPublisher.setFailureType(to: Failure.self))
  }

  private func retry<Chained: Publisher>(
    _ retries: Int,
    _ chainedFailure: ChainedFailure,
    _ chained: @escaping (Failure) -> Chained?
  ) -> Publishers.WithPolicy<Self, RetryOnPolicy<Chained>> where Chained.Failure == Failure {
    let policy = RetryOnPolicy<Chained>(retries: retries, chainedFailure: chainedFailure, chained: chained)
    return Publishers.WithPolicy(upstream: self, policy: policy)
  }
}

/// Tries again after certain errors, each time after another publisher has done its work.
///
/// Made by `retry(on:times:after:failingWith:)`.
public struct RetryOnPolicy<Chained: Publisher>: Policy {
  /// What the upstream and the other publisher fail with.
  public typealias Failure = Chained.Failure

  /// How many attempts may follow the first.
  public let retries: Int
  /// What to fail with when the other publisher fails.
  public let chainedFailure: ChainedFailure
  // Unsafe: not `@Sendable`, so that it may capture what Apple's operators let it capture; whoever subscribes from several
  // threads answers for that, as with the closure of `Publishers.Catch`.
  /// Makes what to run before a retry; `nil` where there is to be none.
  public nonisolated(unsafe) let chained: (Failure) -> Chained?

  /// What it does, with its numbers.
  public var descriptor: StageDescriptor {
    StageDescriptor(.retry, parameters: [.init("maxRetries", "\(retries)"), .init("after", "\(Chained.self)")])
  }

  /// It retries, after some failures.
  public var traits: StageTraits {
    var traits = StageTraits(descriptor: descriptor)
    traits.retries = true
    return traits
  }

  /// Makes the machine of one execution.
  public func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(policy: self) }

  /// The attempts of one execution.
  public struct Machine: PolicyMachine {
    /// What the upstream and the other publisher fail with.
    public typealias Failure = Chained.Failure

    fileprivate let policy: RetryOnPolicy
    private var made = 0
    private var waiter: AnswerWaiter<Subscribers.Completion<Failure>>?
    private var original: Failure?

    fileprivate init(policy: RetryOnPolicy) {
      self.policy = policy
    }

    /// Lets the other publisher run, if the error is one to retry after.
    public mutating func failed(with error: Failure, _ execution: ExecutionContext) -> Decision<Failure> {
      guard made < policy.retries, let chained = policy.chained(error) else { return .proceed }
      made += 1
      original = error
      let waiter = AnswerWaiter<Subscribers.Completion<Failure>>()
      self.waiter = waiter
      let step = FirstValue<Chained.Output, Failure> { result in
        switch result {
        case .success: waiter.answer(.finished)
        case .failure(let error): waiter.answer(.failure(error))
        }
      }
      return .park { waker in
        // Kept before it begins, so that a cancel finds it at any time.
        waker.keep(step)
        chained.subscribe(step)
        waiter.wait(waker)
      }
    }

    /// Tries again, or fails as the other publisher has.
    public mutating func woken(_ execution: ExecutionContext) -> Decision<Failure> {
      guard let waiter else { return .proceed }
      guard let end = waiter.take() else { return .park(waiter.wait) }
      self.waiter = nil
      switch end {
      case .finished: return .proceed
      case .failure(let other): return .fail(policy.chainedFailure == .chained ? other : original ?? other)
      }
    }

    /// Cancels the other publisher.
    public mutating func cancelled(_ execution: ExecutionContext) {
      _ = waiter?.abandon()
      waiter = nil
    }
  }
}
