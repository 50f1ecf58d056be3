import Combine
import Dispatch
import Expectations
import ReboundTesting
import Testing

@Suite("subscribe(on:)")
struct SubscribeOnTests {
  let upstream = TestPublisher<Int, TestFailure>()
  let scheduler = TestScheduler()

  @Test("subscribing, requests and the cancel are jobs, values and the end are not")
  func jobs() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1), answering: { value, _ in .max(value) })
    upstream.subscribe(on: scheduler).subscribe(recorder)
    #expect(upstream.subscriptionCount == 0 && scheduler.pendingCount == 1)

    scheduler.advance()
    #expect(upstream.subscriptionCount == 1 && recorder.subscriptionCount == 1)
    expectEqual(upstream.requests, [.max(1)])
    expectEqual(upstream.send(5), .max(5))
    expectEqual(recorder.values, [5])

    recorder.request(.none)
    recorder.request(.max(3))
    #expect(upstream.requests == [.max(1)] && scheduler.pendingCount == 2)
    scheduler.advance()
    expectEqual(upstream.requests, [.max(1), .none, .max(3)])

    recorder.cancel()
    expectEqual(upstream.send(6), .none)
    expectEqual(upstream.cancelCount, 0)
    scheduler.advance()
    expectEqual(upstream.cancelCount, 1)
    #expect(recorder.values == [5] && recorder.completions.isEmpty)
  }

  @Test("the end passes at once and once, and nothing comes or is asked after it")
  func ends() throws {
    let recorder = Recorder<Int, TestFailure>()
    let keeper = Keeper<Int, TestFailure>(recorder)
    upstream.subscribe(on: scheduler).subscribe(keeper)
    scheduler.advance()
    let subscription = try #require(keeper.subscription)
    upstream.send(completion: .failure(.expected))
    upstream.send(completion: .finished)
    upstream.send(1)
    subscription.request(.max(1))
    subscription.cancel()
    expectEqual(scheduler.pendingCount, 0)
    #expect(recorder.completions == [.failure(.expected)] && recorder.values.isEmpty)
    #expect(upstream.requests.isEmpty && upstream.cancelCount == 0)
  }

  @Test("a request that is overtaken by a cancel does not reach the upstream")
  func cancelOvertakes() {
    let backward = BackwardScheduler()
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    upstream.subscribe(on: backward).subscribe(recorder)
    backward.run()
    recorder.request(.max(1))
    recorder.cancel()
    recorder.cancel()
    recorder.request(.max(1))
    expectEqual(backward.jobCount, 2)
    backward.run()
    #expect(upstream.requests.isEmpty && upstream.cancelCount == 1)
  }

  @Test("what was asked for before a cancel does not begin if the cancel comes before its job")
  func cancelledRequest() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    upstream.subscribe(on: scheduler).subscribe(recorder)
    scheduler.advance()
    recorder.request(.max(1))
    recorder.cancel()
    scheduler.advance()
    #expect(upstream.requests.isEmpty && upstream.cancelCount == 1)
  }

  @Test("a request from another thread waits until the subscriber has taken its subscription")
  func waitsForHandover() {
    let (jobs, log) = (JobsSideBySide(), Shared<[String]>([]))
    let subscriber = AnySubscriber<Int, TestFailure>(
      receiveSubscription: { [upstream] subscription in
        subscription.request(.max(1))
        subscription.request(.max(2))
        let areDone = jobs.laterOnesDone.wait(times: 2)
        log.change { $0.append("both done: \(areDone), passed: \(upstream.requests)") }
      }
    )
    upstream.subscribe(on: jobs).subscribe(subscriber)
    #expect(jobs.firstDone.wait())
    expectEqual(log.value, ["both done: true, passed: []"])
    expectEqual(upstream.requests.sorted(), [.max(1), .max(2)])
  }

  @Test("order is kept on concurrent queues, and the end comes last")
  func concurrent() {
    expectOrderKept { $0.subscribe(on: DispatchQueue.global()) }
    #if Foundation
      let operations = makeConcurrentOperationQueue()
      expectOrderKept { $0.subscribe(on: operations) }
    #endif
    expectOrderKept { $0.subscribe(on: DispatchQueue.global()).receive(on: DispatchQueue.global()) }
  }

  @Test("on the immediate scheduler all happens at once, cancels from inside included")
  func immediate() {
    let recorder = Recorder<Int, TestFailure>(answering: { _, recorder in
      recorder.request(.max(2))
      recorder.cancel()
      return .none
    })
    upstream.subscribe(on: ImmediateScheduler.shared).subscribe(recorder)
    upstream.send(1)
    upstream.send(2)
    expectEqual(recorder.values, [1])
    #expect(upstream.requests == [.unlimited, .max(2)] && upstream.cancelCount == 1)
  }

  @Test("everything is let go after the end and after a cancel", arguments: [true, false])
  func releases(byCancel: Bool) {
    weak var observed: Recorder<Int, TestFailure>?
    do {
      let upstream = TestPublisher<Int, TestFailure>()
      let recorder = Recorder<Int, TestFailure>()
      observed = recorder
      upstream.subscribe(on: scheduler).subscribe(recorder)
      scheduler.advance()
      if byCancel {
        recorder.cancel()
      } else {
        upstream.send(completion: .finished)
        upstream.connections[0].letGo()
      }
      scheduler.advance()
    }
    #expect(observed == nil)
  }

  @Test("a second subscription is cancelled, and the subscription tells what it is")
  func reflection() throws {
    let publisher = upstream.subscribe(on: scheduler)
    #expect(publisher.upstream === upstream && publisher.scheduler === scheduler && publisher.options == nil)
    let keeper = Keeper<Int, TestFailure>(Recorder<Int, TestFailure>())
    publisher.subscribe(keeper)
    scheduler.advance()
    let other = TestPublisher<Int, TestFailure>()
    other.subscribe(Recorder<Int, TestFailure>())
    upstream.connections[0].send(subscription: other.connections[0])
    expectEqual(other.cancelCount, 1)
    let subscription = try #require(keeper.subscription)
    expectEqual(String(describing: subscription), "SubscribeOn")
    #expect(labels(of: subscription).isEmpty)
  }
}

/// A scheduler that does each job on whatever thread is free, and tells when the first and when the others are done.
private struct JobsSideBySide: Scheduler {
  let firstDone = Signal()
  let laterOnesDone = Signal()
  private let count = Shared(0)
  private let queue = DispatchQueue.global()

  var now: DispatchQueue.SchedulerTimeType { queue.now }
  var minimumTolerance: DispatchQueue.SchedulerTimeType.Stride { 0 }

  func schedule(options: Never?, _ action: @escaping () -> Void) {
    let number = count.change { count in
      count += 1
      return count
    }
    queue.schedule {
      action()
      (number == 1 ? firstDone : laterOnesDone).send()
    }
  }

  func schedule(
    after date: DispatchQueue.SchedulerTimeType,
    tolerance: DispatchQueue.SchedulerTimeType.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) {
    schedule(options: nil, action)
  }

  func schedule(
    after date: DispatchQueue.SchedulerTimeType,
    interval: DispatchQueue.SchedulerTimeType.Stride,
    tolerance: DispatchQueue.SchedulerTimeType.Stride,
    options: Never?,
    _ action: @escaping () -> Void
  ) -> any Cancellable {
    schedule(options: nil, action)
    return Subscriptions.empty
  }
}
