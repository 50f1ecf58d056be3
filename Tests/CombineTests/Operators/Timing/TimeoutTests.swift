import Combine
import Dispatch
import Expectations
import ReboundTesting
import Testing

@Suite("timeout")
struct TimeoutTests {
  let upstream = TestPublisher<Int, TestFailure>()
  let scheduler = TestScheduler()

  @Test("the stream ends normally when no value comes, the upstream being cancelled first")
  func finishes() {
    let cancelsAtEnd = Shared<Int?>(nil)
    let recorder = Recorder<Int, TestFailure>(
      on: scheduler,
      whenCompleted: { [upstream] in
        cancelsAtEnd.value = upstream.cancelCount
      }
    )
    upstream.timeout(1, scheduler: scheduler).subscribe(recorder)
    scheduler.advance(by: 0.75)
    upstream.send(1)
    scheduler.advance(by: 0.75)
    upstream.send(2)
    scheduler.advance(by: 5)

    #expect(recorder.values == [1, 2] && recorder.completions == [.finished])
    expectEqual(recorder.completionTime?.nanoseconds, 2_500_000_000)
    #expect(cancelsAtEnd.value == 1 && upstream.cancelCount == 1)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("the stream fails when no value comes, if there is an error to fail with")
  func fails() {
    let recorder = Recorder<Int, TestFailure>(on: scheduler)
    upstream.timeout(1, scheduler: scheduler, customError: { .expected }).subscribe(recorder)
    scheduler.advance(by: 1)
    upstream.send(1)
    upstream.send(completion: .finished)
    scheduler.advance(by: 5)
    #expect(recorder.values.isEmpty && recorder.completions == [.failure(.expected)])
  }

  @Test("the time starts anew with the first request, but with no later one, and needs none")
  func starts() {
    let asking = Recorder<Int, TestFailure>(requesting: .none, on: scheduler)
    let silent = Recorder<Int, TestFailure>(requesting: .none, on: scheduler)
    upstream.timeout(1, scheduler: scheduler).subscribe(asking)
    upstream.timeout(1, scheduler: scheduler).subscribe(silent)
    scheduler.advance(by: 0.5)
    asking.request(.max(1))
    scheduler.advance(by: 0.25)
    asking.request(.max(2))
    scheduler.advance(by: 5)
    expectEqual(silent.completionTime?.nanoseconds, 1_000_000_000)
    expectEqual(asking.completionTime?.nanoseconds, 1_500_000_000)
    expectEqual(upstream.requests, [.max(1), .max(2)])
  }

  @Test("values and the end come on the scheduler; the answer is a request")
  func schedules() throws {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1), answering: { value, _ in .max(value) })
    upstream.timeout(1, scheduler: scheduler).subscribe(recorder)
    expectEqual(upstream.send(3), .none)
    expectEqual(upstream.send(0), .none)
    #expect(recorder.values.isEmpty)
    scheduler.advance()
    expectEqual(upstream.requests, [.max(1), .max(3)])
    upstream.send(completion: .failure(.other))
    expectEqual(scheduler.pendingCount, 1, "the end is scheduled, and the timer cancelled")
    scheduler.advance(by: 5)
    #expect(recorder.values == [3, 0] && recorder.completions == [.failure(.other)])
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("a value at the very moment when the time is over has it run anew, if the timer was made anew since")
  func meetsAValue() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.timeout(1, scheduler: scheduler).subscribe(recorder)
    scheduler.advance(by: 0.5)
    upstream.send(1)
    scheduler.schedule(after: scheduler.now.advanced(by: 1)) { [upstream] in _ = upstream.send(2) }
    scheduler.advance(by: 1)

