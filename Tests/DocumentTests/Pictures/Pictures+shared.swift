import Combine
import Rebound
import ReboundLoadBalancing
import ReboundTesting

/// Runs of policies that several calls share.
extension Picture {
  static let retryBudget = Picture(name: "retry-budget") {
    let stage = StreamStage()
    let budget = try RetryBudget.ratio(0, floor: 1)
    let policy = RetryPolicy<MarbleFailure>(clamping: 2, backoff: .constant(.seconds(2))).within(budget)
    let call = try stage.source("attempt", "-#", "-#", "-a|")
    for number in 1...2 { stage.listen("caller \(number)", to: call.retry(policy, time: stage.scheduler.time)) }
    return try stage.picture(
      "Two calls fail; the budget allows one retry, and the other call fails at once",
      "request.retry(policy.within(budget))"
    )
  }

  static let cache = Picture(name: "cache") {
    let stage = StreamStage()
    let policy = try CachePolicy(fresh: .seconds(3), staleWhileRevalidate: .seconds(5))
    let cache = Cache<String, String, MarbleFailure>(policy: policy)
    let request = try stage.source("request", "-a|", "-b|")
      .cached(in: cache, for: "Rome", time: stage.scheduler.time)
    for (number, second) in [0, 3, 6, 8].enumerated() {
      stage.scheduler.advance(to: .start.advanced(by: .seconds(second)))
      stage.listen("caller \(number + 1)", to: request) { $0.value.first ?? "•" }
    }
    return try stage.picture(
      "The second caller gets what is fresh, the third what is stale while a new value is fetched for the fourth",
      #"request.cached(in: cache, for: "Rome")"#
    )
  }

  static let lastGood = Picture(name: "last-good") {
    let stage = StreamStage()
    let store = try LastGood<String, String>(capacity: 10)
    let time = stage.scheduler.time
    let request = try stage.source("request", "--a|", "--#")
      .remember(in: store, for: "Rome", time: time)
      .fallback(to: store, for: "Rome", time: time)
    for (number, second) in [0, 5].enumerated() {
      stage.scheduler.advance(to: .start.advanced(by: .seconds(second)))
      stage.listen("caller \(number + 1)", to: request) { $0.value.first ?? "•" }
    }
    return try stage.picture(
      "The second request fails, and its caller gets the value of the first",
      #"request.remember(in: forecasts, for: "Rome").fallback(to: forecasts, for: "Rome")"#
    )
  }

  static let tokenRefresh = Picture(name: "token-refresh") {
    let stage = StreamStage()
    // One thread draws a picture.
    nonisolated(unsafe) let refresh = try stage.source("refresh", "---t|")
    let session = TokenRefresher<String>(
      rejectedWhen: { (_: MarbleFailure) in false },
      refreshingWith: { _ in refresh }
    )
    let time = stage.scheduler.time
    session.signIn(with: "old", at: time.now)
    let refused = try stage.source("old token", "-#")
    let accepted = try stage.source("new token", "-a|")
    for number in 1...2 {
      let request = session.authenticated(when: { _ in true }, failingWith: { _ in MarbleFailure() }, time: time) {
        $0 == "old" ? refused : accepted
      }
      stage.listen("caller \(number)", to: request)
    }
    return try stage.picture(
      "Two requests are refused; one refresh serves both, and each is sent once more",
      "session.authenticated(when: \\.isUnauthorised) { token in request(token) }"
    )
  }

  static let throttle = Picture(name: "adaptive-throttle") {
    let stage = StreamStage()
    let time = stage.scheduler.time
    let throttle = AdaptiveThrottle(
      "weather",
      policy: try AdaptiveThrottlePolicy(factor: 1, window: .seconds(10)),
      random: .fixed(0.6)
    )
    let call = try stage.source("call", "-#", "-#", "-a|").mapError { $0 as any Error }
      .protected(by: throttle, time: time)
    for (number, second) in [0, 2, 4, 14].enumerated() {
      stage.scheduler.advance(to: .start.advanced(by: .seconds(second)))
      stage.listen("caller \(number + 1)", to: call)
    }
    return try stage.picture(
      "Two calls fail; the third is refused here; when they are forgotten, the fourth goes through",
      "call.protected(by: AdaptiveThrottle(…))"
    )
  }

  static let loadBalancer = Picture(name: "load-balancer", catalogue: "ReboundLoadBalancing") {
    let stage = StreamStage()
    let time = stage.scheduler.time
    let balancer = try LoadBalancer("weather", among: ["a", "b"], random: .fixed(0.9))
    let replicas = ["a": try stage.source("replica a", "-#"), "b": try stage.source("replica b", "-x|", "-y|")]
    let request = {
      balancer.makeCall().publisher(time: time) { replicas[$0] ?? Empty().eraseToAnyPublisher() }
        .retry(RetryPolicy<MarbleFailure>(clamping: 1, backoff: .constant(.seconds(1))), time: time)
    }
    for (number, second) in [0, 4].enumerated() {
      stage.scheduler.advance(to: .start.advanced(by: .seconds(second)))
      stage.listen("caller \(number + 1)", to: request())
    }
    return try stage.picture(
      "One replica fails; the retry goes to the other one, and so does the next call",
      "weather.publisher(among: replicas) { host in request(host) }"
    )
  }

  static let chaos = Picture(name: "chaos") {
    let stage = StreamStage()
    let time = stage.scheduler.time
    let chaos = Chaos<String, MarbleFailure>(random: .seeded(4))
      .fault(at: 0.3) { MarbleFailure() }
      .latency(at: 0.3, .seconds(2))
    for (number, second) in [0, 1, 2, 3].enumerated() {
      stage.scheduler.advance(to: .start.advanced(by: .seconds(second)))
      stage.listen("caller \(number + 1)", to: try stage.source("request", "-a-b|").chaos(chaos, time: time))
    }
    return try stage.picture(
      "A call that works, one that begins late, one that fails without being made, and one that works",
      "request.chaos(chaos.fault(at: 0.3) { … }.latency(at: 0.3, .seconds(2)))"
    )
  }
}
