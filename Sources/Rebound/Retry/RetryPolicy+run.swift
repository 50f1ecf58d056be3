extension RetryPolicy {
  /// Runs an asynchronous function, and again after a failure or a value that counts as one, as this policy says.
  ///
  /// See `run(time:_:)` of ``Policy``.
  ///
  /// - Parameters:
  ///   - rejection: The failure that a value stands for; `nil` accepts the value.
  ///   - lastValue: What comes of a value that is rejected and not retried.
  ///   - time: Measures time and waits.
  ///   - operation: One attempt.
  public nonisolated(nonsending) func run<Value>(
    rejecting rejection: (Value) -> Failure?,
    whenExhausted lastValue: RejectedValue = .fails,
    time: TimeSource? = nil,
    _ operation: nonisolated(nonsending) () async throws(Failure) -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    var rejected: Value?
    do {
      return try await drive(ExecutionContext(time: time)) { () async throws(Failure) -> Value in
        rejected = nil
        let value = try await operation()
        guard let reason = rejection(value) else { return value }
        rejected = value
        throw reason
      }
    } catch {
      if lastValue == .isDelivered, let rejected, !isAbandonment(error) { return rejected }
      throw error
    }
  }
}
