import Combine

extension Publisher {
  /// Goes on with another publisher in place of a failure, which makes a failure of the second one, too.
  public typealias FallbackPublisher<Replacement: Publisher> = Publishers.Recover<
    Self, Publishers.MapError<Replacement, Failure>
  > where Replacement.Output == Output

  /// Delivers a value in place of a failure, and finishes.
  ///
  ///     request.fallback(to: .empty, FallbackPolicy().when(\.isTransient))
  ///
  /// Combine's own `replaceError` does the same for every failure and without a word; this leaves out those that a policy
  /// does not cover, and tells its observer what was hidden.
  ///
  /// - Parameters:
  ///   - value: What to deliver.
  ///   - policy: For which failures.
  ///
  /// - Demand: Passes up. The value is only delivered when one is requested.
  /// - Failure: The upstream's, where the policy does not cover it.
  /// - Threads: Where the upstream sends; a value that waited for a request comes where the request is made.
  public func fallback(
    to value: Output,
    _ policy: FallbackPolicy<Failure> = FallbackPolicy()
  ) -> FallbackPublisher<Just<Output>> {
    fallback(policy) { _ in Just(value) }
  }

  /// Goes on with another publisher in place of a failure.
  ///
  ///     request.fallback(failingWith: { original, _ in original }) { _ in mirror.forecast(for: city) }
  ///
  /// - Parameters:
  ///   - policy: For which failures.
  ///   - failure: The failure where the other publisher fails, too, from the original one and that.
  ///   - replacement: Makes the other publisher, from the failure; called once for each subscriber, if at all.
  ///
  /// - Demand: Passes up; what is still owed after the failure is requested from the other publisher.
  /// - Failure: The upstream's, where the policy does not cover it; otherwise the one for two failures.
  /// - Threads: Where the upstream sends, then where the other publisher does.
  public func fallback<Replacement: Publisher>(
    _ policy: FallbackPolicy<Failure> = FallbackPolicy(),
    failingWith failure: @escaping (_ original: Failure, _ failure: Replacement.Failure) -> Failure,
    _ replacement: @escaping (Failure) -> Replacement
  ) -> FallbackPublisher<Replacement> where Replacement.Output == Output {
    recover { original in
      guard policy.covers(original) else { return nil }
      // That of the subscription; where the other publisher fails it may be another one.
      let deadline = Deadline.current
      return replacement(original).mapError { error in
        Deadline.replaced(by: deadline) {
          policy.replacementFailed(error, after: original)
          return failure(original, error)
        }
      }
    }
  }

  /// Goes on with another publisher in place of a failure, and fails with ``FallbackFailed`` if that fails, too.
  ///
  /// See ``Combine/Publisher/fallback(_:failingWith:_:)``.
  ///
  /// - Parameters:
  ///   - policy: For which failures.
  ///   - replacement: Makes the other publisher, from the failure.
  public func fallback<Replacement: Publisher>(
    _ policy: FallbackPolicy<Failure> = FallbackPolicy(),
    _ replacement: @escaping (Failure) -> Replacement
  ) -> FallbackPublisher<Replacement> where Replacement.Output == Output, Failure == any Error {
    fallback(policy, failingWith: FallbackFailed.replacing(_:with:), replacement)
  }

  /// Goes on with a publisher that cannot fail in place of a failure.
  ///
  /// See ``Combine/Publisher/fallback(_:failingWith:_:)``.
  ///
  /// - Parameters:
  ///   - policy: For which failures.
  ///   - replacement: Makes the other publisher, from the failure.
  public func fallback<Replacement: Publisher>(
    _ policy: FallbackPolicy<Failure> = FallbackPolicy(),
    _ replacement: @escaping (Failure) -> Replacement
  ) -> FallbackPublisher<Replacement> where Replacement.Output == Output, Replacement.Failure == Never {
    fallback(policy, failingWith: keepingOriginal, replacement)
  }

  /// Goes on with a publisher that cannot fail in place of a failure, whatever type the failures have.
  ///
  /// See ``Combine/Publisher/fallback(_:failingWith:_:)``.
  ///
  /// - Parameters:
  ///   - policy: For which failures.
  ///   - replacement: Makes the other publisher, from the failure.
  public func fallback<Replacement: Publisher>(
    _ policy: FallbackPolicy<Failure> = FallbackPolicy(),
    _ replacement: @escaping (Failure) -> Replacement
  ) -> FallbackPublisher<Replacement>
  where Replacement.Output == Output, Replacement.Failure == Never, Failure == any Error {
    fallback(policy, failingWith: keepingOriginal, replacement)
  }

  /// Delivers what an asynchronous function returns in place of a failure, and finishes.
  ///
  ///     request.fallback(failingWith: { original, _ in original }, async: { _ in try await archive.forecast(for: city) })
  ///
  /// The function begins when a value is owed, and is cancelled with the subscription.
  ///
  /// - Parameters:
  ///   - policy: For which failures.
  ///   - failure: The failure where the function fails, too, from the original one and that.
  ///   - replacement: Gets the failure; called once for each subscriber, if at all.
  ///
  /// - Demand: Passes up; the function is called when something is still owed.
  /// - Failure: The upstream's, where the policy does not cover it; otherwise the one for two failures.
  /// - Threads: Where the upstream sends, then on the global executor.
  public func fallback(
    _ policy: FallbackPolicy<Failure> = FallbackPolicy(),
    failingWith failure: @escaping (_ original: Failure, _ failure: any Error) -> Failure,
    async replacement: @escaping @Sendable (Failure) async throws -> Output
  ) -> FallbackPublisher<Publishers.Asynchronous<Output>> {
    fallback(policy, failingWith: failure) { error in Publishers.Asynchronous { try await replacement(error) } }
  }

  /// Delivers what an asynchronous function returns in place of a failure, and fails with ``FallbackFailed`` if that
  /// throws.
  ///
  /// See ``Combine/Publisher/fallback(_:failingWith:async:)``.
  ///
  /// - Parameters:
  ///   - policy: For which failures.
  ///   - replacement: Gets the failure.
  public func fallback(
    _ policy: FallbackPolicy<Failure> = FallbackPolicy(),
    async replacement: @escaping @Sendable (Failure) async throws -> Output
  ) -> FallbackPublisher<Publishers.Asynchronous<Output>> where Failure == any Error {
    fallback(policy, failingWith: FallbackFailed.replacing(_:with:), async: replacement)
  }
}

/// Stands where there is no second failure, which a closure could not even be written for.
private func keepingOriginal<Original, Second>(_ original: Original, _ failure: Second) -> Original { original }
