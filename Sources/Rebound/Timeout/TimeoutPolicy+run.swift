extension TimeoutPolicy {
  /// Runs an asynchronous function, and cancels it when a limit of time is reached.
  ///
  ///     let forecast = try await TimeoutPolicy.attempt(.seconds(10)).run { try await client.forecast(for: city) }
  ///
  /// The function runs in a task of its own, a child of the caller's, with ``Deadline/current`` set. When a limit is
  /// reached that task is cancelled, and waited for: a function that does not heed a cancel is not left behind, and keeps
  /// the caller waiting. What it returns after that is dropped, and what it throws goes to ``DroppedErrors``.
  ///
  /// A function returns once, so the limits for the first value and between values count from its start, too.
  ///
  /// - Parameters:
  ///   - clock: Measures time and waits.
  ///   - isolation: The caller's.
  ///   - operation: What is to be done in time.
  /// - Returns: What the function returns.
  /// - Throws: ``TimedOut`` when a limit is reached, unless the caller's task was cancelled before; otherwise what the
  ///   function throws.
  public func run<Value: Sendable, C: Clock>(
    clock: C = ContinuousClock(),
    isolation: isolated (any Actor)? = #isolation,
    _ operation: @escaping @Sendable () async throws -> Value
  ) async throws -> Value where C.Duration == Duration {
    let start = clock.now
    let limit: Duration
    switch verdict(after: .zero) {
    case .wait(let until): limit = until
    case .rest: limit = .longestDelay
    case .expired(let error):
      // A limit of zero: nothing is begun that has no time.
      try Task.checkCancellation()
      observer?(.timedOut(error))
      throw error
    }
    let deadline = Deadline(in: limit, on: clock).nearer(Deadline.current)
    let result = await withTaskGroup(of: RaceResult<Value>.self, isolation: isolation) {
      group -> Result<Value, any Error> in
      group.addTask {
        do {
          return .value(try await Deadline.$current.withValue(deadline) { try await operation() })
        } catch {
          return .failure(error)
        }
      }
      group.addTask {
        do {
          try await clock.sleep(until: start.advanced(by: limit), tolerance: nil)
          return .timeIsUp
        } catch {
          return .timerStopped
        }
      }
      var expiry: TimedOut?
      var outcome: Result<Value, any Error>?
      while let result = await group.next() {
        switch result {
        case .timerStopped:
          break
        case .timeIsUp:
          // The caller's cancel came first: that is no timeout.
          guard outcome == nil, !Task.isCancelled else { break }
          if case .expired(let error) = verdict(after: max(start.duration(to: clock.now), limit)) {
            observer?(.timedOut(error))
            expiry = error
          }
          group.cancelAll()
        case .value(let value):
          if expiry == nil { outcome = .success(value) }
          group.cancelAll()
        case .failure(let error):
          if expiry == nil { outcome = .failure(error) } else { DroppedErrors.report(error, by: "TimeoutPolicy") }
          group.cancelAll()
        }
      }
      if let expiry { return .failure(expiry) }
      // One of the two has ended it.
      return outcome ?? .failure(CancellationError())
    }
    return try result.get()
  }

  /// A function is waited for from its start, and returns once.
  private func verdict(after elapsed: Duration) -> TimeoutMachine.Verdict {
    TimeoutMachine(self).verdict(.init(elapsed: elapsed, waitingSince: .zero))
  }
}

private enum RaceResult<Value: Sendable>: Sendable {
  case value(Value)
  case failure(any Error)
  case timeIsUp
  case timerStopped
}
