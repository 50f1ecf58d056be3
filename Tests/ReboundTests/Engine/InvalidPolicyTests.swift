import Expectations
import Foundation
import Rebound
import Testing

@Suite("InvalidPolicy")
struct InvalidPolicyTests {
  /// A policy that cannot be made, and what is said of it.
  struct Refusal: CustomTestStringConvertible, Sendable {
    let text: String
    let make: @Sendable () throws -> Void

    init(_ text: String, _ make: @escaping @Sendable () throws -> Any) {
      self.text = text
      self.make = { _ = try make() }
    }

    var testDescription: String { text }
  }

  typealias Retry = RetryPolicy<any Error>
  typealias Hedge = HedgePolicy<any Error>

  static let retries = [
    Refusal("Retry: maxRetries is -1. Give 0 for no retry, or nil to retry for ever.") { try Retry(maxRetries: -1) },
    Refusal("Retry: maxHint is -1.0 seconds. Give zero to stop on every hint, or a positive duration.") {
      try Retry(maxHint: .seconds(-1))
    },
    Refusal("Retry: deadline is 0.0 seconds. Give a positive duration, or nil for none.") {
      try Retry(deadline: .zero)
    },
    Refusal("Retry: delay is -1.0 seconds. Give zero to retry at once, or a positive duration.") {
      try Retry(backoff: .constant(.seconds(-1)))
    },
    Refusal("Retry: delay is -3.0 seconds. Give zero to retry at once, or a positive duration.") {
      try Retry(backoff: .steps(.seconds(1), .seconds(-3)))
    },
    Refusal("Retry: base is 0.0 seconds. Give a positive duration for delays that grow, or use .immediate.") {
      try Retry(backoff: .linear(.zero))
    },
    Refusal("Retry: base is 0.0 seconds. Give a positive duration for delays that grow, or use .immediate.") {
      try Retry(backoff: .exponential(from: .zero))
    },
    Refusal("Retry: multiplier is 0.5. Give a finite number from 1; 2 doubles each delay.") {
      try Retry(backoff: .exponential(from: .seconds(1), multiplier: 0.5))
    },
    Refusal("Retry: multiplier is inf. Give a finite number from 1; 2 doubles each delay.") {
      try Retry(backoff: .exponential(from: .seconds(1), multiplier: .infinity))
    },
    Refusal("Retry: multiplier is nan. Give a finite number from 1; 2 doubles each delay.") {
      try Retry(backoff: .exponential(from: .seconds(1), multiplier: .nan))
    },
    Refusal("Retry: cap is 1.0 seconds. Give at least the first delay, which is 2.0 seconds.") {
      try Retry(backoff: .exponential(from: .seconds(2), upTo: .seconds(1)))
    },
    Refusal("Retry: cap is 0.0 seconds. Give a positive duration, or nil for no cap.") {
      try Retry(backoff: .constant(.zero).capped(at: .zero))
    },
    Refusal("Retry: cap is -1.0 seconds. Give a positive duration, or nil for no cap.") {
      try Retry(backoff: .custom(upTo: .seconds(-1)) { _ in .zero })
    },
    Refusal("Retry: jitter is 1.5. Give a number from 0 to 1; 0.25 is a quarter up or down.") {
      try Retry(backoff: .standard.jittered(.ratio(1.5)))
    },
    Refusal("Retry: jitter is nan. Give a number from 0 to 1; 0.25 is a quarter up or down.") {
      try Retry(backoff: .standard.jittered(.ratio(.nan)))
    },
    Refusal("Budget: ratio is -1.0. Give a finite number from 0; 0.2 is a retry for five requests.") {
      try RetryBudget.ratio(-1)
    },
    Refusal("Budget: ratio is inf. Give a finite number from 0; 0.2 is a retry for five requests.") {
      try RetryBudget.ratio(.infinity)
    },
    Refusal("Budget: window is 0.0 seconds. Give a positive duration.") { try RetryBudget.ratio(0.2, window: .zero) },
    Refusal("Budget: floor is -1. Give 0 for none, or how many retries are always allowed.") {
      try RetryBudget.ratio(0.2, floor: -1)
    },
    Refusal("Budget: tokens is 1001. Give 1 to 1000.") {
      try RetryBudget.throttle(tokens: 1_001, successRatio: 1)
    },
    Refusal("Budget: successRatio is -2.0. Give a finite number from 0; 0.1 is a tenth of a token.") {
      try RetryBudget.throttle(tokens: 1, successRatio: -2)
    },
    Refusal("Budget: tokens is 0. Give at least 1.") { try RetryBudget.bucket(tokens: 0) },
    Refusal("Budget: cost is 11. Give at least 1, and no more than tokens, which is 10.") {
      try RetryBudget.bucket(tokens: 10, cost: 11)
    },
  ]

