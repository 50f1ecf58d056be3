#if Redis
  extension RedisLoop {
    /// Sends a command, and waits for the answer.
    ///
    /// - Parameters:
    ///   - command: What to ask.
    ///   - limit: How long the answer may take.
    ///   - isCancellable: Whether a cancel of the task ends the wait at once. Not for what leaves something behind that only
    ///     the answer tells of.
    ///   - late: Gets an answer that came behind the limit or a cancel.
    package nonisolated(nonsending) func send(
      _ command: RedisCommand,
      limit: Duration,
      isCancellable: Bool = false,
      late: (@Sendable (RedisReply) -> Void)? = nil
    ) async -> RedisRequest.Outcome {
      let request = RedisRequest(command, limit: limit, late: late)
      if isCancellable {
        await withTaskCancellationHandler {
          await answer(request)
        } onCancel: {
          cancel(request)
        }
      } else {
        await answer(request)
      }
      return request.outcome
    }

    private nonisolated(nonsending) func answer(_ request: RedisRequest) async {
      // Resumed once, see there.
      await withUnsafeContinuation { continuation in
        request.resume(continuation)
        post(request)
      }
    }
  }
#endif
