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
    ///   - isolation: The caller's.
    package func send(
      _ command: RedisCommand,
      limit: Duration,
      isCancellable: Bool = false,
      late: (@Sendable (RedisReply) -> Void)? = nil,
      isolation: isolated (any Actor)? = #isolation
    ) async -> RedisRequest.Outcome {
      let request = RedisRequest(command, limit: limit, late: late)
      if isCancellable {
        await withTaskCancellationHandler {
          await answer(request, isolation: isolation)
        } onCancel: {
          cancel(request)
        }
      } else {
        await answer(request, isolation: isolation)
      }
      return request.outcome
    }

    private func answer(_ request: RedisRequest, isolation: isolated (any Actor)?) async {
      // Resumed once, see there.
      await withUnsafeContinuation { continuation in
        request.resume(continuation)
        post(request)
      }
    }
  }
#endif