  static let limits = [
    Refusal("Timeout: total is nil. Give at least one limit, or leave the timeout out.") { try TimeoutPolicy() },
    Refusal("Timeout: total is 0.0 seconds. Give a positive duration, or nil for none.") {
      try TimeoutPolicy(total: .zero)
    },
    Refusal("Timeout: betweenValues is -1.0 seconds. Give a positive duration, or nil for none.") {
      try TimeoutPolicy(total: .seconds(1), betweenValues: .seconds(-1))
    },
    Refusal("Hedge: maxHedges is 0. Give 1 to 10; for none, leave the hedging out.") { try Hedge(maxHedges: 0) },
    Refusal("Hedge: maxHedges is 11. Give 1 to 10; for none, leave the hedging out.") { try Hedge(maxHedges: 11) },
    Refusal("Hedge: delay is 0.0 seconds. Give a positive duration, or use .parallel or .afterFailure.") {
      try Hedge(delay: .after(.zero))
    },
    Refusal("Hedge: percentile is 1.0. Give a number above 0 and below 1; 0.95 hedges the slowest 5 %.") {
      try Hedge(delay: .percentile(1, of: LatencyRecorder()))
    },
    Refusal("Hedge: atFirst is 0.0 seconds. Give a positive duration, or use .parallel or .afterFailure.") {
      try Hedge(delay: .percentile(0.5, of: LatencyRecorder(), atFirst: .zero))
    },
    Refusal("Bulkhead: maxConcurrent is 0. Give at least 1.") { try BulkheadPolicy(maxConcurrent: 0) },
    Refusal("Bulkhead: maxQueue is -1. Give 0 to refuse at once, or more to wait.") {
      try BulkheadPolicy(maxConcurrent: 1, maxQueue: -1)
    },
    Refusal(
      "Bulkhead: maxWait is 0.0 seconds. Give a positive duration, nil for no limit, or maxQueue 0 to refuse at once."
    ) { try BulkheadPolicy(maxConcurrent: 1, maxWait: .zero) },
    Refusal("Adaptive limit: range is 0...5. Give a range that begins at 1 or above.") {
      try AdaptiveLimitPolicy.aimd(in: 0...5)
    },
    Refusal("Adaptive limit: range is -1...5. Give a range that begins at 1 or above.") {
      try AdaptiveLimitPolicy.gradient(in: -1...5)
    },
    Refusal("Adaptive limit: decrease is 1.0. Give a number between 0 and 1; 0.9 takes a tenth away.") {
      try AdaptiveLimitPolicy.aimd(decrease: 1)
    },
    Refusal("Adaptive limit: decrease is nan. Give a number between 0 and 1; 0.9 takes a tenth away.") {
      try AdaptiveLimitPolicy.aimd(decrease: .nan)
    },
    Refusal("Adaptive limit: slow is 0.0 seconds. Give a positive duration, or nil.") {
      try AdaptiveLimitPolicy.aimd(slow: .zero)
    },
    Refusal("Adaptive limit: tolerance is 0.9. Give a finite number from 1; 1.5 allows half as long again.") {
      try AdaptiveLimitPolicy.gradient(tolerance: 0.9)
    },
    Refusal("Adaptive limit: tolerance is inf. Give a finite number from 1; 1.5 allows half as long again.") {
      try AdaptiveLimitPolicy.gradient(tolerance: .infinity)
    },
    Refusal("Adaptive limit: smoothing is 0.0. Give a number above 0, at most 1.") {
      try AdaptiveLimitPolicy.gradient(smoothing: 0)
    },
    Refusal("Adaptive limit: headroom is 0. Give at least 1.") { try AdaptiveLimitPolicy.gradient(headroom: 0) },
    Refusal("Rate limiter: permits is 0. Give 1 … 1,000,000.") {
      try RateLimiterPolicy.tokenBucket(0, per: .seconds(1))
    },
    Refusal("Rate limiter: permits is 1000001. Give 1 … 1,000,000.") {
      try RateLimiterPolicy.fixedWindow(1_000_001, per: .seconds(1))
    },
    Refusal("Rate limiter: period is 0.0 seconds. Give 1 µs … 1,000,000,000 s.") {
      try RateLimiterPolicy.fixedWindow(1, per: .zero)
    },
    Refusal("Rate limiter: period is 2000000000.0 seconds. Give 1 µs … 1,000,000,000 s.") {
      try RateLimiterPolicy.slidingWindow(1, per: .seconds(2_000_000_000))
    },
    Refusal("Rate limiter: burst is 0. Give 1 … 1,000,000.") {
      try RateLimiterPolicy.tokenBucket(1, per: .seconds(1), burst: 0)
    },
    Refusal("Rate limiter: maxHint is -1.0 seconds. Give zero to take no notice of hints, or a positive duration.") {
      try RateLimiterPolicy.Feedback(maxHint: .seconds(-1))
    },
    Refusal("Rate limiter: maxWait is -1.0 seconds. Give zero to refuse at once, or more.") {
      try RateLimiterPolicy.tokenBucket(1, per: .seconds(1)).waiting(atMost: .seconds(-1))
    },
    Refusal("Rate limiter: maxQueue is -1. Give zero to refuse at once, or more.") {
      try RateLimiterPolicy.tokenBucket(1, per: .seconds(1)).waiting(atMost: .zero, maxQueue: -1)
    },
  ]

