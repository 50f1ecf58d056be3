import Rebound
import ReboundTesting
import StreamSupport
import Testing

/// Each policy's async form under many schedules, with failures and cancels at any moment.
@Suite struct PolicyExplorationTests {
  /// Later results never give way to earlier ones.
  private struct Newest: SequentialModel {
    let initial = 0

    func next(_ last: Int, _ atLeast: Int, _ answer: Int?) -> Int? {
      guard let answer else { return last }
      return answer >= max(last, atLeast) ? answer : nil
    }
  }

  @Test func aRetryMakesItsAttemptsOneAfterTheOtherAndNoMore() throws {
    try Exploration.explore {
      let policy = RetryPolicy<any Error>(clamping: 3, backoff: .exponential(from: .seconds(1), upTo: .seconds(4)))
      _ = try await Exploration.crowd(4) { _ in
        let attempts = Occupancy()
        let result = await Task {
          try await policy.run { try await attempts.during { _ in try await Exploration.work() } }
        }
        .result
        try requireTrue(attempts.counts.total <= 4, "\(attempts.counts)")
        try requireTrue(attempts.counts.most <= 1, "\(attempts.counts)")
        try requireEqual(attempts.counts.now, 0)
        return result
      }
    }
  }

  @Test func aTimeoutEndsInTime() throws {
    try Exploration.explore {
      let time = TimeSource.current
      let results = try await Exploration.crowd(4) { _ in
        let start = time.now
        do { try await TimeoutPolicy.attempt(.seconds(2)).run { try await Exploration.work() } } catch {
          try requireTrue(time.now - start <= .seconds(2), "\(time.now - start)")
          if error is TimedOut { try requireEqual(time.now - start, .seconds(2)) }
        }
        return time.now - start
      }
      for case .success(let duration) in results { try requireTrue(duration <= .seconds(2), "\(duration)") }
      for case .failure(let error) in results { try requireTrue(!(error is PropertyMismatch), "\(error)") }
    }
  }

  @Test func aBreakerLosesNoTrialCall() throws {
    try Exploration.explore {
      let breaker = CircuitBreaker("service", policy: try .consecutive(2, openFor: .seconds(2)))
      _ = try await Exploration.crowd(8) { _ in try await breaker.run { try await Exploration.work(failing: 0.7) } }
      try await TimeSource.current.sleep(for: .seconds(60))
      try await breaker.run {}
    }
  }

  @Test func aBulkheadGivesEachPlaceBack() throws {
    try Exploration.explore {
      let bulkhead = try Bulkhead("places", policy: BulkheadPolicy(maxConcurrent: 2, maxQueue: 3))
      let running = Occupancy()
      _ = try await Exploration.crowd(7) { _ in
        try await bulkhead.run { try await running.during { _ in try await Exploration.work() } }
      }
      try requireTrue(running.counts.most <= 2, "\(running.counts)")
      try requireEqual(running.counts.now, 0)
      let first = try bulkhead.acquire()
      let second = try bulkhead.acquire()
      first.release()
      second.release()
    }
  }

  @Test func aLimiterLetsNoMoreBeginThanItsTokens() throws {
    try Exploration.explore {
      let limiter = try RateLimiter("tokens", policy: .tokenBucket(2, per: .seconds(2)))
      let begins = Locked<[Duration]>([])
      let time = TimeSource.current
      _ = try await Exploration.crowd(8) { _ in
        try await limiter.run {
          begins.withLock { $0.append(time.now) }
          try await Exploration.work()
        }
      }
      let all = begins.withLock { $0 }
      for begin in all {
        // What the bucket holds, and what comes back within the time.
        let count = all.count { $0 >= begin && $0 < begin + .seconds(2) }
        try requireTrue(count <= 4, "\(all)")
      }
      try requireEqual(limiter.snapshot.queued, 0)
    }
  }

  @Test func aHedgeBeginsNoMoreThanItMayAndLeavesNoneRunning() throws {
    try Exploration.explore {
      let policy = try HedgePolicy<any Error>(maxHedges: 2, delay: .after(.seconds(1)))
      _ = try await Exploration.crowd(3) { _ in
        let running = Occupancy()
        let result = await Task {
          try await policy.run { _ in try await running.during { _ in try await Exploration.work() } }
        }.result
        try requireTrue(running.counts.total <= 3, "\(running.counts)")
        try await TimeSource.current.sleep(for: .seconds(10))
        try requireEqual(running.counts.now, 0)
        return result
      }
    }
  }

