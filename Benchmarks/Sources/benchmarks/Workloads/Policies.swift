import Combine

/// Resilience policies around work that is done at once, so that nothing is measured but what they do themselves.
extension Workloads {
  /// The threads that serve timers allocate now and then, but less than once for each execution.
  static let toleranceOfTimers = 0.9

  /// Events that nobody gets cost a hundredth at most.
  private static let unwatchedLimit = (other: "policies, async: cooperative timeout → retry → breaker", most: 1.01)
  /// What is watched is referred to weakly, so that each time it is counted in and out takes longer.
  private static let unheardAdmissionLimit = (other: "policies, async: bulkhead → limiter", most: 1.6)

  /// Whole lives of publishers: made, subscribed, ended.
  static func publisherPolicies(_ rows: PolicyRows) -> [Benchmark] {
    func row<Source: Publisher<Int, PolicyRows.Failure>>(
      _ name: String,
      count: Int = 20_000,
      limit: Double? = nil,
      goal: Double? = nil,
      hasTimer: Bool = false,
      _ make: @escaping () -> Source
    ) -> Benchmark {
      Benchmark(
        "policies, publisher: \(name)",
        count: count,
        limit: limit,
        allocationGoal: goal,
        hasBacklog: hasTimer,
        tolerance: hasTimer ? toleranceOfTimers : 0.01
      ) { count in
        for _ in 0..<count {
          // Closures that capture something would need memory of their own.
          make().sink(receiveCompletion: refuseFailure, receiveValue: { _ in }).cancel()
        }
      }
    }
    return [
      row("Just") { PolicyRows.just },
      row("retry", limit: 600, goal: 5) { rows.retried() },
      row("retry, two pauses that are over at once", count: 10_000) { rows.retriedTwice() },
      row("breaker", limit: 600, goal: 5) { rows.protectedByBreaker() },
      row("bulkhead") { rows.limitedByBulkhead() },
      row("limiter") { rows.rateLimited() },
      row("timeout", count: 10_000, hasTimer: true) { rows.timedOut() },
      row("hedge", count: 10_000, hasTimer: true) { rows.hedged() },
      row("timeout → retry → breaker", count: 10_000, limit: 1_700, goal: 12, hasTimer: true) {
        rows.protectedByPipeline()
      },
    ]
  }

