#if Redis
  extension Fleet {
    /// Asks the server in an asynchronous function.
    ///
    /// - Parameters:
    ///   - command: What to ask.
    ///   - isolation: The caller's.
    /// - Returns: The answer; `nil` if the member is to decide by itself.
    func ask(_ command: RedisCommand, isolation: isolated (any Actor)? = #isolation) async -> RedisReply? {
      guard isJoined else { return nil }
      return answer(of: await loop.send(command, limit: settings.bound, isolation: isolation))
    }

    /// Asks the server in an asynchronous function, which a cancel of the task ends.
    ///
    /// - Parameters:
    ///   - command: What to ask.
    ///   - late: Gets an answer that came behind the bound or a cancel, so that what was granted can be given back.
    ///   - isolation: The caller's.
    /// - Returns: The answer; `nil` if the member is to decide by itself.
    func askUntilCancelled(
      _ command: RedisCommand,
      late: (@Sendable (RedisReply) -> Void)? = nil,
      isolation: isolated (any Actor)? = #isolation
    ) async throws(CancellationError) -> RedisReply? {
      guard isJoined else { return nil }
      let outcome = await loop.send(
        command,
        limit: settings.bound,
        isCancellable: true,
        late: late,
        isolation: isolation
      )
      if case .failure(.cancelled) = outcome { throw CancellationError() }
      return answer(of: outcome)
    }
  }
#endif
