import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("limited(by:)", .virtualTime)
struct PublisherLimitedTests {
  private let scheduler = TestScheduler.current
  private let upstream = TestPublisher<Int, any Error>()
  private let log = EventLog<BulkheadEvent>()

  private func makeBulkhead(
    _ maxConcurrent: Int = 1,
    maxQueue: Int = 10,
    maxWait: Duration? = nil,
    order: BulkheadPolicy.Order = .fifo
  ) throws -> Bulkhead {
    let policy = try BulkheadPolicy(maxConcurrent: maxConcurrent, maxQueue: maxQueue, maxWait: maxWait, order: order)
    return Bulkhead("search", policy: policy).onEvent(log.write)
  }

  private func subscribe(
    _ bulkhead: Bulkhead,
    priority: Int = 0,
    requesting demand: Subscribers.Demand = .unlimited
  ) -> Recorder<Int, any Error> {
    let recorder = Recorder<Int, any Error>(requesting: demand)
    upstream.limited(by: bulkhead, priority: priority, time: scheduler.time).subscribe(recorder)
    return recorder
  }

  @Test("subscribes only when there is a place, and then with all that was requested meanwhile")
  func waits() throws {
    let bulkhead = try makeBulkhead()
    let first = subscribe(bulkhead)
    let second = subscribe(bulkhead, requesting: .max(1))
    second.request(.max(2))
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(second.subscriptionCount, 1)
    upstream.send(completion: .finished)
    #expect(first.isFinished)
    expectEqual(upstream.subscriptionCount, 2)
    expectEqual(upstream.connections[1].requests, [.max(3)])
    second.request(.max(4))
    expectEqual(upstream.connections[1].requests, [.max(3), .max(4)])
    upstream.send(7)
    expectEqual(second.values, [7])
    expectEqual(log.lines, ["admitted; 1 of 1 run", "queued; 1 wait", "released; 0 run", "admitted; 1 of 1 run"])
  }

  @Test("gives the place back before the end is delivered, so that another try finds it")
  func releasesFirst() throws {
    let bulkhead = try makeBulkhead(maxQueue: 0)
    let recorder = Recorder<Int, any Error>()
    upstream.limited(by: bulkhead, time: scheduler.time).retry(1).subscribe(recorder)
    upstream.send(completion: .failure(TestFailure.transient))
    expectEqual(upstream.subscriptionCount, 2)
    #expect(recorder.completions.isEmpty)
  }

  @Test(
    "lets those in who wait, in the order of the policy",
    arguments: [
      (BulkheadPolicy.Order.fifo, [0, 1, 2, 3]), (.lifo, [3, 2, 1, 0]), (.priority, [1, 3, 0, 2]),
    ]
  )
  func order(order: BulkheadPolicy.Order, expected: [Int]) throws {
    let bulkhead = try makeBulkhead(order: order)
    let held = try bulkhead.acquire()
    let begun = EventLog<Int>()
    for index in 0..<4 {
      Deferred {
        begun.write(index)
        return Empty<Int, any Error>()
      }
      .limited(by: bulkhead, priority: index % 2, time: scheduler.time)
      .subscribe(Recorder())
    }
    held.release()
    expectEqual(begun.events, expected)
    expectEqual(bulkhead.snapshot.running, 0)
  }

  @Test("refuses who comes when as many wait as may, with the numbers")
  func rejects() throws {
    let bulkhead = try makeBulkhead(maxQueue: 1)
    _ = subscribe(bulkhead)
    let waiting = subscribe(bulkhead)
    let refused = subscribe(bulkhead)
    expectEqual(refused.failure as? BulkheadFull, BulkheadFull(name: "search", limit: 1, queued: 1))
    expectEqual(refused.subscriptionCount, 1)
    #expect(waiting.completions.isEmpty)
    expectEqual(log.lines.last, "rejected; 1 run and 1 wait")
  }

  @Test("refuses who has waited for the longest time, to the nanosecond, with the publisher's own type of error")
  func timeOut() throws {
    let bulkhead = try makeBulkhead(maxWait: .seconds(5))
    let held = try bulkhead.acquire()
    let recorder = Recorder<Int, TestFailure>()
    let typed = TestPublisher<Int, TestFailure>()
    typed.limited(by: bulkhead, time: scheduler.time) { $0.waited == .seconds(5) ? .permanent : .transient }
      .subscribe(recorder)
    scheduler.advance(by: .nanoseconds(4_999_999_999))
    #expect(recorder.completions.isEmpty)
    scheduler.advance(by: .nanoseconds(1))
    expectEqual(recorder.failure, .permanent)
    held.release()
    expectEqual(typed.subscriptionCount, 0)
    expectEqual(bulkhead.snapshot.running, 0)
    #expect(log.lines.contains("rejected after the longest wait; 0 wait"))
  }