  static let breakers = [
    Refusal("Circuit breaker: failureRatio is 0.0. Give a number above 0, at most 1; 0.5 is half of the calls.") {
      try CircuitBreakerPolicy(failureRatio: 0)
    },
    Refusal("Circuit breaker: probeFailureRatio is 1.5. Give a number above 0, at most 1; 0.5 is half of the calls.") {
      try CircuitBreakerPolicy(probeFailureRatio: 1.5)
    },
    Refusal("Circuit breaker: consecutiveFailures is 0. Give at least 1.") { try CircuitBreakerPolicy.consecutive(0) },
    Refusal("Circuit breaker: probes is 0. Give at least 1.") { try CircuitBreakerPolicy(probes: 0) },
    Refusal("Circuit breaker: window is 5 calls. Give at least minimumCalls, which is 10.") {
      try CircuitBreakerPolicy.ratio(0.5, window: .calls(5))
    },
    Refusal("Circuit breaker: window is 0.0 seconds. Give a positive duration.") {
      try CircuitBreakerPolicy(window: .time(.zero))
    },
    Refusal("Circuit breaker: openTime is 0.0 seconds. Give a positive duration.") {
      try CircuitBreakerPolicy.consecutive(1, openFor: .zero)
    },
    Refusal("Circuit breaker: slowness.duration is 0.0 seconds. Give a positive duration.") {
      try CircuitBreakerPolicy(slowness: .init(duration: .zero, ratio: 0.5))
    },
    Refusal("Circuit breaker: slowness.ratio is 0.0. Give a number above 0, at most 1; 0.5 is half of the calls.") {
      try CircuitBreakerPolicy(slowness: .init(duration: .seconds(1), ratio: 0))
    },
    Refusal("Circuit breaker: openGrowth is 0.5. Give a finite number from 1; 1 keeps the open time.") {
      try CircuitBreakerPolicy(openGrowth: 0.5)
    },
    Refusal("Circuit breaker: openJitter is 1.1. Give a number from 0 to 1; 0.1 is a tenth up or down.") {
      try CircuitBreakerPolicy(openJitter: 1.1)
    },
    Refusal("Circuit breaker: openJitter is nan. Give a number from 0 to 1; 0.1 is a tenth up or down.") {
      try CircuitBreakerPolicy(openJitter: .nan)
    },
    Refusal("Circuit breaker: maxHint is -1.0 seconds. Give zero to take no notice of hints, or a positive duration.") {
      try CircuitBreakerPolicy(maxHint: .seconds(-1))
    },
    Refusal("Circuit breaker: maxOpenTime is 1.0 seconds. Give at least openTime, which is 30.0 seconds.") {
      try CircuitBreakerPolicy(maxOpenTime: .seconds(1))
    },
  ]

