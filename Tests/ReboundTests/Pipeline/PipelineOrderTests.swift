import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("The order of a Pipeline's stages", .virtualTime)
struct PipelineOrderTests {
  /// Two policies in one order, and what comes of a call under them.
  struct Order: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// Whether calls hang; otherwise they fail at once.
    let hangs: Bool
    /// How many calls are made.
    let calls: Int
    /// When it is over, and how.
    let seconds: Int
    let end: String
    let pipeline: @Sendable (TimeSource) throws -> Pipeline<Int>

    init<Stages: PipelineStage>(
      _ title: String,
      hangs: Bool = false,
      calls: Int,
      after seconds: Int,
      _ end: String,
      @PipelineBuilder<Int> stages: @escaping @Sendable () throws -> Stages
    ) where Stages.Output == Int {
      (testDescription, self.hangs, self.calls, self.seconds) = (title, hangs, calls, seconds)
      self.end = end
      pipeline = { try Pipeline("weather", time: $0, stages: stages) }
    }
  }

  /// Three attempts, a second apart.
  static let retry = Retry(.init(clamping: 2, backoff: .constant(.seconds(1))))

  static let orders: [Order] = [
    Order("a limit inside of the retry is for each attempt", hangs: true, calls: 3, after: 8, "attempt") {
      retry
      Timeout(attempt: .seconds(2))
    },
    Order("a limit outside of the retry is for all of it", hangs: true, calls: 1, after: 2, "total") {
      Timeout(total: .seconds(2))
      retry
    },
    Order("no wait begins that would end after a limit outside of the retry", calls: 2, after: 1, "failure") {
      Timeout(total: .milliseconds(1_500))
      retry
    },
    Order("a breaker inside of the retry is asked for each attempt", calls: 2, after: 2, "circuit open") {
      retry
      CircuitBreaker("weather", policy: try CircuitBreakerPolicy(consecutiveFailures: 2))
    },
    Order("a fallback outside of the retry comes after the last attempt", calls: 3, after: 2, "value 7") {
      Fallback(to: 7)
      retry
    },
    Order("a fallback inside of the retry comes before another attempt", calls: 1, after: 0, "value 7") {
      retry
      Fallback(to: 7, when: { $0 is TestFailure })
    },
    Order("a breaker outside of the limit counts its timeouts", hangs: true, calls: 1, after: 4, "circuit open") {
      retry
      CircuitBreaker("weather", policy: try CircuitBreakerPolicy(consecutiveFailures: 1))
      Timeout(attempt: .seconds(3))
    },
    Order("a breaker inside of the limit sees only a cancel", hangs: true, calls: 3, after: 11, "attempt") {
      retry
      Timeout(attempt: .seconds(3))
      CircuitBreaker("weather", policy: try CircuitBreakerPolicy(consecutiveFailures: 1))
    },
    Order("a rate limiter inside of the retry counts each attempt", calls: 1, after: 1, "rate limited") {
      Retry(.init(clamping: 1, backoff: .constant(.seconds(1))))
      RateLimiter("weather", policy: try .tokenBucket(1, per: .seconds(3_600)))
    },
    Order("a rate limiter outside of the retry counts the call", calls: 2, after: 1, "failure") {
      RateLimiter("weather", policy: try .tokenBucket(1, per: .seconds(3_600)))
      Retry(.init(clamping: 1, backoff: .constant(.seconds(1))))
    },
  ]

  @Test("decides what happens", arguments: orders)
  func decides(_ order: Order) throws {
    let scheduler = TestScheduler.current
    let pipeline = try order.pipeline(scheduler.time)
    let upstream = TestPublisher<Int, TestFailure> { connection in
      if !order.hangs { connection.send(completion: .failure(.transient)) }
    }
    let recorder = Recorder<Int, any Error>(on: scheduler)
    upstream.protected(by: pipeline).subscribe(recorder)
    scheduler.advance(by: .seconds(100))
    let end =
      switch recorder.failure {
      case nil: "value \(recorder.values.first ?? 0)"
      case let error as TimedOut: "\(error.kind)"
      case is CircuitOpen: "circuit open"
      case is RateLimited: "rate limited"
      default: "failure"
      }
    expectEqual(end, order.end)
    expectEqual(upstream.subscriptionCount, order.calls)
    expectEqual(recorder.completionTime.map { $0.nanoseconds.rounded(toSeconds: .up) }, order.seconds)
    expectEqual(scheduler.pendingCount, 0)
  }
}

extension BinaryInteger {
  /// Nanoseconds as whole seconds, rounded.
  fileprivate func rounded(toSeconds rule: FloatingPointRoundingRule) -> Int {
    Int((Double(self) / 1_000_000_000).rounded(rule))
  }
}
