import Combine
import Rebound

extension WebAPIClient {
  /// The response of a request with what is known about it: where it comes from, status, header fields.
  ///
  ///     client.responses(for: request).map { $0.source.isStale ? Shown.savedCopy($0.value) : .upToDate($0.value) }
  ///
  /// - Parameters:
  ///   - request: What to ask for.
  ///   - progress: Told how much was sent and has come, on the transport's thread.
  public func responses<R: Request>(
    for request: R,
    progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) -> AnyPublisher<ParsedResponse<R.Response>, NetworkFailure> {
    delivered(detailedCalls(for: request, progress))
  }

  /// The response of a request with what is known about it, for an asynchronous function, which goes on where it was: it
  /// waits for no queue.
  ///
  ///     let response = try await client.response(of: request)
  ///     print(response.status, response.source, response.value)
  ///
  /// - Parameters:
  ///   - request: What to ask for.
  ///   - progress: Told how much was sent and has come, on the transport's thread.
  /// - Throws: As ``RequestExecutor/value(of:)``.
  public nonisolated(nonsending) func response<R: Request>(
    of request: R,
    progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) async throws(NetworkFailure) -> ParsedResponse<R.Response> {
    try await firstValue(from: detailedCalls(for: request, progress), of: request.operation)
  }

  private func detailedCalls<R: Request>(
    for request: R,
    _ progress: (@Sendable (TransferProgress) -> Void)?
  ) -> CallPublisher<ParsedResponse<R.Response>> {
    CallPublisher { () throws(NetworkFailure) in
      let parser = request.parser
      return Call(try begin(RequestParts(request, parser), observer(adding: progress))) { answer in
        ParsedResponse(value: try parser.parse(answer), answer: answer)
      }
    }
  }
}