  @Test func aBudgetedRetryTakesNoMoreTokensThanThereAre() throws {
    try Exploration.explore {
      let budget = try RetryBudget.bucket(tokens: 20, cost: 5)
      let attempts = Occupancy()
      let policy = RetryPolicy<any Error>(clamping: 5, backoff: .constant(.seconds(1))).within(budget)
      _ = try await Exploration.crowd(5) { _ in
        try await policy.run { try await attempts.during { _ in try await Exploration.work(failing: 1) } }
      }
      try requireTrue(attempts.counts.total <= 5 + 4, "\(attempts.counts)")
    }
  }

  @Test func aCoalescerRunsOneCallAtATimeAndGivesNobodyAnOlderResultThanAnothersBefore() throws {
    try Exploration.explore {
      let coalescer = Coalescer<String, Int, any Error>()
      let calls = Occupancy()
      let history = ConcurrentHistory<Int, Int>()
      _ = try await Exploration.crowd(6) { _ in
        try await history.record(0) {
          try await coalescer.run("Bonn") {
            try await calls.during { number in
              try await Exploration.work()
              return number
            }
          }
        }
      }
      try requireLinearizable(history, as: Newest())
      // One that nobody waits for any more is cancelled, and ends a moment later.
      try await TimeSource.current.sleep(for: .seconds(1))
      try requireEqual(calls.counts.now, 0)
      try requireEqual(coalescer.inFlightCount, 0)
    }
  }

  @Test func aCacheGivesNobodyAnOlderValueThanAnothersBefore() throws {
    try Exploration.explore {
      let cache = Cache<String, Int, any Error>(policy: try CachePolicy(fresh: .seconds(1)))
      let calls = Occupancy()
      let history = ConcurrentHistory<Int, Int>()
      _ = try await Exploration.crowd(6) { _ in
        try await history.record(0) {
          try await cache.value(for: "Bonn") {
            try await calls.during { number in
              try await Exploration.work()
              return number
            }
          }.value
        }
      }
      try requireLinearizable(history, as: Newest())
      // One that nobody waits for any more is cancelled, and ends a moment later.
      try await TimeSource.current.sleep(for: .seconds(1))
      try requireEqual(calls.counts.now, 0)
    }
  }

  @Test func aRefresherRenewsOnceAtATimeAndNeverGivesBackWhatWasRefused() throws {
    try Exploration.explore {
      let renewals = Occupancy()
      let refresher = TokenRefresher<Int> { request in
        await renewals.during { _ in
          do {
            try await Exploration.work()
            return .refreshed(request.credential + 1)
          } catch {
            return .failed(error)
          }
        }
      }
      refresher.signIn(with: 1)
      let history = ConcurrentHistory<Int, Int>()
      _ = try await Exploration.crowd(5) { _ in
        let access = try await refresher.access()
        return try await history.record(access.credential + 1) {
          try await refresher.access(insteadOf: access).credential
        }
      }
      try requireLinearizable(history, as: Newest())
      try requireTrue(renewals.counts.most <= 1, "\(renewals.counts)")
      try requireEqual(refresher.queued, 0)
    }
  }

  @Test func anAdaptiveLimitStaysInItsRangeAndGivesEachPlaceBack() throws {
    try Exploration.explore {
      let bulkhead = Bulkhead(
        "places",
        policy: try BulkheadPolicy(maxConcurrent: 2, maxQueue: 2),
        adapting: try .aimd(in: 1...4)
      ) { $0 is Exploration.Unreachable }
      let running = Occupancy()
      _ = try await Exploration.crowd(8) { _ in
        try await bulkhead.run { try await running.during { _ in try await Exploration.work(failing: 0.5) } }
      }
      try requireTrue(running.counts.most <= 4, "\(running.counts)")
      try requireEqual(running.counts.now, 0)
      let snapshot = bulkhead.snapshot
      try requireTrue((1...4).contains(snapshot.limit), "\(snapshot)")
      try requireEqual(snapshot.running, 0)
      try requireEqual(snapshot.queued, 0)
    }
  }

