import Combine
import Rebound
import ReboundLoadBalancing
import ReboundTelemetry

/// One execution under each policy: all that the benchmarks call of Rebound's API, so that a change of the API is
/// followed in this file alone.
///
/// Policies, and what they share, are made once; an execution is what a call of a function below does.
struct PolicyRows: Sendable {
  /// Why a publisher of these rows could fail; none ends so.
  typealias Failure = any Error

  let retry = RetryPolicy<Failure>(clamping: 2, backoff: .immediate)
  let retryWithBudget: RetryPolicy<Failure>
  let breaker: CircuitBreaker
  let breakers: Keyed<String, CircuitBreaker>
  let bulkhead: Bulkhead
  let adaptiveBulkhead: Bulkhead
  private let retryAfterPauses = RetryPolicy<Failure>(clamping: 2, backoff: .constant(.seconds(1)))
  private let timeThatIsOver = TimeSource(ImmediateScheduler.shared)
  let limiter: RateLimiter
  let timeout: TimeoutPolicy
  let cooperative: TimeoutPolicy
  let hedge: HedgePolicy<Failure>
  let balancer: LoadBalancer<Int>
  let fallback = FallbackPolicy<Failure>()
  let once = RepeatPolicy(clamping: 0)
  let chaos = Chaos<Int, Failure>().fault(at: 0) { Refusal() }.latency(at: 0, .seconds(1))
  let lastGood: LastGood<Int, Int>
  let cache: Cache<Int, Int, Failure>
  let keys: IdempotencyKeys<Int>
  let coalescer = Coalescer<Int, Int, Failure>()
  let refresher = TokenRefresher<Int> { _ in .rejected(Refusal()) }
  let throttle = AdaptiveThrottle("benchmark")
  let detector = MetastabilityDetector("benchmark")
  let pipeline: Pipeline<Int>
  let cooperativePipeline: Pipeline<Int>
  /// The same, whose decisions nobody listens to.
  let unheardPipeline: Pipeline<Int>
  /// The same, whose decisions are followed by lines that nobody reads.
  let unreadPipeline: Pipeline<Int>
  /// Places and tokens that never run out, without events, and with some that nobody listens to.
  let admission: Pipeline<Int>
  let unheardAdmission: Pipeline<Int>
  private let lines = JSONLines { $0 }

  init() throws {
    retryWithBudget = retry.within(try .ratio(0.2))
    breaker = CircuitBreaker("benchmark", policy: try CircuitBreakerPolicy())
    let breakerPolicy = try CircuitBreakerPolicy()
    breakers = Keyed { CircuitBreaker($0, policy: breakerPolicy) }
    bulkhead = Bulkhead("benchmark", policy: try BulkheadPolicy(maxConcurrent: 10))
    adaptiveBulkhead = Bulkhead(
      "benchmark",
      policy: try BulkheadPolicy(maxConcurrent: 10),
      adapting: try .gradient(),
      overloadedWhen: { _ in true }
    )
    // So many that no execution ever waits.
    limiter = RateLimiter("benchmark", policy: try .tokenBucket(1_000_000, per: .microseconds(1)))
    timeout = try TimeoutPolicy(total: .seconds(10))
    let cooperative = timeout.cooperative()
    self.cooperative = cooperative
    hedge = try HedgePolicy(delay: .after(.seconds(1)))
    balancer = try LoadBalancer("benchmark", among: Array(0..<10))
    lastGood = try LastGood(capacity: 10)
    cache = Cache(policy: try CachePolicy(fresh: .seconds(3_600)))
    keys = try IdempotencyKeys(keptFor: .seconds(3_600))
    refresher.signIn(with: 1)
    let breakerOfPipeline = CircuitBreaker("pipeline", policy: try CircuitBreakerPolicy())
    pipeline = try Pipeline<Int>("benchmark") {
      Timeout(total: .seconds(10))
      Retry(.standard)
      breakerOfPipeline
    }
    cooperativePipeline = try Pipeline<Int>("benchmark") {
      Timeout(cooperative)
      Retry(.standard)
      breakerOfPipeline
    }
    unheardPipeline = try Pipeline<Int>("benchmark", events: PolicyEvents()) {
      Timeout(cooperative)
      Retry(.standard)
      breakerOfPipeline
    }
    func admitting(_ events: PolicyEvents?) throws -> Pipeline<Int> {
      let places = Bulkhead("admission", policy: try BulkheadPolicy(maxConcurrent: 10))
      let tokens = RateLimiter("admission", policy: try .tokenBucket(1_000_000, per: .microseconds(1)))
      return try Pipeline<Int>("admission", events: events) {
        places
        tokens
      }
    }
    admission = try admitting(nil)
    unheardAdmission = try admitting(PolicyEvents())
    let events = PolicyEvents()
    lines.follow(events)
    unreadPipeline = try Pipeline<Int>("benchmark", events: events) {
      Timeout(cooperative)
      Retry(.standard)
      breakerOfPipeline
    }
  }
}

// MARK: Async functions

