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
  nonisolated(nonsending) static func left<Result>(
    _ operation: nonisolated(nonsending) () async throws -> Result
  ) async throws -> Result {
    if current == nil { return try await operation() }
    return try await $current.withValue(nil, operation: operation)
  }
}
