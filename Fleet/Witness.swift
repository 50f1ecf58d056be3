#if Redis
  import Rebound
  import ReboundRedis

  /// A run has shown something else than what was promised.
  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  /// A connection of a run's own, for what it notes and counts on the server.
  final class Witness: Sendable {
    private let loop: RedisLoop

    init(port: Int) async throws {
      let (ready, continuation) = AsyncStream<Void>.makeStream()
      loop = RedisLoop(
        .init(
          address: .tcp("127.0.0.1", port: port),
          connectLimit: .seconds(5),
          silenceLimit: .seconds(60),
          maxWaiting: 100_000,
          reconnect: RetryPolicy(clamping: nil, backoff: .constant(.milliseconds(20))),
          scripts: []
        )
      ) { status in
        if case .ready = status { continuation.finish() }
      }
      loop.start()
      for await _ in ready {}
    }

    deinit {
      loop.close()
    }

    func ask(_ words: String...) async throws -> RedisReply {
      guard let first = words.first else { throw Failed(description: "no command") }
      var command = RedisCommand(first)
      for word in words.dropFirst() { command.add(word) }
      return try await loop.send(command, limit: .seconds(60)).get()
    }

    /// A list of numbers.
    func numbers(_ key: String) async throws -> [Int] {
      guard case .array(let items) = try await ask("LRANGE", key, "0", "-1") else {
        throw Failed(description: "\(key) is no list")
      }
      return items.compactMap { item in
        if case .bytes(let bytes) = item { Int(String(decoding: bytes, as: UTF8.self)) } else { nil }
      }
    }
  }
#endif
