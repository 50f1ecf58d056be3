#if Redis
  extension Fleet {
    /// Asks the server in an asynchronous function.
    ///
    /// - Parameters:
    ///   - command: What to ask.
    ///   - late: Gets an answer that came behind the bound, so that what was granted can be given back.
    /// - Returns: The answer; `nil` if the member is to decide by itself.
    nonisolated(nonsending) func ask(
      _ command: RedisCommand,
      late: (@Sendable (RedisReply) -> Void)? = nil
    ) async -> RedisReply? {
      guard isJoined else { return nil }
      return answer(of: await loop.send(command, limit: settings.bound, late: late))
    }

    /// Asks the server in an asynchronous function, which a cancel of the task ends.
    ///
    /// - Parameters:
    ///   - command: What to ask.
    ///   - late: Gets an answer that came behind the bound or a cancel, so that what was granted can be given back.
    /// - Returns: The answer; `nil` if the member is to decide by itself.
    nonisolated(nonsending) func askUntilCancelled(
      _ command: RedisCommand,
      late: (@Sendable (RedisReply) -> Void)? = nil
    ) async throws(CancellationError) -> RedisReply? {
      guard isJoined else { return nil }
      let outcome = await loop.send(
        command,
        limit: settings.bound,
        isCancellable: true,
        late: late
      )
      if case .failure(.cancelled) = outcome { throw CancellationError() }
      return answer(of: outcome)
    }
  }
#endif