  static let stores = [
    Refusal("Last good value: capacity is 0. Give at least 1.") { try LastGood<String, Int>(capacity: 0) },
    Refusal("Cache: fresh is -1.0 seconds. Give zero for none, or a positive duration.") {
      try CachePolicy(fresh: .seconds(-1))
    },
    Refusal("Cache: negative is -2.0 seconds. Give zero for none, or a positive duration.") {
      try CachePolicy(fresh: .zero, negative: .seconds(-2))
    },
    Refusal("Cache: maxCount is 0. Give at least 1.") { try CachePolicy(fresh: .zero, maxCount: 0) },
    Refusal("Cache: maxCost is 0. Give at least 1, or nil for no limit.") { try CachePolicy(fresh: .zero, maxCost: 0) },
    Refusal("Authentication: leeway is -1.0 seconds. Give zero for none, or a positive duration.") {
      try TokenRefreshPolicy(leeway: .seconds(-1))
    },
    Refusal("Authentication: cooldown is -2.0 seconds. Give zero for none, or a positive duration.") {
      try TokenRefreshPolicy(cooldown: .seconds(-2))
    },
    Refusal("Authentication: maxRefreshes is 0. Give at least 1.") { try TokenRefreshPolicy(maxRefreshes: 0) },
    Refusal("Authentication: window is 0.0 seconds. Give a positive duration.") {
      try TokenRefreshPolicy(window: .zero)
    },
    Refusal("Authentication: maxHint is -1.0 seconds. Give zero to take no notice of hints, or a positive duration.") {
      try TokenRefreshPolicy(maxHint: .seconds(-1))
    },
    Refusal("Authentication: maxCooldown is 1.0 seconds. Give at least cooldown, which is 2.0 seconds.") {
      try TokenRefreshPolicy(cooldown: .seconds(2), maxCooldown: .seconds(1))
    },
  ]

  @Test(
    "a setting that makes no sense is refused, with its name, its value and what to give instead",
    arguments: retries + limits + breakers + stores
  )
  func refuses(_ refusal: Refusal) {
    let error = #expect(throws: InvalidPolicy.self) { try refusal.make() }
    expectEqual(error?.description, refusal.text)
    expectEqual(error?.setting.allSatisfy { $0.isLetter || $0 == "." }, true, "a name as it is written in code")
  }

  @Test("a policy of one's own refuses its settings in the same words; none is never refused")
  func own() throws {
    let throttle = PolicyKind("throttle")
    let none: Int? = nil
    try throttle.require("limit", none, "Give at least 1.") { $0 >= 1 }
    try throttle.require("limit", 1, "Give at least 1.") { $0 >= 1 }
    let error = #expect(throws: InvalidPolicy.self) {
      try throttle.require("limit", 0, "Give at least 1.") { $0 >= 1 }
    }
    expectEqual(error, InvalidPolicy(throttle, "limit", 0, "Give at least 1."))
    expectEqual(error?.description, "Throttle: limit is 0. Give at least 1.")
  }

  @Test("no standard policy is refused")
  func standards() {
    expectEqual(AdaptiveThrottlePolicy.standard.factor, 2)
    expectEqual(Hedge.standard.maxHedges, 1)
    expectEqual(MetastabilityPolicy.standard.attemptsPerRequest, 1.5)
    expectEqual(TokenRefreshPolicy.standard.maxRefreshes, 5)
  }

  @Test("says the same to people, who may have written the setting")
  func words() {
    let error = InvalidPolicy(PolicyKind("throttle"), "limit", 0, "Give at least 1.")
    expectEqual(error.localizedDescription, error.description)
  }
}
