extension FallbackPolicy {
  /// Runs an asynchronous function, and another one in its place if it fails.
  ///
  ///     let forecast = try await policy.run { () throws(NetworkFailure) in
  ///       try await client.forecast(for: city)
  ///     } fallback: { _ in .empty }
  ///
  /// Both run where the caller does.
  ///
  /// - Parameters:
  ///   - operation: The call.
  ///   - replacement: Gets the failure; called if the policy covers it, the task is not cancelled, and it is not the
  ///     end of a wait of a policy whose ``Deadline/current`` is over.
  /// - Returns: What the first one returned that did not fail.
  /// - Throws: What the function throws, where there is no fallback; `CancellationError` if the task was cancelled before;
  ///   otherwise ``FallbackFailed`` with both errors, or what the
  ///   fallback throws if that is a cancel or the end of such a wait.
  public nonisolated(nonsending) func run<Value>(
    _ operation: nonisolated(nonsending) () async throws(Failure) -> Value,
    fallback replacement: nonisolated(nonsending) (Failure) async throws -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    let original: Failure
    do { return try await operation() } catch { original = error }
    // Once more behind it: whoever hears of a fallback may cancel.
    guard !Task.isCancelled, covers(original), !Task.isCancelled else { throw original }
    do {
      return try await ForeignCall.left { try await replacement(original) }
    } catch {
      replacementFailed(error, after: original)
      throw FallbackFailed.replacing(original, with: error)
    }
  }
}
