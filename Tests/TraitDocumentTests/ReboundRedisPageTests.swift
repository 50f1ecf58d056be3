#if Redis
  import Rebound
  import ReboundRedis
  import Testing

  /// The code of Sources/ReboundRedis/ReboundRedis.docc/ReboundRedis.md, as it stands there.
  @Suite("The code of the page on ReboundRedis")
  struct ReboundRedisPageTests {
    private struct Station {
      func degrees() async throws -> Int { 21 }
    }

    @Test("runs without a server, too")
    func overview() async throws {
      let (station, secret) = (Station(), "open sesame")

      let fleet = try Fleet("shop", at: .tcp("127.0.0.1", port: 6379, password: secret), instances: 10)
      let weather = try Pipeline<Int>("weather") {
        try fleet.rateLimiter("weather", policy: .tokenBucket(1_000, per: .seconds(1), burst: 1))
        try fleet.bulkhead("weather", policy: BulkheadPolicy(maxConcurrent: 40))
        Retry(.standard, budget: try fleet.budget("weather", ratio: 0.1))
        try fleet.circuitBreaker("weather", policy: .consecutive(5))
      }
      let degrees = try await weather.run { try await station.degrees() }

      #expect(degrees == 21)
    }

    @Test("goes by itself without the certificates that it is told to trust")
    func encryption() throws {
      let secret = "open sesame"

      let tls = RedisTLS(trusting: .file("/etc/redis/ca.pem"))
      let address = RedisAddress.tcp("redis.example.com", port: 6380, password: secret, tls: tls)
      let fleet = try Fleet("shop", at: address, instances: 10)

      #expect(!fleet.isJoined)
    }
  }
#endif
