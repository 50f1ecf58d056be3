import Combine

extension Publisher {
  /// Keeps each value, for a time when there is none.
  ///
  ///     request.remember(in: forecasts, for: city)
  ///
  /// - Parameters:
  ///   - store: Keeps the latest value.
  ///   - key: What the values answer.
  ///   - time: Measures ages.
  ///
  /// - Demand: Passes up.
  /// - Failure: The upstream's.
  /// - Threads: Where the upstream sends; a value is kept before it is delivered.
  public func remember<Key>(
    in store: LastGood<Key, Output>,
    for key: Key,
    time: TimeSource = .current
  ) -> Publishers.HandleEvents<Self> {
    handleEvents(receiveOutput: { store.remember($0, for: key, at: time.now) })
  }

  /// Delivers the last good value in place of a failure, and says of every value where it comes from.
  ///
  ///     request
  ///       .remember(in: forecasts, for: city)
  ///       .fallback(to: forecasts, for: city)
  ///       .map { answer in
  ///         Screen(answer.value, note: answer.age.map { "saved copy, \($0.minutes) minutes old" })
  ///       }
  ///
  /// - Parameters:
  ///   - store: Where values are kept; asked when a failure comes.
  ///   - key: What the values answer.
  ///   - maxAge: Beyond which age a kept value is of no use; `nil` takes any.
  ///   - policy: For which failures.
  ///   - time: Measures ages.
  ///
  /// - Demand: Passes up. The kept value is only delivered when one is requested.
  /// - Failure: The upstream's, where the policy does not cover it or no value is kept.
  /// - Threads: Where the upstream sends; a value that waited for a request comes where the request is made, and one from a
  ///   storage on the global executor.
  public func fallback<Key>(
    to store: LastGood<Key, Output>,
    for key: Key,
    maxAge: Duration? = nil,
    _ policy: FallbackPolicy<Failure> = FallbackPolicy(),
    time: TimeSource = .current
  ) -> Publishers.Recover<Publishers.Map<Self, Sourced<Output>>, AnyPublisher<Sourced<Output>, Failure>> {
    map { Sourced($0, from: .fresh) }
      .recover { error in
        if store.storage == nil {
          let saved = store.value(for: key, maxAge: maxAge, at: time.now)
          return store.answer(saved, after: error, policy).map { Result.Publisher($0).eraseToAnyPublisher() }
        }
        // Looked up at once: a failure that stays one waits for no request.
        return Publishers.Create<Sourced<Output>, Failure>("LastGood") { emitter in
          RunningTask(
            Task {
              let saved = await store.latestValue(for: key, maxAge: maxAge, at: time.now)
              emitter.end(with: store.answer(saved, after: error, policy).map { .success($0) } ?? .failure(error))
            }
          )
        }
        .eraseToAnyPublisher()
      }
  }
}

extension LastGood {
  /// Runs an asynchronous function and keeps what it returns; if it fails, returns what was kept.
  ///
  ///     let forecast = try await forecasts.run(for: city) { try await client.forecast(for: city) }
  ///
  /// - Parameters:
  ///   - key: What the function answers.
  ///   - maxAge: Beyond which age a kept value is of no use; `nil` takes any.
  ///   - policy: For which failures.
  ///   - time: Measures ages.
  ///   - operation: The call.
  /// - Returns: The answer, and where it comes from.
  /// - Throws: What the function throws, where the policy does not cover it, nothing is kept or the task is cancelled.
  ///   `CancellationError` if the task was cancelled before, where the type of failures has a place for it.
  @inlinable
  public nonisolated(nonsending) func run<Failure: Error>(
    for key: Key,
    maxAge: Duration? = nil,
    _ policy: FallbackPolicy<Failure> = FallbackPolicy<Failure>(),
    time: TimeSource = .current,
    _ operation: nonisolated(nonsending) () async throws(Failure) -> Value
  ) async throws(Failure) -> Sourced<Value> {
    if Task.isCancelled, let cancel = CancellationError() as? Failure { throw cancel }
    do {
      let value = try await operation()
      remember(value, for: key, at: time.now)
      return Sourced(value, from: .fresh)
    } catch {
      guard !Task.isCancelled, !isOverdueWait(error) else { throw error }
      let saved = await latestValue(for: key, maxAge: maxAge, at: time.now)
      guard !Task.isCancelled, let answer = answer(saved, after: error, policy), !Task.isCancelled else { throw error }
      return answer
    }
  }

  /// What stands in for an answer that failed.
  @usableFromInline
  func answer<Failure: Error>(
    _ saved: Saved?,
    after error: Failure,
    _ policy: FallbackPolicy<Failure>
  ) -> Sourced<Value>? {
    // Looked up first, so that the event tells of a fallback only where there is one.
    guard let saved, policy.covers(error) else { return nil }
    return Sourced(saved.value, from: .saved(age: saved.age, reason: error))
  }
}
