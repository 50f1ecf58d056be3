import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("chaos(_:time:)")
struct PublisherChaosTests {
  private typealias Subject = Chaos<Int, TestFailure>

  private let scheduler = TestScheduler()
  private let upstream = TestPublisher<Int, TestFailure>()
  private let log = EventLog<ChaosEvent>()

  private func subscribe(
    _ chaos: Subject,
    requesting demand: Subscribers.Demand = .unlimited
  ) -> Recorder<Int, TestFailure> {
    let recorder = Recorder<Int, TestFailure>(requesting: demand, on: scheduler)
    upstream.chaos(chaos.onEvent(log.write), time: scheduler.time).subscribe(recorder)
    return recorder
  }

  @Test("passes everything through in which nothing goes wrong", arguments: [true, false])
  func transparent(touchesStreams: Bool) {
    let chaos = touchesStreams ? Subject().duplicatingValues(at: 0).droppingCompletion(at: 0) : Subject()
    let recorder = subscribe(chaos, requesting: .max(2))
    recorder.request(.max(1))
    for value in 1...2 { upstream.send(value) }
    upstream.send(completion: .failure(.transient))
    expectEqual(upstream.requests, [.max(2), .max(1)])
    expectEqual(recorder.values, [1, 2])
    expectEqual(recorder.failure, .transient)
    expectEqual(recorder.subscriptionCount, 1)
    #expect(log.events.isEmpty)
  }

  @Test("fails in place of the call")
  func fault() {
    let recorder = subscribe(Subject().fault(at: 1) { .permanent })
    expectEqual(recorder.failure, .permanent)
    expectEqual(upstream.subscriptionCount, 0)
  }

  @Test("gives a value in place of the call, once it is asked for")
  func outcome() {
    let recorder = subscribe(Subject().outcome(at: 1) { 7 }, requesting: .none)
    #expect(recorder.values.isEmpty)
    recorder.request(.max(1))
    expectEqual(recorder.values, [7])
    #expect(recorder.isFinished)
    expectEqual(upstream.subscriptionCount, 0)
  }

  @Test("does something else behind a delay when that is over, unless the call is given up before", arguments: [1, 3])
  func behaviourBehindDelay(seconds: Int) {
    let done = EventLog<String>()
    let recorder = subscribe(Subject().latency(at: 1, .seconds(3)).behaviour(at: 1) { done.write("behaviour") })
    #expect(done.events.isEmpty)
    scheduler.advance(by: .seconds(seconds))
    recorder.cancel()
    scheduler.advance(by: .seconds(60))
    expectEqual(done.events, seconds == 3 ? ["behaviour"] : [])
    expectEqual(upstream.subscriptionCount, seconds == 3 ? 1 : 0)
  }

  @Test("decides for each subscription, so that a retry may succeed")
  func retried() {
    let calls = EventLog<Int>()
    let rate = InjectionRate {
      calls.write(0)
      return calls.count > 2 ? 0 : 1
    }
    let recorder = Recorder<Int, TestFailure>()
    upstream.chaos(Subject().fault(at: rate) { .transient }, time: scheduler.time)
      .retry(5)
      .subscribe(recorder)
    upstream.send(1)
    expectEqual(recorder.values, [1])
    expectEqual(upstream.subscriptionCount, 1)
  }

