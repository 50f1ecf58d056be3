import Combine
import Dispatch
import Expectations
import ReboundTesting
import Testing

@Suite("delay")
struct DelayTests {
  @Test("values and the end come after the pause, each counted from when it was sent")
  func delays() {
    let scheduler = TestScheduler()
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(on: scheduler)
    upstream.delay(for: 1.5, scheduler: scheduler).subscribe(recorder)
    upstream.send(1)
    scheduler.advance(by: 1)
    upstream.send(2)
    upstream.send(completion: .failure(.expected))
    scheduler.advance(by: 5)
    expectEqual(recorder.timedValues.map(\.time.nanoseconds), [1_500_000_000, 2_500_000_000])
    expectEqual(recorder.values, [1, 2])
    expectEqual(recorder.completionTime?.nanoseconds, 2_500_000_000)
    expectEqual(recorder.failure, .expected)
  }

  @Test("the tolerance is the scheduler's least unless it is given")
  func tolerance() {
    let upstream = TestPublisher<Int, TestFailure>()
    let queue = DispatchQueue.global()
    expectEqual(upstream.delay(for: 1, scheduler: queue).tolerance, queue.minimumTolerance)
    let publisher = upstream.delay(for: 1, tolerance: 0.5, scheduler: queue)
    #expect(publisher.tolerance == 0.5 && publisher.interval == 1 && publisher.scheduler === queue)
    #expect(publisher.options == nil && publisher.upstream === upstream)
  }

  @Test("order is kept on concurrent queues, and the end comes last")
  func concurrent() {
    expectOrderKept { $0.delay(for: .microseconds(50), scheduler: DispatchQueue.global()) }
    #if Foundation
      let operations = makeConcurrentOperationQueue()
      expectOrderKept { $0.delay(for: .microseconds(50), scheduler: operations) }
    #endif
  }

  @Test("a retry around a delay on a concurrent queue gets its value, a thousand times of a thousand")
  func retry() {
    let done = Signal()
    let recorders = (0..<1000).map { _ in
      let attempts = Shared(0)
      let flaky = TestPublisher<Int, TestFailure>(whenSubscribed: { connection in
        let attempt = attempts.change { count in
          count += 1
          return count
        }
        if attempt == 1 {
          connection.send(completion: .failure(.expected))
        } else {
          connection.send(42)
          connection.send(completion: .finished)
        }
      })
      let recorder = Recorder<Int, TestFailure>(whenCompleted: done.send)
      flaky.delay(for: .microseconds(20), scheduler: DispatchQueue.global()).retry(1).subscribe(recorder)
      return recorder
    }
    #expect(done.wait(times: 1000))
    #expect(recorders.filter { $0.events != [.subscription, .value(42), .completion(.finished)] }.isEmpty)
  }
}
