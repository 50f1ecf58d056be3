import Combine
import Dispatch
import Expectations
import ReboundTesting
import Testing

@Suite("debounce")
struct DebounceTests {
  let upstream = TestPublisher<Int, TestFailure>()
  let scheduler = TestScheduler()

  @Test("a value comes once no other has come for as long as it takes")
  func debounces() {
    let recorder = Recorder<Int, TestFailure>(on: scheduler)
    upstream.debounce(for: 1, scheduler: scheduler).subscribe(recorder)
    expectEqual(upstream.requests, [.unlimited])

    for value in 1...4 {
      expectEqual(upstream.send(value), .none)
      scheduler.advance(by: 0.6)
    }
    scheduler.advance(by: 5)
    upstream.send(5)
    scheduler.advance(by: 1)

    expectEqual(recorder.values, [4, 5])
    expectEqual(recorder.timedValues.map(\.time.nanoseconds), [2_800_000_000, 8_400_000_000])
  }

  @Test("a value at the very moment when another is due takes its place, if the timer was made anew since")
  func meetsAValue() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.debounce(for: 1, scheduler: scheduler).subscribe(recorder)
    upstream.send(1)
    scheduler.advance(by: 0.5)
    upstream.send(2)
    scheduler.schedule(after: scheduler.now.advanced(by: 1)) { [upstream] in _ = upstream.send(3) }
    scheduler.advance(by: 5)

