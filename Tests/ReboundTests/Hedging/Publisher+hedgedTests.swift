import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("hedged(_:time:)")
struct PublisherHedgedTests {
  private let scheduler = TestScheduler()
  private let upstream = TestPublisher<Int, any Error>()

  @Test("races again for each attempt of a retry around it, with one budget for both")
  func underRetry() throws {
    let budget = try RetryBudget.ratio(0, floor: 3)
    let recorder = Recorder<Int, any Error>()
    upstream
      .hedged(try HedgePolicy(delay: .parallel).within(budget), time: scheduler.time)
      .retry(RetryPolicy(clamping: nil, backoff: .constant(.seconds(1))).within(budget), time: scheduler.time)
      .subscribe(recorder)
    for _ in 0..<2 {
      for connection in upstream.connections { connection.send(completion: .failure(TestFailure.transient)) }
      scheduler.advance(by: 1)
    }
    // A race of two, a retry, another race of two: three of what the budget has, and no fourth.
    expectEqual(upstream.subscriptionCount, 4)
    expectEqual(recorder.failure as? TestFailure, .transient)
    expectEqual(budget.snapshot().granted, 3)
    expectEqual(budget.snapshot().queued, 0)
  }

  @Test("learns how long a call takes from when a value is wanted")
  func latencyOfDemand() throws {
    let latencies = LatencyRecorder(minimumCount: 1)
    let policy = try HedgePolicy<any Error>(delay: .percentile(0.95, of: latencies))
    let recorder = Recorder<Int, any Error>(requesting: .none)
    upstream.hedged(policy, time: scheduler.time).subscribe(recorder)
    scheduler.advance(by: 600)
    recorder.request(.max(1))
    scheduler.advance(by: 1)
    upstream.send(1)
    expectEqual(recorder.values, [1])
    expectEqual(latencies.percentile(1), .seconds(1))
  }

  @Test("limits each attempt by a timeout inside, after which the next begins at once")
  func aroundTimeout() throws {
    let recorder = Recorder<Int, any Error>()
    upstream
      .timeout(.attempt(.seconds(1)), time: scheduler.time)
      .hedged(try HedgePolicy(delay: .afterFailure), time: scheduler.time)
      .subscribe(recorder)
    scheduler.advance(by: 2)
    expectEqual(upstream.subscriptionCount, 2)
    expectEqual(recorder.failure as? TimedOut, TimedOut(.attempt, limit: .seconds(1)))
  }
}
