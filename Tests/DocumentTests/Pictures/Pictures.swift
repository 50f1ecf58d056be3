import Combine
import Rebound
import ReboundTesting

/// A picture of a module's documentation catalogue, and the run that it shows.
struct Picture: Sendable {
  let name: String
  /// The module.
  var catalogue = "Rebound"
  let svg: @Sendable () throws -> String
}

extension Picture {
  static let all: [Picture] =
    [
      retry, catching, fallback, timeout, hedge, breaker, coalescing, chained, repeating, bulkhead, rateLimiter, result,
      retryBudget, cache, lastGood, tokenRefresh, throttle, loadBalancer, chaos, adaptiveLimit, metastability,
      keyed, idempotencyKeys, outbox,
    ] + ofCombine

  private struct Busy: Error, CustomStringConvertible {
    let description = "busy"
  }

  private static let retry = Picture(name: "retry") {
    let stage = StreamStage()
    let log = RetryLog()
    let policy = RetryPolicy<Busy>(clamping: 3, backoff: .exponential(from: .seconds(2), jitter: .none))
    let recorder = Recorder<String, Busy>(on: stage.scheduler)
    try stage.source("attempt", "-#", "--#", "-a|")
      .mapError { _ in Busy() }
      .retry(policy.onEvent(log.write), time: stage.scheduler.time)
      .subscribe(recorder)
    try stage.scheduler.run()
    return RunDiagram("Three attempts, with pauses that double", retries: log.events, output: recorder).svg
  }

  private static let breaker = Picture(name: "circuit-breaker") {
    let stage = StreamStage()
    let log = RetryLog()
    let breaker = CircuitBreaker(
      "weather",
      policy: try CircuitBreakerPolicy(failureRatio: nil, consecutiveFailures: 2, openTime: .seconds(6)),
      random: .fixed(0)
    )
    let states = BreakerLog(of: breaker, on: stage.scheduler)
    let policy = RetryPolicy<any Error>(clamping: nil, backoff: .constant(.seconds(1)), deadline: .seconds(60))
    let recorder = Recorder<String, any Error>(on: stage.scheduler)
    try stage.source("attempt", "-#", "-#", "--a|")
      .mapError { _ in Busy() as any Error }
      .protected(by: breaker, time: stage.scheduler.time)
      .retry(policy.onEvent(log.write), time: stage.scheduler.time)
      .subscribe(recorder)
    try stage.scheduler.run()
    return RunDiagram(
      "Two failures open the breaker, and a retry waits until it lets one call through",
      retries: log.events,
      output: recorder,
      breaker: states.entries
    )
    .svg
  }

  private static let catching = Picture(name: "catch") {
    let stage = StreamStage()
    let (live, saved) = (try stage.source("live", "-a-b-#"), try stage.source("saved", "-x-y|"))
    stage.listen("output", to: live.catch { _ in saved })
    return try stage.picture("After the failure, another publisher goes on", "live.catch { _ in saved }")
  }

  private static let fallback = Picture(name: "fallback") {
    let stage = StreamStage()
    stage.listen("output", to: try stage.source("live", "-a---#").fallback(to: "x"))
    return try stage.picture("After the failure, one value and the end", #"live.fallback(to: "x")"#)
  }

  private static let timeout = Picture(name: "timeout") {
    let stage = StreamStage()
    let source = try stage.source("live", "-a--b--------c|")
    stage.listen(
      "output",
      to: source.timeout(.betweenValues(.seconds(5)), time: stage.scheduler.time) { _ in MarbleFailure() }
    )
    return try stage.picture(
      "A stream that falls silent is cancelled, and fails",
      "live.timeout(.betweenValues(.seconds(5)))"
    )
  }

  private static let hedge = Picture(name: "hedge") {
    let stage = StreamStage()
    let policy = try HedgePolicy<MarbleFailure>(delay: .after(.seconds(3)))
    let source = try stage.source("attempt", "---------a|", "--b|")
    stage.listen("output", to: source.hedged(policy, time: stage.scheduler.time))
    return try stage.picture(
      "When the answer is late a second attempt begins; the first answer wins",
      "request.hedged(HedgePolicy(delay: .after(.seconds(3))))"
    )
  }

  private static let coalescing = Picture(name: "coalesce") {
    let stage = StreamStage()
    let coalescer = Coalescer<String, String, MarbleFailure>()
    let request = try stage.source("request", "-----a|").coalesced(by: coalescer, for: "Rome")
    for (number, second) in [0, 2, 4].enumerated() {
      stage.scheduler.advance(to: .start.advanced(by: .seconds(second)))
      stage.listen("caller \(number + 1)", to: request)
    }
    return try stage.picture(
      "Equal calls at the same time share one request",
      #"request.coalesced(by: coalescer, for: "Rome")"#
    )
  }

  private static let chained = Picture(name: "retry-after") {
    let stage = StreamStage()
    let request = try stage.source("request", "--#", "--a|")
    let refresh = try stage.source("refresh", "---t|")
    stage.listen("output", to: request.retry(on: MarbleFailure(), times: 1, after: refresh))
    return try stage.picture(
      "The second attempt begins as soon as the refresh has delivered",
      "request.retry(on: expired, times: 1, after: refresh)"
    )
  }

  private static let repeating = Picture(name: "repeat") {
    let stage = StreamStage()
    let policy = try RepeatPolicy(times: 2, pause: .constant(.seconds(2)))
    stage.listen("output", to: try stage.source("run", "-a|", "-b|", "-c|").repeat(policy, time: stage.scheduler.time))
    return try stage.picture(
      "After each finish, a pause and another run",
      "poll.repeat(RepeatPolicy(times: 2, pause: .constant(.seconds(2))))"
    )
  }

  private static let bulkhead = Picture(name: "bulkhead") {
    let stage = StreamStage()
    let bulkhead = Bulkhead("weather", policy: try BulkheadPolicy(maxConcurrent: 1, maxQueue: 1))
    let call = try stage.source("call", "---a|", "---b|").mapError { $0 as any Error }
    for number in 1...3 {
      stage.listen("caller \(number)", to: call.limited(by: bulkhead, time: stage.scheduler.time))
    }
    return try stage.picture(
      "One call runs, one waits for its place, and a third is refused at once",
      "call.limited(by: Bulkhead(maxConcurrent: 1, maxQueue: 1))"
    )
  }

  private static let rateLimiter = Picture(name: "rate-limit") {
    let stage = StreamStage()
    let limiter = RateLimiter(
      "weather",
      policy: try .tokenBucket(1, per: .seconds(3)).waiting(atMost: .seconds(30))
    )
    let call = try stage.source("call", "-a|", "-b|", "-c|").mapError { $0 as any Error }
    for number in 1...3 {
      stage.listen("caller \(number)", to: call.rateLimited(by: limiter, time: stage.scheduler.time))
    }
    return try stage.picture(
      "Calls at the same moment begin one after the other, at the pace that is allowed",
      "call.rateLimited(by: RateLimiter(.tokenBucket(1, per: .seconds(3))))"
    )
  }

  private static let result = Picture(name: "as-result") {
    let stage = StreamStage()
    let results = try stage.source("request", "-a-b-#").asResult()
    stage.listen("output", to: results) { result in
      switch result {
      case .success(let value): value.first ?? "•"
      case .failure: "!"
      }
    }
    return try stage.picture("The failure becomes a value, and the stream finishes", "request.asResult()")
  }
}