    expectEqual(recorder.values, [3])
  }

  @Test("one timer at most is under way, and none once the value has come")
  func timers() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.debounce(for: 1, scheduler: scheduler).subscribe(recorder)
    expectEqual(scheduler.pendingCount, 0)
    for value in 1...50 {
      upstream.send(value)
      expectEqual(scheduler.pendingCount, 1)
      scheduler.advance(by: 0.1)
    }
    scheduler.advance(by: 0.9)
    expectEqual(recorder.values, [50])
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("a value that is due without demand is dropped, and answers add to the demand")
  func demand() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none, answering: { value, _ in .max(value) })
    upstream.debounce(for: 1, scheduler: scheduler).subscribe(recorder)
    func settle(_ value: Int) {
      upstream.send(value)
      scheduler.advance(by: 1)
    }
    settle(-1)
    recorder.request(.none)
    settle(-2)
    recorder.request(.max(1))
    settle(2)
    for value in [0, 0, -3] { settle(value) }
    expectEqual(recorder.values, [2, 0, 0])
    expectEqual(upstream.requests, [.unlimited])
  }

  @Test(
    "the end comes on the scheduler, and the value that waits is lost",
    arguments: [
      Subscribers.Completion<TestFailure>.finished, .failure(.expected),
    ]
  )
  func ends(completion: Subscribers.Completion<TestFailure>) {
    let recorder = Recorder<Int, TestFailure>()
    upstream.debounce(for: 1, scheduler: scheduler).subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: completion)
    upstream.send(2)
    upstream.send(completion: .finished)
    #expect(recorder.completions.isEmpty)
    expectEqual(scheduler.pendingCount, 1)
    scheduler.advance()
    expectEqual(recorder.completions, [completion])
    scheduler.advance(by: 5)
    #expect(recorder.values.isEmpty)
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("a cancel drops the value, cancels timer and upstream, and nothing comes any more")
  func cancels() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.debounce(for: 1, scheduler: scheduler).subscribe(recorder)
    upstream.send(1)
    recorder.cancel()
    recorder.cancel()
    expectEqual(upstream.cancelCount, 1)
    expectEqual(scheduler.pendingCount, 0)
    scheduler.advance(by: 5)
    expectEqual(recorder.events, [.subscription])
  }

  @Test("a cancel between the end and its delivery wins")
  func cancelsLate() throws {
    let recorder = Recorder<Int, TestFailure>()
    upstream.debounce(for: 1, scheduler: scheduler).subscribe(recorder)
    upstream.send(completion: .finished)
    recorder.cancel()
    scheduler.advance()
    #expect(recorder.completions.isEmpty)
  }

  @Test("a cancel from inside the subscription asks the upstream for nothing")
  func cancelsAtOnce() {
    let subscriber = AnySubscriber<Int, TestFailure>(receiveSubscription: { $0.cancel() })
    upstream.debounce(for: 1, scheduler: scheduler).subscribe(subscriber)
    #expect(upstream.requests.isEmpty && upstream.cancelCount == 1)
  }

  @Test("a value sent and a cancel from inside a value take effect")
  func reenters() {
    let recorder = Recorder<Int, TestFailure>(answering: { [upstream] value, recorder in
      if value == 1 { upstream.send(2) } else { recorder.cancel() }
      return .none
    })
    upstream.debounce(for: 1, scheduler: scheduler).subscribe(recorder)
    upstream.send(1)
    scheduler.advance(by: 1)
    expectEqual(recorder.values, [1])
    scheduler.advance(by: 1)
    upstream.send(3)
    scheduler.advance(by: 5)
    #expect(recorder.values == [1, 2] && upstream.cancelCount == 1)
  }

  @Test("on the immediate scheduler values come at once")
  func immediate() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.debounce(for: 1, scheduler: ImmediateScheduler.shared).subscribe(recorder)
    upstream.send(1)
    upstream.send(2)
    upstream.send(completion: .finished)
    #expect(recorder.values == [1, 2] && recorder.isFinished)
  }

  @Test("on a concurrent queue nothing comes after the end, whatever value is due at the same time")
  func concurrent() {
    let done = Signal()
    let recorders = (0..<1000).map { _ in
      let recorder = Recorder<Int, TestFailure>(whenCompleted: done.send)
      let upstream = TestPublisher<Int, TestFailure>()
      upstream.debounce(for: .microseconds(1), scheduler: DispatchQueue.global()).subscribe(recorder)
      upstream.send(1)
      DispatchQueue.global().async { upstream.send(completion: .finished) }
      return recorder
    }
    #expect(done.wait(times: 1000))
    let allowed: [[Recorder<Int, TestFailure>.Event]] = [
      [.subscription, .value(1), .completion(.finished)], [.subscription, .completion(.finished)],
    ]
    #expect(recorders.allSatisfy { allowed.contains($0.events) })
  }

  @Test("values far enough apart all come on a concurrent queue, in order, before the end")
  func concurrentInOrder() {
    let done = Signal()
    let recorders = (0..<1000).map { _ in
      let upstream = TestPublisher<Int, TestFailure>()
      let recorder = Recorder<Int, TestFailure>(
        answering: { value, _ in
          if value < 5 { upstream.send(value + 1) } else { upstream.send(completion: .finished) }
          return .none
        },
        whenCompleted: done.send
      )
      upstream.debounce(for: .microseconds(1), scheduler: DispatchQueue.global()).subscribe(recorder)
      upstream.send(1)
      return recorder
    }
    #expect(done.wait(times: 1000))
    #expect(recorders.allSatisfy { $0.values == [1, 2, 3, 4, 5] && $0.isFinished })
  }

  @Test("everything is let go after the end and after a cancel", arguments: [true, false])
  func releases(byCancel: Bool) {
    weak var observed: Recorder<Int, TestFailure>?
    do {
      let upstream = TestPublisher<Int, TestFailure>()
      let recorder = Recorder<Int, TestFailure>()
      observed = recorder
      upstream.debounce(for: 1, scheduler: scheduler).subscribe(recorder)
      upstream.send(1)
      if byCancel {
        recorder.cancel()
      } else {
        upstream.send(completion: .finished)
        upstream.connections[0].letGo()
        scheduler.advance()
      }
    }
    #expect(observed == nil)
  }

  @Test("a second subscription is cancelled, and the subscription tells what it is and holds")
  func reflection() throws {
    let publisher = upstream.debounce(for: 1, scheduler: scheduler)
    #expect(publisher.dueTime == 1 && publisher.scheduler === scheduler && publisher.options == nil)
    let keeper = Keeper<Int, TestFailure>(Recorder<Int, TestFailure>())
    publisher.subscribe(keeper)
    let other = TestPublisher<Int, TestFailure>()
    other.subscribe(Recorder<Int, TestFailure>())
    upstream.connections[0].send(subscription: other.connections[0])
    expectEqual(other.cancelCount, 1)

    let subscription = try #require(keeper.subscription)
    subscription.request(.max(3))
    upstream.send(7)
    expectEqual(String(describing: subscription), "Debounce")
    expectEqual(labels(of: subscription), ["downstream", "downstreamDemand", "currentValue"])
    #expect(toldChild("downstream", of: subscription) as? Keeper<Int, TestFailure> === keeper)
    expectEqual(toldChild("downstreamDemand", of: subscription) as? Subscribers.Demand, .max(3))
    expectEqual(toldChild("currentValue", of: subscription) as? Int, 7)
  }

  @Test("a scheduler of one's own makes one timer for many values, and is asked for the time for each")
  func callsOfTheScheduler() {
    let noting = NotingScheduler()
    upstream.debounce(for: 1, scheduler: noting).subscribe(Recorder<Int, TestFailure>())
    let before = noting.readings
    for value in 0..<10 { upstream.send(value) }
    expectEqual(noting.log.count { $0 != "at once" }, 1)
    #expect(noting.readings - before >= 10)
  }
}
