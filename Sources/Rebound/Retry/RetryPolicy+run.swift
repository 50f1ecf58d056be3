extension RetryPolicy {
  /// Runs an asynchronous function, and again after a failure, as this policy says.
  ///
  ///     let forecast = try await policy.run { () async throws(NetworkFailure) in try await client.forecast(for: city) }
  ///
  /// The decisions, delays and events are those of a publisher that is retried with the same policy. Its function runs
  /// where the caller does. A cancelled task is not a failure: nothing is retried, nothing is told to the observer.
  ///
  /// ``Deadline/current`` is heeded: no wait begins that would end after it, and the last error is thrown at once.
  ///
  /// - Parameters:
  ///   - clock: Measures time and waits.
  ///   - isolation: The caller's.
  ///   - operation: One attempt.
  /// - Returns: What the first attempt returned that did not fail.
  /// - Throws: What the last attempt threw, or what the policy put in its place; `CancellationError` when the task is
  ///   cancelled during a wait.
  public func run<Value, C: Clock>(
    clock: C = ContinuousClock(),
    isolation: isolated (any Actor)? = #isolation,
    _ operation: () async throws(Failure) -> Value
  ) async throws -> Value where C.Duration == Duration {
    try await run(rejecting: { _ in nil }, clock: clock, isolation: isolation, operation)
  }

  /// Runs an asynchronous function, and again after a failure or a value that counts as one, as this policy says.
  ///
  /// See ``run(clock:isolation:_:)``.
  ///
  /// - Parameters:
  ///   - rejection: The failure that a value stands for; `nil` accepts the value.
  ///   - lastValue: What comes of a value that is rejected and not retried.
  ///   - clock: Measures time and waits.
  ///   - isolation: The caller's.
  ///   - operation: One attempt.
  public func run<Value, C: Clock>(
    rejecting rejection: (Value) -> Failure?,
    whenExhausted lastValue: RejectedValue = .fails,
    clock: C = ContinuousClock(),
    isolation: isolated (any Actor)? = #isolation,
    _ operation: () async throws(Failure) -> Value
  ) async throws -> Value where C.Duration == Duration {
    let start = clock.now
    var machine = RetryMachine(Deadline.current.map { within($0) } ?? self)
    // Whatever else ends this, a cancel included, gives back what was granted.
    defer { machine.end(succeeded: false) }
    while true {
      let error: Failure
      var rejected: Value?
      do {
        let value = try await operation()
        guard let reason = rejection(value) else {
          machine.end(succeeded: true)
          return value
        }
        (error, rejected) = (reason, value)
      } catch let thrown {
        error = thrown
      }
      if error is CancellationError || Task.isCancelled { throw error }
      switch machine.failed(with: error, elapsed: start.duration(to: clock.now), delivered: 0) {
      case .stop(let final):
        if lastValue == .isDelivered, let rejected { return rejected }
        throw final
      case .retry(let delay):
        if delay > .zero { try await clock.sleep(for: delay) } else { try Task.checkCancellation() }
        machine.retryBegins()
      }
    }
  }
}
