import Combine

extension AsyncSequence where Self: Sendable, Element: Sendable {
  /// Iterates again after a failure, as a policy says.
  ///
  ///     for try await forecast in client.forecasts(for: city).retry(.standard) { show(forecast) }
  ///
  /// Each attempt makes a new iterator, and delivers its elements after those of the attempts before, unless the policy
  /// leaves them out (``RetryPolicy/onDuplicates(_:)``). A sequence that can be iterated only once, as an `AsyncStream` or
  /// `AsyncThrowingStream`, repeats nothing: the second attempt finds it at its end, and finishes. Make the stream in a
  /// sequence of one's own, whose `makeAsyncIterator()` makes a new one.
  ///
  /// See ``PolicySequence`` for demand, cancellation and threads.
  ///
  /// - Parameters:
  ///   - policy: When to try again, how often and how late.
  ///   - time: Measures time and waits.
  /// - Returns: A sequence that throws what the last attempt threw, unless the policy names another error.
  public func retry(_ policy: RetryPolicy<any Error>, time: TimeSource = .current) -> PolicySequence<Element> {
    PolicySequence { attempts.retry(policy, time: time).eraseToAnyPublisher() }
  }

  /// Throws ``TimedOut`` when a limit of time is reached.
  ///
  ///     client.forecasts(for: city).timeout(.betweenValues(.seconds(10)))
  ///
  /// The task of the sequence is cancelled then, and not waited for. The limits for the first element and between elements
  /// only run while one is awaited: a slow loop does not count. See ``PolicySequence`` for demand, cancellation and threads.
  ///
  /// - Parameters:
  ///   - policy: The limits.
  ///   - time: Measures time.
  public func timeout(_ policy: TimeoutPolicy, time: TimeSource = .current) -> PolicySequence<Element> {
    PolicySequence { attempts.timeout(policy, time: time).eraseToAnyPublisher() }
  }

  /// Delivers an element in place of a failure, and ends.
  ///
  /// See ``PolicySequence`` for demand, cancellation and threads.
  ///
  /// - Parameters:
  ///   - element: What to deliver.
  ///   - policy: For which failures.
  /// - Returns: A sequence that throws the failures that the policy does not cover.
  public func fallback(
    to element: Element,
    _ policy: FallbackPolicy<any Error> = FallbackPolicy()
  ) -> PolicySequence<Element> {
    PolicySequence { attempts.fallback(to: element, policy).eraseToAnyPublisher() }
  }

  /// Goes on with another sequence in place of a failure, and throws ``FallbackFailed`` if that fails, too.
  ///
  ///     client.forecasts(for: city).fallback { _ in mirror.forecasts(for: city) }
  ///
  /// See ``PolicySequence`` for demand, cancellation and threads.
  ///
  /// - Parameters:
  ///   - policy: For which failures.
  ///   - replacement: Makes the other sequence, from the failure; called once for each iterator, if at all.
  public func fallback<Replacement: AsyncSequence & Sendable>(
    _ policy: FallbackPolicy<any Error> = FallbackPolicy(),
    _ replacement: @escaping @Sendable (any Error) -> Replacement
  ) -> PolicySequence<Element> where Replacement.Element == Element {
    PolicySequence { attempts.fallback(policy) { replacement($0).attempts }.eraseToAnyPublisher() }
  }

  /// Delivers what an asynchronous function returns in place of a failure, and throws ``FallbackFailed`` if that throws.
  ///
  ///     client.forecasts(for: city).fallback(async: { _ in try await archive.forecast(for: city) })
  ///
  /// See ``PolicySequence`` for demand, cancellation and threads.
  ///
  /// - Parameters:
  ///   - policy: For which failures.
  ///   - replacement: Gets the failure; its task is cancelled with that of the loop.
  public func fallback(
    _ policy: FallbackPolicy<any Error> = FallbackPolicy(),
    async replacement: @escaping @Sendable (any Error) async throws -> Element
  ) -> PolicySequence<Element> {
    PolicySequence { attempts.fallback(policy, async: replacement).eraseToAnyPublisher() }
  }

  /// Puts a policy around a sequence.
  ///
  ///     client.forecasts(for: city).protected(by: breaker)
  ///
  /// An execution is one iteration: it succeeds at the end of the sequence. A loop that is left before is cancelled. See
  /// ``PolicySequence`` for demand, cancellation and threads, and ``retry(_:time:)`` for sequences that can be iterated only
  /// once.
  ///
  /// - Parameters:
  ///   - policy: One of this library, or one of your own.
  ///   - time: Measures time and waits.
  public func protected<Applied: Policy>(
    by policy: Applied,
    time: TimeSource = .current
  ) -> PolicySequence<Element> where Applied.Failure == any Error {
    PolicySequence { attempts.protected(by: policy, time: time).eraseToAnyPublisher() }
  }

  /// Puts the policies of a pipeline around a sequence.
  ///
  ///     for try await forecast in client.forecasts(for: city).protected(by: weather) { show(forecast) }
  ///
  /// The decisions and events are those of a publisher under the same pipeline. See ``PolicySequence`` for demand,
  /// cancellation and threads, and ``retry(_:time:)`` for sequences that can be iterated only once.
  ///
  /// - Parameter pipeline: The policies, which also have the time.
  public func protected(by pipeline: Pipeline<Element>) -> PolicySequence<Element> {
    PolicySequence { attempts.protected(by: pipeline) }
  }
}
