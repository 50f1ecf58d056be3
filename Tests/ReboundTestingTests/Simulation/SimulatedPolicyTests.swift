import Expectations
import Rebound
import ReboundTesting
import StreamSupport
import Testing

/// What the package makes runs in a simulation without one more parameter.
@Suite struct SimulatedPolicyTests {
  private struct Unreachable: Error {}

  /// How many run, and how many ran at most.
  private final class Occupancy: Sendable {
    private let counts = Locked([0, 0])

    var now: Int { counts.withLock { $0[0] } }
    var most: Int { counts.withLock { $0[1] } }

    func enter() { counts.withLock { $0 = [$0[0] + 1, max($0[1], $0[0] + 1)] } }

    func leave() { counts.withLock { $0[0] -= 1 } }
  }

  @Test func aRetryWaitsInVirtualTimeAlsoInADetachedTask() throws {
    let report = try Simulation(seed: 1).run {
      let attempts = Locked(0)
      let policy = RetryPolicy<any Error>(clamping: 3, backoff: .constant(.seconds(60)))
      let value = try await Task.detached {
        try await policy.run {
          let attempt = attempts.withLock { attempts in
            attempts += 1
            return attempts
          }
          if attempt < 4 { throw Unreachable() }
          return attempt
        }
      }.value
      try requireEqual(value, 4)
    }
    expectEqual(report.duration, .seconds(180))
  }

  @Test func noScheduleOfATimeoutAgainstItsResultGivesTwoEnds() throws {
    try simulate(runs: 500) {
      let policy = TimeoutPolicy.attempt(.seconds(5))
      let result = await Task {
        try await policy.run { try await ContinuousClock().sleep(for: .seconds(5)) }
      }.result
      switch result {
      case .success: break
      case .failure(let error): try requireTrue(error is TimedOut, "\(error)")
      }
      try requireEqual(TimeSource.current.now, .seconds(5))
    }
  }

  @Test func noScheduleOfCancelsHasMoreRunningThanTheBulkheadLetsIn() throws {
    try simulate(runs: 500) {
      let bulkhead = Bulkhead("weather", policy: try BulkheadPolicy(maxConcurrent: 2, maxQueue: 10))
      let running = Occupancy()
      let calls = (0..<5).map { _ in
        Task {
          try await bulkhead.run {
            running.enter()
            defer { running.leave() }
            try await TimeSource.current.sleep(for: .seconds(1))
          }
        }
      }
      calls[1].cancel()
      calls[3].cancel()
      for call in calls { _ = await call.result }
      try requireTrue(running.most <= 2, "\(running.most) ran")
      try requireEqual(running.now, 0)
      try await bulkhead.run {}
    }
  }

  @Test func noScheduleOfACancelTakesACoalescedValueFromOthers() throws {
    try simulate(runs: 500) {
      let coalescer = Coalescer<String, Int, any Error>()
      let calls = (0..<3).map { _ in
        Task {
          try await coalescer.run("Bonn") {
            try await TimeSource.current.sleep(for: .seconds(1))
            return 21
          }
        }
      }
      calls[0].cancel()
      for call in calls[1...] { try requireEqual(try await call.value, 21) }
      _ = await calls[0].result
    }
  }
}
