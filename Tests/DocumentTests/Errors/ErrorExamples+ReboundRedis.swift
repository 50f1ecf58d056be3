#if Redis
  @testable import ReboundRedis

  extension ErrorExamples {
    static let redis: ErrorExamples? = ErrorExamples(
      module: "ReboundRedis",
      errors: [
        ("``RedisFailure/disconnected``", RedisFailure.disconnected),
        ("``RedisFailure/connection(_:)``", RedisFailure.connection("Connection refused")),
        ("``RedisFailure/timedOut(after:)``", RedisFailure.timedOut(after: .seconds(1))),
        ("``RedisFailure/overloaded(waiting:)``", RedisFailure.overloaded(waiting: 1_000)),
        ("``RedisFailure/refused(_:)``", RedisFailure.refused("NOPERM no permissions")),
        ("``RedisFailure/moved(_:)``", RedisFailure.moved("MOVED 3999 10.0.0.2:6379")),
        ("``RedisFailure/unexpected(_:)``", RedisFailure.unexpected("HTTP/1.1 400")),
        ("``RedisFailure/cancelled``", RedisFailure.cancelled), ("``RedisFailure/closed``", RedisFailure.closed),
        ("``LeaseLost``", LeaseLost()),
      ]
    )
  }
#else
  extension ErrorExamples {
    /// There is none without the trait.
    static let redis: ErrorExamples? = nil
  }
#endif
