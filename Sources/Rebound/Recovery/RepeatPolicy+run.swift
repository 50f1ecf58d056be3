extension RepeatPolicy {
  /// Runs an asynchronous function, and again after it returns, as this policy says.
  ///
  ///     try await RepeatPolicy(pause: .constant(.seconds(30))).run { try await screen.refresh() }
  ///
  /// The decisions, pauses and events are those of a publisher that is repeated with the same policy.
  ///
  /// - Parameters:
  ///   - clock: Waits.
  ///   - isolation: The caller's.
  ///   - operation: One run.
  /// - Throws: What a run throws, which ends it; `CancellationError` when the task is cancelled between two runs.
  public func run<C: Clock>(
    clock: C = ContinuousClock(),
    isolation: isolated (any Actor)? = #isolation,
    _ operation: () async throws -> Void
  ) async throws where C.Duration == Duration {
    var machine = RepeatMachine(self)
    while true {
      try await operation()
      guard let delay = machine.finished() else { return }
      if delay > .zero { try await clock.sleep(for: delay) } else { try Task.checkCancellation() }
    }
  }
}
