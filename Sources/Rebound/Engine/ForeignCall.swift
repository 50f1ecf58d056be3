/// The call of a client that is not this package's, for the stages of the pipeline that runs it.
package enum ForeignCall {
  /// What the stages know of it; `nil` for none.
  @TaskLocal package static var current: (any Sendable)?

  /// Does what is no part of the call, though its pipeline begins it: what may be cut off there is another call.
  static func left<Result>(_ operation: () throws -> Result) rethrows -> Result {
    // Setting one allocates.
    if current == nil { return try operation() }
    return try $current.withValue(nil, operation: operation)
  }

  /// The same for an asynchronous function.
  nonisolated(nonsending) static func left<Result, Failure: Error>(
    _ operation: nonisolated(nonsending) () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    if current == nil { return try await operation() }
    let result: Swift.Result<Result, Failure> = await $current.withValue(nil) {
      do throws(Failure) { return .success(try await operation()) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
