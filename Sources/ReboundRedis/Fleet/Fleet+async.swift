#if Redis
  extension Fleet {
    /// Asks the server in an asynchronous function.
    ///
    /// - Returns: The answer; `nil` if the member is to decide by itself.
    func ask(_ command: RedisCommand) async -> RedisReply? {
      await withCheckedContinuation { continuation in
        ask(command) { continuation.resume(returning: $0) }
      }
    }
  }
#endif