  @Test func aThrottleCountsEachCallOnceAndForgetsThem() throws {
    try Exploration.explore {
      let throttle = AdaptiveThrottle("service", policy: try AdaptiveThrottlePolicy(factor: 1.1, window: .seconds(20)))
      let made = Occupancy()
      let results = try await Exploration.crowd(8) { _ in
        try await throttle.run { try await made.during { _ in try await Exploration.work(failing: 0.8) } }
      }
      let refused = results.count { if case .failure(let error) = $0 { error is Throttled } else { false } }
      let snapshot = throttle.snapshot()
      try requireTrue(snapshot.accepts <= snapshot.requests, "\(snapshot)")
      try requireTrue(snapshot.requests <= made.counts.total + refused, "\(snapshot), \(made.counts), \(refused)")
      try await TimeSource.current.sleep(for: .seconds(60))
      try requireEqual(throttle.snapshot(), AdaptiveThrottle.Snapshot(requests: 0, accepts: 0, refusalProbability: 0))
      try await throttle.run {}
    }
  }

  @Test func chaosMakesNoCallTwiceAndNoneAfterAFault() throws {
    struct Injected: Error {}
    try Exploration.explore {
      let chaos = Chaos<Int, any Error>()
        .fault(at: InjectionRate(0.3)) { Injected() }
        .latency(at: InjectionRate(0.5), .seconds(1)...(.seconds(3)))
      _ = try await Exploration.crowd(5) { _ in
        let calls = Occupancy()
        let result = await Task {
          try await chaos.run {
            try await calls.during { number in
              try await Exploration.work()
              return number
            }
          }
        }.result
        let isInjected = if case .failure(let error) = result { error is Injected } else { false }
        try requireTrue(calls.counts.total <= (isInjected ? 0 : 1), "\(result), \(calls.counts)")
        try requireEqual(calls.counts.now, 0)
        return result
      }
    }
  }

  @Test func aFallbackGivesTheLastGoodValueAndNeverAnOlderOne() throws {
    try Exploration.explore {
      let lastGood = try LastGood<String, Int>()
      let policy = FallbackPolicy<any Error>()
      let counter = Occupancy()
      let history = ConcurrentHistory<Int, Int>()
      _ = try await Exploration.crowd(6) { _ in
        // The answers of one who asks are remembered in the order in which they are given.
        try await policy.run {
          try await Exploration.work(failing: 0.5)
          return history.recordAtOnce(0) {
            let number = counter.next()
            lastGood.remember(number, for: "Bonn")
            return number
          }
        } fallback: { error in
          try history.recordAtOnce(0) {
            guard let saved = lastGood.value(for: "Bonn") else { throw error }
            return saved.value
          }
        }
      }
      try requireLinearizable(history, as: Newest())
    }
  }

  @Test func aPipelineOfAllOfThemGivesEverythingBack() throws {
    try Exploration.explore {
      let bulkhead = try Bulkhead("places", policy: BulkheadPolicy(maxConcurrent: 2, maxQueue: 4))
      let breaker = CircuitBreaker("service", policy: try .consecutive(3, openFor: .seconds(2)))
      let limiter = try RateLimiter("tokens", policy: .tokenBucket(3, per: .seconds(1)))
      let pipeline = try Pipeline<Int>("everything") {
        Timeout(total: .seconds(20))
        Retry(.standard)
        limiter
        bulkhead
        breaker
        Timeout(attempt: .seconds(2))
      }
      let running = Occupancy()
      _ = try await Exploration.crowd(6) { number in
        try await pipeline.run {
          try await running.during { _ in
            try await Exploration.work()
            return number
          }
        }
      }
      try requireTrue(running.counts.most <= 2, "\(running.counts)")
      try requireEqual(running.counts.now, 0)
      try requireEqual(bulkhead.snapshot.running, 0)
      try requireEqual(bulkhead.snapshot.queued, 0)
      try requireEqual(limiter.snapshot.queued, 0)
      try await TimeSource.current.sleep(for: .seconds(60))
      try await breaker.run {}
    }
  }
}
