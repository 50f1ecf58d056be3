import Combine
import Dispatch
import Expectations
import Foundation
import Rebound
import ReboundTesting
import Testing

@Suite("repeat", .virtualTime)
struct RepeatTests {
  private let scheduler = TestScheduler.current
  private let upstream = TestPublisher<Int, TestFailure>()
  private let events = Log<RepeatEvent>()

  @Test("subscribes again after each finish, as often and as late as the policy says")
  func repeats() {
    let recorder = Recorder<Int, TestFailure>(on: scheduler)
    let policy = RepeatPolicy(clamping: 2, pause: .linear(.seconds(1))).onEvent(events.write)
    upstream.repeat(policy, time: scheduler.time).subscribe(recorder)
    for value in 1...3 {
      upstream.send(value)
      upstream.send(completion: .finished)
      scheduler.advance(by: 10)
    }
    expectEqual(recorder.values, [1, 2, 3])
    #expect(recorder.isFinished)
    expectEqual(upstream.subscriptionCount, 3)
    expectEqual(
      events.entries,
      [
        .repeating(runs: 1, after: .seconds(1)), .repeating(runs: 2, after: .seconds(2)), .stopped(runs: 3),
      ]
    )
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("begins every interval, at once after a run that took longer, and makes up for none that it missed")
  func every() {
    let begins = Log<Duration>()
    let upstream = TestPublisher<Int, TestFailure>(whenSubscribed: { [scheduler] _ in begins.write(scheduler.elapsed) })
    upstream.repeat(every: .seconds(10), time: scheduler.time).subscribe(Recorder())
    for length in [35, 1, 1] {
      scheduler.advance(by: .seconds(length))
      upstream.send(completion: .finished)
      if let next = scheduler.nextDue { scheduler.advance(to: next) }
    }
    expectEqual(begins.entries, [.zero, .seconds(35), .seconds(45), .seconds(55)])
  }

  @Test("stops when the condition does not hold any more")
  func condition() {
    let recorder = Recorder<Int, TestFailure>()
    upstream
      .repeat(RepeatPolicy.standard.while { $0 < 3 }.while { $0 < 9 }, time: scheduler.time)
      .subscribe(recorder)
    for _ in 0..<3 { upstream.send(completion: .finished) }
    #expect(recorder.isFinished)
    expectEqual(upstream.subscriptionCount, 3)
  }

  @Test("ends with a failure, which repeats nothing")
  func failure() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.repeat(RepeatPolicy.standard.onEvent(events.write), time: scheduler.time).subscribe(recorder)
    upstream.send(completion: .finished)
    upstream.send(completion: .failure(.permanent))
    expectEqual(recorder.failure, .permanent)
    expectEqual(recorder.completions.count, 1)
    expectEqual(upstream.subscriptionCount, 2)
    expectEqual(events.count, 1)
  }

  @Test("carries the demand that is left over to the next run")
  func demand() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(3))
    upstream.repeat(RepeatPolicy(clamping: nil, pause: .constant(.seconds(1))), time: scheduler.time).subscribe(
      recorder
    )
    upstream.send(1)
    upstream.send(completion: .finished)
    recorder.request(.max(2))
    scheduler.advance(by: 1)
    for value in 2...9 { upstream.send(value) }
    expectEqual(upstream.requests, [.max(3), .max(4)])
    expectEqual(recorder.values, [1, 2, 3, 4, 5])
  }

  @Test("stops timer or run when it is cancelled", arguments: [true, false])
  func cancel(inPause: Bool) {
    let recorder = Recorder<Int, TestFailure>()
    upstream.repeat(RepeatPolicy(clamping: nil, pause: .constant(.seconds(1))), time: scheduler.time).subscribe(
      recorder
    )
    if inPause { upstream.send(completion: .finished) }
    recorder.cancel()
    expectEqual(scheduler.pendingCount, 0)
    expectEqual(upstream.cancelCount, inPause ? 0 : 1)
    scheduler.advance(by: 10)
    expectEqual(upstream.subscriptionCount, 1)
    #expect(recorder.completion == nil)
  }

  @Test("does nothing more when the observer cancels", arguments: [0, 1])
  func cancelFromObserver(pause: Int) {
    let recorder = Recorder<Int, TestFailure>()
    upstream
      .repeat(
        RepeatPolicy(clamping: nil, pause: .constant(.seconds(pause))).onEvent { _ in recorder.cancel() },
        time: scheduler.time
      )
      .subscribe(recorder)
    upstream.send(completion: .finished)
    scheduler.advance(by: 10)
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("takes no stack for 10,000 synchronous runs")
  func flatStack() {
    let finished = DispatchSemaphore(value: 0)
    let recorder = Recorder<Int, Never>(whenCompleted: { finished.signal() })
    let thread = Thread {
      Just(1).repeat(RepeatPolicy(clamping: 9_999), time: TimeSource(ImmediateScheduler.shared)).subscribe(recorder)
    }
    thread.stackSize = 128 * 1_024
    thread.start()
    finished.wait()
    expectEqual(recorder.values.count, 10_000)
    #expect(recorder.isFinished)
  }

  enum Ending: CaseIterable { case finish, cancel, cancelFromObserver }

  @Test("lets go of everything when it is over, even while someone holds the subscription", arguments: Ending.allCases)
  func releases(ending: Ending) {
    weak var weakRecorder: Recorder<Int, TestFailure>?
    weak var weakToken: Log<Int>?
    var subscription: (any Subscription)?
    do {
      let (recorder, token) = (Recorder<Int, TestFailure>(), Log<Int>())
      (weakRecorder, weakToken) = (recorder, token)
      let policy = RepeatPolicy(clamping: ending == .cancelFromObserver ? 1 : 0).onEvent { _ in
        token.write(0)
        if ending == .cancelFromObserver { recorder.cancel() }
      }
      upstream
        .repeat(policy, time: scheduler.time)
        .handleEvents(receiveSubscription: { subscription = $0 })
        .subscribe(recorder)
      if ending == .cancel { recorder.cancel() } else { upstream.send(completion: .finished) }
      expectEqual(token.count, ending == .cancel ? 0 : 1)
    }
    expectEqual(subscription.map { "\($0)" }, "RepeatPolicy")
    upstream.connections[0].letGo()
    #expect(weakRecorder == nil)
    #expect(weakToken == nil)
  }
}
