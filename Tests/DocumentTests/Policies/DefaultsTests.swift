import Foundation
import Rebound
import ReboundLoadBalancing
import ReboundOutbox
import Testing

/// The defaults in the tables of Sources/Rebound/Rebound.docc/Policies, and of the first pages of modules, are those of the code.
@Suite("The defaults on the pages of policies")
struct DefaultsTests {
  private static let sources = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Sources")

  /// The file of a page: of the first one of a module, or of one on a policy.
  private static func file(of page: String) -> URL {
    sources.appendingPathComponent(
      page.hasPrefix("Rebound") ? "\(page)/\(page).docc/\(page).md" : "Rebound/Rebound.docc/Policies/\(page).md"
    )
  }

  /// Looks a default up on a page: the second cell of the row whose first cell names the setting.
  private func expect(
    _ page: String,
    _ setting: String,
    says text: String,
    _ holds: Bool,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let article = try String(contentsOf: Self.file(of: page), encoding: .utf8)
    let cells = article.split(separator: "\n").filter { $0.hasPrefix("| ") }
      .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
    let row = cells.first { $0.first?.contains(setting) ?? false }
    let cell = try #require(row?.dropFirst().first, "\(page) has no row for \(setting)", sourceLocation: location)
    #expect(cell.contains(text), "\(page): \(setting)", sourceLocation: location)
    #expect(holds, "\(page): \(setting)", sourceLocation: location)
  }

  @Test("of retries, timeouts and repetition")
  func recovery() throws {
    let retry = try RetryPolicy<any Error>()
    try expect("Retries", "`maxRetries`", says: "2,", retry.maxRetries == 2)
    let last = Array(retry.backoff.delays(random: .fixed(0.5)).prefix(10))
    try expect(
      "Retries",
      "`backoff`",
      says: "0.5 s, doubling, at most 20 s, full jitter",
      last[0] == .milliseconds(250)
    )
    #expect(last[1] == .milliseconds(500) && last[9] == .seconds(10))
    try expect("Retries", "`maxHint`", says: "120 s", retry.maxHint == .seconds(120))
    try expect("Retries", "`deadline`", says: "none", retry.deadline == nil)
    try expect("Retries", "`when`", says: "every failure", !retry.isConditional)
    let timeout = TimeoutPolicy.total(.seconds(1))
    try expect("Timeouts-and-deadlines", "cooperative()", says: "off", !timeout.isCooperative)
    try expect("Timeouts-and-deadlines", "`attempt`", says: "none", timeout.attempt == nil && timeout.name == nil)
    let repetition = try RepeatPolicy()
    try expect("Repetition", "`times`", says: "for ever", repetition.times == nil && repetition.interval == nil)
    try expect("Repetition", "`pause`", says: "none", Array(repetition.pause.delays().prefix(1)) == [.zero])
    let hedge = try HedgePolicy<any Error>()
    try expect("Hedging", "`maxHedges`", says: "1,", hedge.maxHedges == 1)
    #expect(LatencyRecorder().capacity == 200 && LatencyRecorder().minimumCount == 20)
  }

  @Test("of retry budgets")
  func budgets() throws {
    let ratio = try RetryBudget.ratio(0)
    try expect("Retry-budgets", ".ratio", says: "3 are always granted", ratio.snapshot().available == 3)
    try expect("Retry-budgets", ".bucket", says: "500 tokens, 5", try RetryBudget.bucket().snapshot().available == 100)
  }

