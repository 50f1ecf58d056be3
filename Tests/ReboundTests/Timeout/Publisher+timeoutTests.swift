import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("timeout(_:scheduler:)", .virtualTime)
struct PublisherTimeoutTests {
  private let scheduler = TestScheduler.current

  @Test("limits each attempt inside of a retry, and all of them outside")
  func aroundRetry() throws {
    let upstream = TestPublisher<Int, any Error>()
    let recorder = Recorder<Int, any Error>(on: scheduler)
    upstream
      .timeout(.attempt(.seconds(10)), time: scheduler.time)
      .retry(.constant(.seconds(1)), times: nil, time: scheduler.time)
      .timeout(.total(.seconds(30)), time: scheduler.time)
      .subscribe(recorder)
    scheduler.advance(by: 60)
    // At 0, 11 and 22 s.
    expectEqual(upstream.subscriptionCount, 3)
    expectEqual(upstream.cancelCount, 3)
    expectEqual(recorder.failure as? TimedOut, TimedOut(.total, limit: .seconds(30)))
    expectEqual(recorder.completionTime, VirtualTime(nanoseconds: 30_000_000_000))
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("fails with the publisher's own type of error when told how")
  func typed() {
    let recorder = Recorder<Int, TestFailure>()
    TestPublisher<Int, TestFailure>()
      .timeout(.total(.seconds(1)), time: scheduler.time) { .busy($0.limit) }
      .subscribe(recorder)
    scheduler.advance(by: 1)
    expectEqual(recorder.failure, .busy(.seconds(1)))
  }

  @Test("gives a publisher that cannot fail the one failure it needs")
  func neverFails() {
    let recorder = Recorder<Int, TimedOut>()
    Empty<Int, Never>(completeImmediately: false)
      .timeout(.firstValue(.seconds(1)), time: scheduler.time)
      .subscribe(recorder)
    scheduler.advance(by: 1)
    expectEqual(recorder.failure, TimedOut(.firstValue, limit: .seconds(1)))
  }

  @Test("tells each attempt how much time is left, for each subscriber anew")
  func deadline() {
    let scheduler = scheduler
    let remaining = Log<Duration>()
    let publisher = Deferred { () -> Fail<Int, any Error> in
      if let deadline = Deadline.current { remaining.write(deadline.limiting(.seconds(25))) }
      return Fail(error: TestFailure.transient)
    }
    .retry(2, after: .seconds(8), time: scheduler.time)
    .timeout(.total(.seconds(30)), time: scheduler.time)
    publisher.subscribe(Recorder())
    scheduler.advance(by: 20)
    publisher.subscribe(Recorder())
    expectEqual(remaining.entries, [.seconds(25), .seconds(22), .seconds(14), .seconds(25)])
  }
}