extension PolicyRows {
  /// What is run under the policies: returns at once, and needs no memory.
  @inline(never)
  static func answer() async throws -> Int { 1 }

  func plain() async throws -> Int {
    try await Self.answer()
  }

  func retryOfSuccess() async throws -> Int {
    try await retry.run { try await Self.answer() }
  }

  func retryOfTwoFailures() async throws -> Int {
    var attempts = 0
    return try await retry.run {
      attempts += 1
      if attempts < 3 { throw Refusal() }
      return attempts
    }
  }

  func retryWithinBudget() async throws -> Int {
    try await retryWithBudget.run { try await Self.answer() }
  }

  func closedBreaker() async throws -> Int {
    try await breaker.run { try await Self.answer() }
  }

  func closedBreakerOfKey() async throws -> Int {
    try await breakers["api.example"].run { try await Self.answer() }
  }

  func freeBulkhead() async throws -> Int {
    try await bulkhead.run { try await Self.answer() }
  }

  func adaptingBulkhead() async throws -> Int {
    try await adaptiveBulkhead.run { try await Self.answer() }
  }

  func limiterWithTokens() async throws -> Int {
    try await limiter.run { try await Self.answer() }
  }

  func timeoutNotReached() async throws -> Int {
    try await timeout.run { try await Self.answer() }
  }

  func balanced() async throws -> Int {
    try await balancer.makeCall().run { _ in try await Self.answer() }
  }

  func fallbackNotNeeded() async throws -> Int {
    try await fallback.run({ try await Self.answer() }, fallback: { _ in 0 })
  }

  func onlyOnce() async throws -> Int {
    try await once.run { try await Self.answer() }
  }

  func sparedByChaos() async throws -> Int {
    try await chaos.run { try await Self.answer() }
  }

  func rememberedAnswer() async throws -> Int {
    try await lastGood.run(for: 1) { try await Self.answer() }.value
  }

  func freshOfCache() async throws -> Int {
    try await cache.value(for: 1) { try await Self.answer() }.value
  }

  func firstOfKey() async throws -> Int {
    keys.forget("order")
    return try await keys.run("order") { try await Self.answer() }
  }

  func answeredKey() async throws -> Int {
    try await keys.run("done") { try await Self.answer() }
  }

  func coalescedAlone() async throws -> Int {
    try await coalescer.run(1) { try await Self.answer() }
  }

  func withCredential() async throws -> Int {
    try await refresher.run(when: { _ in false }) { _ in try await Self.answer() }
  }

  func throttleThatAccepts() async throws -> Int {
    try await throttle.run { try await Self.answer() }
  }

  func watchedByDetector() async throws -> Int {
    try await detector.run { try await Self.answer() }
  }

  func cooperativeTimeout() async throws -> Int {
    try await cooperative.run { try await Self.answer() }
  }

  func cooperativeWholePipeline() async throws -> Int {
    try await cooperativePipeline.run { try await Self.answer() }
  }

  func unheardWholePipeline() async throws -> Int {
    try await unheardPipeline.run { try await Self.answer() }
  }

  func unreadWholePipeline() async throws -> Int {
    try await unreadPipeline.run { try await Self.answer() }
  }

  func admitted() async throws -> Int {
    try await admission.run { try await Self.answer() }
  }

  func unheardAdmitted() async throws -> Int {
    try await unheardAdmission.run { try await Self.answer() }
  }

  func hedgeWonByFirst() async throws -> Int {
    try await hedge.run { _ in try await Self.answer() }
  }

  func wholePipeline() async throws -> Int {
    try await pipeline.run { try await Self.answer() }
  }
}

/// What the attempts fail with that are retried.
private struct Refusal: Error {}

// MARK: Publishers

extension PolicyRows {
  /// What the policies stand around: one value, at once.
  static var just: some Publisher<Int, Failure> { Just(1).setFailureType(to: Failure.self) }

  func retried() -> some Publisher<Int, Failure> {
    Self.just.retry(retry)
  }

  /// Three attempts, which fail, and two pauses, each of which is over at once.
  func retriedTwice() -> some Publisher<Int, Failure> {
    Fail(outputType: Int.self, failure: Refusal()).retry(retryAfterPauses, time: timeThatIsOver)
      .replaceError(with: 1).setFailureType(to: Failure.self)
  }

  func protectedByBreaker() -> some Publisher<Int, Failure> {
    Self.just.protected(by: breaker)
  }

  func limitedByBulkhead() -> some Publisher<Int, Failure> {
    Self.just.limited(by: bulkhead)
  }

  func rateLimited() -> some Publisher<Int, Failure> {
    Self.just.rateLimited(by: limiter)
  }

  func timedOut() -> some Publisher<Int, Failure> {
    Self.just.timeout(timeout)
  }

  func hedged() -> some Publisher<Int, Failure> {
    Self.just.hedged(hedge)
  }

  func protectedByPipeline() -> some Publisher<Int, Failure> {
    Self.just.protected(by: pipeline)
  }
}