  @Test("of what spares a service")
  func protection() throws {
    let breaker = try CircuitBreakerPolicy()
    let page = "Circuit-breakers"
    try expect(page, "`failureRatio`", says: "0.5 where no rule is named", breaker.failureRatio == 0.5)
    let named = try CircuitBreakerPolicy(consecutiveFailures: 3)
    try expect(page, "`failureRatio`", says: "else none", named.failureRatio == nil)
    try expect(page, "`consecutiveFailures`", says: "none", breaker.consecutiveFailures == nil)
    try expect(page, "`slowness`", says: "none", breaker.slowness == nil)
    try expect(page, "`minimumCalls`", says: "10", breaker.minimumCalls == 10)
    try expect(page, "`window`", says: "30 s", breaker.window == .time(.seconds(30)))
    try expect(page, "`openTime`", says: "30 s", breaker.openTime == .seconds(30))
    try expect(page, "`openGrowth`", says: "2, 300 s", breaker.openGrowth == 2 && breaker.maxOpenTime == .seconds(300))
    try expect(page, "`maxHint`", says: "an hour", breaker.maxHint == .seconds(3_600))
    try expect(page, "`openJitter`", says: "0", breaker.openJitter == 0)
    try expect(page, "`probes`", says: "1, 0.5", breaker.probes == 1 && breaker.probeFailureRatio == 0.5)
    let bulkhead = try BulkheadPolicy(maxConcurrent: 1)
    try expect("Bulkheads", "`maxQueue`", says: "0", bulkhead.maxQueue == 0)
    try expect("Bulkheads", "`maxWait`", says: "as long as it takes", bulkhead.maxWait == nil)
    try expect("Bulkheads", "`order`", says: "`.fifo`", bulkhead.order == .fifo)
    let aimd = try AdaptiveLimitPolicy.aimd()
    try expect("Adaptive-limits", ".aimd", says: "1…200, 0.9", aimd == .aimd(in: 1...200, decrease: 0.9, slow: nil))
    let gradient = try AdaptiveLimitPolicy.gradient()
    let figures = try AdaptiveLimitPolicy.gradient(in: 1...200, tolerance: 1.5, smoothing: 0.2, headroom: 4)
    try expect("Adaptive-limits", ".gradient", says: "1…200, 1.5, 0.2, 4", gradient == figures)
    let limiter = try RateLimiterPolicy.tokenBucket(2, per: .seconds(1))
    try expect("Rate-limiters", "`waiting", says: "refuses at once; 1,000", limiter.maxWait == .zero)
    #expect(limiter.maxQueue == 1_000)
    try expect("Rate-limiters", "`answering", says: "× 0.7", limiter.feedback.decrease == 0.7)
    try expect("Rate-limiters", "`maxHint`", says: "an hour", limiter.feedback.maxHint == .seconds(3_600))
    #expect(limiter.feedback.scale == 0.4 && limiter.feedback.floor == 0.01)
    let throttle = AdaptiveThrottlePolicy.standard
    try expect("Adaptive-throttles", "`factor`", says: "2", throttle.factor == 2)
    try expect("Adaptive-throttles", "`window`", says: "120 s", throttle.window == .seconds(120))
    let detector = MetastabilityPolicy.standard
    try expect("Metastability", "`attemptsPerRequest`", says: "1.5", detector.attemptsPerRequest == 1.5)
    try expect("Metastability", "`answeredShare`", says: "0.9", detector.answeredShare == 0.9)
    let times = detector.window == .seconds(2) && detector.hold == .seconds(1)
    try expect("Metastability", "`window`", says: "2 s, 1 s", times)
    try expect("Metastability", "`refusesRetries`", says: "off", !detector.refusesRetries)
    let balancer = LoadBalancerPolicy.standard
    try expect("ReboundLoadBalancing", "`hotQuantile`", says: "0.84", balancer.hotQuantile == 0.84)
    try expect("ReboundLoadBalancing", "`memory`", says: "10 s", balancer.memory == .seconds(10))
    try expect("ReboundLoadBalancing", "`failureLatency`", says: "5 s", balancer.failureLatency == .seconds(5))
    let probes = balancer.probesPerAttempt == 3 && balancer.maxProbeAge == .seconds(1)
    try expect("ReboundLoadBalancing", "`probesPerAttempt`", says: "3, 1 s", probes)
    try expect("ReboundLoadBalancing", "`maxCandidates`", says: "16", balancer.maxCandidates == 16)
  }

  @Test("of what is shared and kept")
  func sharing() throws {
    let cache = try CachePolicy(fresh: .seconds(1))
    try expect("Caches", "`staleWhileRevalidate`", says: "none", cache.lifetime.staleWhileRevalidate == .zero)
    try expect("Caches", "`staleIfError`", says: "none", cache.lifetime.staleIfError == .zero)
    try expect("Caches", "`negative`", says: "none", cache.negative == .zero)
    let counts = cache.maxCount == 1_000 && cache.maxCost == nil
    try expect("Caches", "`maxCount`", says: "1,000, no limit", counts)
    try expect("Last-good-values", "`capacity`", says: "100", try LastGood<Int, Int>().capacity == 100)
    let refresh = TokenRefreshPolicy.standard
    try expect("Token-refresh", "`leeway`", says: "30 s", refresh.leeway == .seconds(30))
    let refreshes = refresh.maxRefreshes == 5 && refresh.window == .seconds(30)
    try expect("Token-refresh", "`maxRefreshes`", says: "5 in 30 s", refreshes)
    let cooldowns = refresh.cooldown == .seconds(1) && refresh.maxCooldown == .seconds(30)
    try expect("Token-refresh", "`cooldown`", says: "1 s, doubling to 30 s", cooldowns)
    try expect("Token-refresh", "`maxHint`", says: "an hour", refresh.maxHint == .seconds(3_600))
  }

  @Test("of what is told apart by keys")
  func keys() async throws {
    let objects = Keyed<Int, Int> { $0 }
    for key in 0..<1_001 { _ = objects[key] }
    try expect("Keyed-policies", "`limit`", says: "1,000 objects", objects.count == 1_000)
    let keys = try IdempotencyKeys<Int>(keptFor: .seconds(86_400))
    for key in 0..<10_001 { _ = try await keys.run("\(key)") { 1 } }
    // The first one had to leave, and the second one has stayed.
    let (second, first) = (try await keys.run("1") { 2 }, try await keys.run("0") { 2 })
    try expect("Idempotency-keys", "`capacity`", says: "10,000 answers", first == 2 && second == 1)
  }

  @Test("of outboxes")
  func outbox() throws {
    let outbox = OutboxPolicy.standard
    let room = outbox.capacity == 1_000 && outbox.maxBytes == 64 << 20
    try expect("ReboundOutbox", "`capacity`", says: "1,000 entries, 64 MB", room)
    try expect("ReboundOutbox", "`maxConcurrent`", says: "4 keys", outbox.maxConcurrent == 4)
    try expect("ReboundOutbox", "`maxAttempts`", says: "100", outbox.maxAttempts == 100)
    try expect("ReboundOutbox", "`timeToLive`", says: "a week", outbox.timeToLive == .seconds(7 * 86_400))
    let pauses = Array(outbox.backoff.delays(random: .fixed(0)).prefix(12))
    let text = "1 s, doubling, at most 5 min, half of it by chance"
    try expect("ReboundOutbox", "`backoff`", says: text, pauses[0] == .milliseconds(500) && pauses[11] == .seconds(150))
    try expect("ReboundOutbox", "`maxHint`", says: "an hour", outbox.maxHint == .seconds(3_600))
  }
}