  @Test("stops the timer of who is let in")
  func timerStops() throws {
    let bulkhead = try makeBulkhead(maxWait: .seconds(5))
    let held = try bulkhead.acquire()
    let recorder = subscribe(bulkhead)
    expectEqual(scheduler.pendingCount, 1)
    held.release()
    expectEqual(scheduler.pendingCount, 0)
    scheduler.advance(by: 10)
    #expect(recorder.completions.isEmpty)
  }

  @Test("returns the place and the timer when cancelled in the queue, while it runs, or from inside the making")
  func cancel() throws {
    let bulkhead = try makeBulkhead(maxWait: .seconds(5))
    let running = subscribe(bulkhead)
    let waiting = subscribe(bulkhead)
    waiting.cancel()
    waiting.cancel()
    expectEqual(scheduler.pendingCount, 0)
    expectEqual(bulkhead.snapshot, Bulkhead.Snapshot(running: 1, queued: 0, limit: 1))
    running.cancel()
    expectEqual(upstream.cancelCount, 1)
    expectEqual(bulkhead.snapshot.running, 0)
    let inside = Recorder<Int, any Error>()
    Deferred { [upstream] in
      inside.cancel()
      return upstream
    }
    .limited(by: bulkhead, time: scheduler.time)
    .subscribe(inside)
    expectEqual(upstream.cancelCount, 2)
    expectEqual(bulkhead.snapshot.running, 0)
  }

  @Test("asks for nothing when it is cancelled before it could ask")
  func cancelAtSubscription() throws {
    let bulkhead = try makeBulkhead()
    upstream.limited(by: bulkhead, time: scheduler.time)
      .subscribe(
        AnySubscriber<Int, any Error>(receiveSubscription: { $0.cancel() })
      )
    #expect(log.events.isEmpty)
    expectEqual(upstream.subscriptionCount, 0)
  }

  @Test("drops what comes after the end, and a second subscription")
  func afterTheEnd() throws {
    let bulkhead = try makeBulkhead()
    let recorder = subscribe(bulkhead)
    let intruder = TestPublisher<Int, any Error>()
    intruder.subscribe(Recorder(requesting: .none))
    upstream.connections[0].send(subscription: intruder.connections[0])
    expectEqual(intruder.cancelCount, 1)
    upstream.send(completion: .finished)
    upstream.send(1)
    upstream.send(completion: .finished)
    #expect(recorder.values.isEmpty)
    expectEqual(recorder.completions.count, 1)
    expectEqual(bulkhead.snapshot.running, 0)
  }

  @Test("lets ten thousand in that end at once, one after the other, on the same stack")
  func deep() throws {
    let bulkhead = try makeBulkhead(maxQueue: 10_000)
    let held = try bulkhead.acquire()
    let recorders = (0..<10_000).map { index in
      let recorder = Recorder<Int, any Error>()
      Just(index).setFailureType(to: (any Error).self)
        .limited(by: bulkhead, time: scheduler.time)
        .subscribe(recorder)
      return recorder
    }
    held.release()
    #expect(recorders.allSatisfy { $0.isFinished })
    expectEqual(bulkhead.snapshot, Bulkhead.Snapshot(running: 0, queued: 0, limit: 1))
  }

  @Test("lets go of the downstream when it is refused, ends or is cancelled in the queue", arguments: 0..<3)
  func releases(how: Int) throws {
    let bulkhead = try makeBulkhead(maxQueue: how == 0 ? 0 : 1)
    let held = try bulkhead.acquire()
    weak var weakRecorder: Recorder<Int, any Error>?
    do {
      let recorder = subscribe(bulkhead)
      weakRecorder = recorder
      if how == 1 { recorder.cancel() }
    }
    held.release()
    if how == 2 { upstream.send(completion: .finished) }
    upstream.connections.forEach { $0.letGo() }
    #expect(weakRecorder == nil)
    expectEqual(bulkhead.snapshot.running, 0)
  }
}