  @Test("makes the call later, and not at all when it is cancelled before")
  func latency() {
    let chaos = Subject().latency(at: 1, .seconds(3))
    let recorder = subscribe(chaos, requesting: .max(1))
    let cancelled = subscribe(chaos)
    expectEqual(scheduler.pendingCount, 2)
    cancelled.cancel()
    expectEqual(scheduler.pendingCount, 1)
    recorder.request(.max(4))
    scheduler.advance(by: .nanoseconds(2_999_999_999))
    expectEqual(upstream.subscriptionCount, 0)
    scheduler.advance(by: .nanoseconds(1))
    expectEqual(upstream.requests, [.max(5)])
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("loses the end")
  func dropsCompletion() {
    let recorder = subscribe(Subject().droppingCompletion(at: 1))
    upstream.send(1)
    upstream.send(completion: .finished)
    expectEqual(recorder.values, [1])
    #expect(recorder.completions.isEmpty)
    expectEqual(log.lines, ["chaos: completion dropped"])
    recorder.cancel()
  }

  @Test("doubles values within the demand: the second waits until it is asked for, and the end behind it")
  func duplicates() {
    let recorder = subscribe(Subject().duplicatingValues(at: 1), requesting: .max(1))
    upstream.send(1)
    upstream.send(completion: .finished)
    expectEqual(recorder.values, [1])
    #expect(recorder.completions.isEmpty)
    recorder.request(.max(1))
    expectEqual(recorder.values, [1, 1])
    #expect(recorder.isFinished)
  }

  @Test("sends a value that nobody asked for")
  func violatesDemand() {
    let recorder = subscribe(Subject().violatingDemand(at: 1), requesting: .max(1))
    upstream.send(1)
    expectEqual(recorder.values, [1, 1])
    expectEqual(log.lines, ["chaos: demand violated"])
  }

  @Test("delays a value, and keeps what is behind it behind it")
  func delays() {
    let calls = EventLog<Int>()
    let second = InjectionRate {
      calls.write(0)
      return calls.count == 2 ? 1 : 0
    }
    let recorder = subscribe(Subject().delayingValues(at: second, by: .seconds(4)))
    for value in 1...3 { upstream.send(value) }
    upstream.send(completion: .finished)
    expectEqual(recorder.values, [1])
    scheduler.advance(by: 4)
    expectEqual(recorder.timedValues.map(\.time.nanoseconds), [0, 4_000_000_000, 4_000_000_000])
    expectEqual(recorder.values, [1, 2, 3])
    #expect(recorder.isFinished)
  }

  @Test("stops the timer of a delayed value when it is cancelled, and delivers nothing more")
  func cancelInDelay() {
    let recorder = subscribe(Subject().delayingValues(at: 1, by: .seconds(4)))
    upstream.send(1)
    expectEqual(scheduler.pendingCount, 1)
    recorder.cancel()
    expectEqual(scheduler.pendingCount, 0)
    expectEqual(upstream.cancelCount, 1)
    scheduler.advance(by: 9)
    #expect(recorder.values.isEmpty)
  }

  @Test("changes values")
  func corrupts() {
    let recorder = subscribe(Subject().corruptingValues(at: 1) { $0 * 100 })
    upstream.send(1)
    expectEqual(recorder.values, [100])
  }

  @Test("delivers on a queue of its own, in order, all of it")
  func elsewhere() async {
    let key = DispatchSpecificKey<Int>()
    let here = DispatchQueue(label: "here")
    here.setSpecific(key: key, value: 1)
    let places = EventLog<Bool>()
    let ended = AsyncStream<Void>.makeStream()
    let recorder = Recorder<Int, TestFailure>(
      answering: { _, _ in
        places.write(DispatchQueue.getSpecific(key: key) == nil)
        return .none
      },
      whenCompleted: { ended.continuation.yield() }
    )
    upstream.chaos(Subject().deliveringElsewhere(at: 1), time: scheduler.time).subscribe(recorder)
    let upstream = upstream
    here.async {
      for value in 0..<100 { upstream.send(value) }
      upstream.send(completion: .finished)
    }
    for await _ in ended.stream { break }
    expectEqual(recorder.values, Array(0..<100))
    expectEqual(places.events, Array(repeating: true, count: 100))
  }

  @Test("cancels a second subscription, and may be cancelled from inside a value")
  func inside() {
    let recorder = Recorder<Int, TestFailure>(answering: { _, recorder in
      recorder.cancel()
      return .max(1)
    })
    upstream.chaos(Subject().duplicatingValues(at: 1), time: scheduler.time).subscribe(recorder)
    let intruder = TestPublisher<Int, TestFailure>()
    intruder.subscribe(Recorder(requesting: .none))
    upstream.connections[0].send(subscription: intruder.connections[0])
    expectEqual(intruder.cancelCount, 1)
    upstream.send(1)
    expectEqual(recorder.values, [1])
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("lets go of the downstream when it ends or is cancelled", arguments: [true, false])
  func releases(cancels: Bool) {
    weak var weakRecorder: Recorder<Int, TestFailure>?
    do {
      let recorder = subscribe(Subject().duplicatingValues(at: 1))
      weakRecorder = recorder
      if cancels { recorder.cancel() } else { upstream.send(completion: .finished) }
    }
    upstream.connections.forEach { $0.letGo() }
    #expect(weakRecorder == nil)
  }
}