    expectEqual(recorder.values, [1, 2])
    expectEqual(recorder.completions, [])
  }

  @Test("one timer at most is under way")
  func timers() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.timeout(1, scheduler: scheduler).subscribe(recorder)
    for value in 0..<50 {
      upstream.send(value)
      scheduler.advance(by: 0.1)
      expectEqual(scheduler.pendingCount, 1)
    }
    expectEqual(recorder.values.count, 50)
  }

  @Test("a scheduler that does the last job first changes nothing in the order")
  func backward() {
    let backward = BackwardScheduler()
    let recorder = Recorder<Int, TestFailure>()
    upstream.timeout(1, scheduler: backward).subscribe(recorder)
    for value in 0..<20 { upstream.send(value) }
    upstream.send(completion: .finished)
    backward.run()
    #expect(recorder.values == Array(0..<20) && recorder.entries.last?.event == .completion(.finished))
  }

  @Test("a timeout does not overtake values that are on their way")
  func expiresBehindValues() {
    let backward = BackwardScheduler()
    let recorder = Recorder<Int, TestFailure>()
    // The clock of this scheduler stands still, so its timer rings in spite of the values.
    upstream.timeout(0, scheduler: backward).subscribe(recorder)
    for value in 0..<5 { upstream.send(value) }
    backward.run()
    #expect(recorder.values == Array(0..<5) && recorder.entries.last?.event == .completion(.finished))
  }

  @Test("a cancel drops what is on its way, cancels timer and upstream, and nothing comes any more")
  func cancels() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.timeout(1, scheduler: scheduler).subscribe(recorder)
    upstream.send(1)
    recorder.cancel()
    recorder.cancel()
    recorder.request(.max(1))
    scheduler.advance(by: 5)
    expectEqual(recorder.events, [.subscription])
    #expect(upstream.cancelCount == 1 && upstream.requests == [.unlimited])
  }

  @Test("a cancel from inside a value, from inside the subscription and from inside the end is fine")
  func cancelsInside() {
    let inValue = Recorder<Int, TestFailure>(answering: { _, recorder in
      recorder.cancel()
      return .max(1)
    })
    upstream.timeout(1, scheduler: scheduler).subscribe(inValue)
    upstream.send(1)
    upstream.send(2)
    scheduler.advance(by: 5)
    #expect(inValue.values == [1] && inValue.completions.isEmpty)

    let atOnce = TestPublisher<Int, TestFailure>()
    let subscriber = AnySubscriber<Int, TestFailure>(receiveSubscription: { $0.cancel() })
    atOnce.timeout(1, scheduler: scheduler).subscribe(subscriber)
    #expect(atOnce.cancelCount == 1 && scheduler.pendingCount == 0)
  }

  @Test("on the immediate scheduler the stream ends as soon as it has begun, and nothing breaks")
  func immediate() {
    let asking = Recorder<Int, TestFailure>()
    upstream.timeout(1, scheduler: ImmediateScheduler.shared, customError: { .expected }).subscribe(asking)
    expectEqual(asking.events, [.subscription, .completion(.failure(.expected))])
    let silent = Recorder<Int, TestFailure>(requesting: .none)
    upstream.timeout(1, scheduler: ImmediateScheduler.shared).subscribe(silent)
    expectEqual(silent.events, [.subscription, .completion(.finished)])
    expectEqual(upstream.cancelCount, 2)
  }

  @Test("order is kept on concurrent queues, and the end comes last")
  func concurrent() {
    expectOrderKept { $0.timeout(60, scheduler: DispatchQueue.global()) }
    #if Foundation
      let operations = makeConcurrentOperationQueue()
      expectOrderKept { $0.timeout(60, scheduler: operations) }
    #endif
  }

  @Test("on a concurrent queue a timeout that races with values ends the stream once, after them")
  func races() {
    let done = Signal()
    let recorders = (0..<500).map { _ in
      let upstream = TestPublisher<Int, TestFailure>()
      let recorder = Recorder<Int, TestFailure>(whenCompleted: done.send)
      upstream.timeout(.microseconds(20), scheduler: DispatchQueue.global()).subscribe(recorder)
      DispatchQueue.global().async { for value in 0..<50 { upstream.send(value) } }
      return recorder
    }
    #expect(done.wait(times: 500))
    for recorder in recorders {
      expectEqual(recorder.values, Array(0..<recorder.values.count))
      expectEqual(recorder.entries.last?.event, .completion(.finished))
      expectEqual(recorder.completions.count, 1)
    }
  }

  @Test("everything is let go after a timeout, the end, and a cancel", arguments: 0..<3)
  func releases(way: Int) {
    weak var observed: Recorder<Int, TestFailure>?
    do {
      let upstream = TestPublisher<Int, TestFailure>()
      let recorder = Recorder<Int, TestFailure>()
      observed = recorder
      upstream.timeout(1, scheduler: scheduler).subscribe(recorder)
      upstream.send(1)
      switch way {
      case 0: recorder.cancel()
      case 1:
        upstream.send(completion: .finished)
        upstream.connections[0].letGo()
      default: scheduler.advance(by: 1)
      }
      scheduler.advance()
    }
    #expect(observed == nil)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("a second subscription is cancelled, and the subscription tells what it is")
  func reflection() throws {
    let publisher = upstream.timeout(1, scheduler: scheduler)
    #expect(publisher.interval == 1 && publisher.scheduler === scheduler && publisher.options == nil)
    #expect(publisher.customError == nil)
    let keeper = Keeper<Int, TestFailure>(Recorder<Int, TestFailure>())
    publisher.subscribe(keeper)
    let other = TestPublisher<Int, TestFailure>()
    other.subscribe(Recorder<Int, TestFailure>())
    upstream.connections[0].send(subscription: other.connections[0])
    expectEqual(other.cancelCount, 1)
    let subscription = try #require(keeper.subscription)
    subscription.request(.none)
    expectEqual(upstream.requests, [.none])
    expectEqual(String(describing: subscription), "Timeout")
    #expect(labels(of: subscription).isEmpty)
  }

  @Test("a cancel between the upstream's end and its delivery reaches the upstream, a later one does not")
  func cancelsBehindTheEnd() throws {
    for delivers in [false, true] {
      let upstream = TestPublisher<Int, TestFailure>()
      let recorder = Recorder<Int, TestFailure>()
      let keeper = Keeper<Int, TestFailure>(recorder)
      upstream.timeout(1, scheduler: scheduler).subscribe(keeper)
      upstream.send(completion: .finished)
      if delivers { scheduler.advance() }
      try #require(keeper.subscription).cancel()
      scheduler.advance()
      expectEqual(upstream.cancelCount, delivers ? 0 : 1)
      expectEqual(recorder.completions.count, delivers ? 1 : 0)
    }
  }

  @Test("a scheduler of one's own makes one timer for many values, and is asked for the time for each")
  func callsOfTheScheduler() {
    let noting = NotingScheduler()
    upstream.timeout(1, scheduler: noting).subscribe(Recorder<Int, TestFailure>())
    let before = noting.readings
    for value in 0..<10 { upstream.send(value) }
    expectEqual(noting.log.count { $0 != "at once" }, 1)
    #expect(noting.readings - before >= 10)
  }
}