  /// Functions under policies that never wait.
  static func asyncPolicies(_ rows: PolicyRows, _ total: Total) -> [Benchmark] {
    [
      executions("plain call") { for _ in 0..<$0 { total.add(try await rows.plain()) } },
      executions("retry, first succeeds", limit: 60, goal: 0) {
        for _ in 0..<$0 { total.add(try await rows.retryOfSuccess()) }
      },
      executions("retry, two failures", limit: 600, goal: 2) {
        for _ in 0..<$0 { total.add(try await rows.retryOfTwoFailures()) }
      },
      executions("retry within a budget, first succeeds") {
        for _ in 0..<$0 { total.add(try await rows.retryWithinBudget()) }
      },
      executions("breaker, closed", limit: 80, goal: 0) {
        for _ in 0..<$0 { total.add(try await rows.closedBreaker()) }
      },
      executions("breaker of a key, closed") { for _ in 0..<$0 { total.add(try await rows.closedBreakerOfKey()) } },
      executions("bulkhead, free place", limit: 60, goal: 0) {
        for _ in 0..<$0 { total.add(try await rows.freeBulkhead()) }
      },
      executions("adaptive limit, free place") { for _ in 0..<$0 { total.add(try await rows.adaptingBulkhead()) } },
      executions("limiter with tokens", limit: 80, goal: 0) {
        for _ in 0..<$0 { total.add(try await rows.limiterWithTokens()) }
      },
      executions("load balancer, ten replicas") { for _ in 0..<$0 { total.add(try await rows.balanced()) } },
      executions("fallback, not needed") { for _ in 0..<$0 { total.add(try await rows.fallbackNotNeeded()) } },
      executions("repeat, no other run") { for _ in 0..<$0 { total.add(try await rows.onlyOnce()) } },
      executions("chaos that spares all") { for _ in 0..<$0 { total.add(try await rows.sparedByChaos()) } },
      executions("last good, remembered") { for _ in 0..<$0 { total.add(try await rows.rememberedAnswer()) } },
      executions("cache, fresh") { for _ in 0..<$0 { total.add(try await rows.freshOfCache()) } },
      executions("idempotency key, forgotten and run") {
        for _ in 0..<$0 { total.add(try await rows.firstOfKey()) }
      },
      executions("idempotency key, answered") { for _ in 0..<$0 { total.add(try await rows.answeredKey()) } },
      executions("coalescer, alone", count: 10_000, tolerance: toleranceOfTimers) {
        for _ in 0..<$0 { total.add(try await rows.coalescedAlone()) }
      },
      executions("credential that holds") { for _ in 0..<$0 { total.add(try await rows.withCredential()) } },
      executions("throttle, all accepted") { for _ in 0..<$0 { total.add(try await rows.throttleThatAccepts()) } },
      executions("detector, all answered") { for _ in 0..<$0 { total.add(try await rows.watchedByDetector()) } },
      executions("cooperative timeout", limit: 120, goal: 0) {
        for _ in 0..<$0 { total.add(try await rows.cooperativeTimeout()) }
      },
      executions("cooperative timeout → retry → breaker", limit: 320, goal: 2) {
        for _ in 0..<$0 { total.add(try await rows.cooperativeWholePipeline()) }
      },
      executions("these three, told to nobody", ratioLimit: unwatchedLimit) {
        for _ in 0..<$0 { total.add(try await rows.unheardWholePipeline()) }
      },
      executions("these three, in lines that nobody reads", ratioLimit: unwatchedLimit) {
        for _ in 0..<$0 { total.add(try await rows.unreadWholePipeline()) }
      },
      executions("bulkhead → limiter") { for _ in 0..<$0 { total.add(try await rows.admitted()) } },
      executions("bulkhead → limiter, told to nobody", ratioLimit: unheardAdmissionLimit) {
        for _ in 0..<$0 { total.add(try await rows.unheardAdmitted()) }
      },
    ]
  }

  /// Functions under policies that wait beside them.
  static func asyncPoliciesWithTimers(_ rows: PolicyRows, _ total: Total) -> [Benchmark] {
    func row(
      _ name: String,
      limit: Double,
      goal: Double,
      _ execute: @escaping @Sendable (_ count: Int) async throws -> Void
    ) -> Benchmark {
      executions(name, count: 10_000, limit: limit, goal: goal, tolerance: toleranceOfTimers, execute)
    }
    return [
      row("timeout not reached", limit: 700, goal: 5) {
        for _ in 0..<$0 { total.add(try await rows.timeoutNotReached()) }
      },
      row("timeout → retry → breaker", limit: 1_300, goal: 7) {
        for _ in 0..<$0 { total.add(try await rows.wholePipeline()) }
      },
      row("hedge, first wins", limit: 1_500, goal: 8) {
        for _ in 0..<$0 { total.add(try await rows.hedgeWonByFirst()) }
      },
    ]
  }

  /// A benchmark of executions one after the other in one task.
  private static func executions(
    _ name: String,
    count: Int = 50_000,
    limit: Double? = nil,
    goal: Double? = nil,
    ratioLimit: (other: String, most: Double)? = nil,
    tolerance: Double = 0.01,
    _ execute: @escaping @Sendable (_ count: Int) async throws -> Void
  ) -> Benchmark {
    .executions(
      "policies, async: \(name)",
      count: count,
      limit: limit,
      allocationGoal: goal,
      ratioLimit: ratioLimit,
      tolerance: tolerance,
      execute
    )
  }
}
