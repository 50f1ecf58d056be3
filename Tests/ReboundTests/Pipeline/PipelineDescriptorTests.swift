import Combine
import Expectations
import Rebound
import Testing

@Suite("PipelineDescriptor")
struct PipelineDescriptorTests {
  @Test("describes every kind of stage, outermost first")
  func snapshot() throws {
    let session = TokenRefresher<String> { _ in .refreshed("new") }
    let budget = try RetryBudget.bucket()
    let pipeline = try Pipeline<Int>("weather") {
      Fallback(to: 0)
      CacheFirst(Cache<String, Int, any Error>(policy: try CachePolicy(fresh: .seconds(60))), for: "oslo")
      SingleFlight(by: Coalescer<String, Int, any Error>(), for: "oslo")
      Bulkhead("search", policy: try BulkheadPolicy(maxConcurrent: 4))
      RateLimiter("quota", policy: try .tokenBucket(10, per: .seconds(1)))
      Timeout(total: .seconds(30))
      Retry(
        try RetryPolicy(maxRetries: 3, backoff: .constant(.seconds(1)).jittered(.equal), deadline: .seconds(20)),
        when: { $0 is TimedOut },
        budget: budget
      )
      Hedge(budget: budget)
      Authentication(by: session) { _ in false }
      CircuitBreaker("host", policy: try CircuitBreakerPolicy())
      Timeout(attempt: .seconds(5))
      Chaos<Int, any Error>()
    }
    expectEqual(
      pipeline.description,
      """
      weather
        fallback (when: all failures)
        cache (key: oslo)
        coalescing (key: oslo)
        bulkhead "search"
        rate limiter "quota"
        timeout (total: 30.0 seconds)
        retry (maxRetries: 3, backoff: constant 1.0 seconds, equal jitter, deadline: 20.0 seconds, when: some failures, \
      budget: shared)
        hedge (maxHedges: 1, delay: 2.0 seconds, budget: shared)
        authentication
        circuit breaker "host"
        timeout (attempt: 5.0 seconds)
        chaos
      """
    )
    expectEqual(
      pipeline.descriptor.kinds,
      [
        .fallback, .cache, .coalescing, .bulkhead, .rateLimiter, .timeout, .retry, .hedge, .authentication,
        .circuitBreaker, .timeout, .chaos,
      ]
    )
  }

  @Test("is a value that tests compare")
  func compares() throws {
    let pipeline = try Pipeline<Int>("orders", repetition: .harmful) { Timeout(total: .seconds(1)) }
    let stage = StageDescriptor(.timeout, parameters: [.init("total", "1.0 seconds")])
    expectEqual(pipeline.descriptor, PipelineDescriptor(name: "orders", repetition: .harmful, stages: [stage]))
    #expect(pipeline.description.hasPrefix("orders (calls must not be repeated)\n"))
  }

  @Test("leaves stages out whose condition does not hold", arguments: [true, false])
  func conditions(isHedged: Bool) throws {
    let pipeline = try Pipeline<Int>("weather") {
      Timeout(total: .seconds(9))
      if isHedged { Hedge() }
      if isHedged { Timeout(attempt: .seconds(1)) } else { Timeout(attempt: .seconds(2)) }
    }
    let kinds: [PolicyKind] = isHedged ? [.timeout, .hedge, .timeout] : [.timeout, .timeout]
    expectEqual(pipeline.descriptor.kinds, kinds)
    expectEqual(pipeline.descriptor.stages.last?.parameters.first?.value, isHedged ? "1.0 seconds" : "2.0 seconds")
  }
}
