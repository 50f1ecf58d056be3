#if Redis
  import Rebound

  @testable import ReboundRedis

  /// A connection of a test's own, and what it has told.
  final class Link: Sendable {
    let loop: RedisLoop
    let statuses = Log<RedisLoop.Status>()

    init(
      _ address: RedisAddress,
      scripts: [RedisScript] = [],
      connectLimit: Duration = .seconds(60),
      silenceLimit: Duration = .seconds(60),
      maxWaiting: Int = 100_000,
      reconnect: RetryPolicy<RedisFailure> = RetryPolicy(clamping: nil, backoff: .constant(.milliseconds(5)))
    ) {
      loop = RedisLoop(
        RedisLoop.Settings(
          address: address,
          connectLimit: connectLimit,
          silenceLimit: silenceLimit,
          maxWaiting: maxWaiting,
          reconnect: reconnect,
          scripts: scripts
        )
      ) { [statuses] in statuses.write($0) }
      loop.start()
    }

    deinit {
      loop.close()
    }

    /// A connection that is ready.
    static func ready(_ address: RedisAddress, scripts: [RedisScript] = []) async -> Link {
      let link = Link(address, scripts: scripts)
      await link.untilReady(1)
      return link
    }

    /// Returns when it has been ready that many times.
    func untilReady(_ times: Int) async {
      var count = 1
      while true {
        await statuses.until(count)
        // One look: what is told between two would be waited for once more.
        let told = statuses.entries
        if told.count(where: { if case .ready = $0 { true } else { false } }) >= times { return }
        count = told.count + 1
      }
    }

    func send(
      _ command: RedisCommand,
      limit: Duration = .seconds(60),
      late: (@Sendable (RedisReply) -> Void)? = nil
    ) async -> Result<RedisReply, RedisFailure> {
      await withCheckedContinuation { continuation in
        loop.post(RedisRequest(command, limit: limit, late: late) { continuation.resume(returning: $0) })
      }
    }
  }
#endif
