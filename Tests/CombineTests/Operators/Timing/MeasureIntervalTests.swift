import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("measureInterval")
struct MeasureIntervalTests {
  private let upstream = TestPublisher<Int, TestFailure>()
  private let scheduler = TestScheduler()

  @Test("each value gives the time since the one before, the first since the subscription")
  func measures() {
    scheduler.advance(by: 10)
    let recorder = Recorder<VirtualTime.Stride, TestFailure>()
    upstream.measureInterval(using: scheduler).subscribe(recorder)
    scheduler.advance(by: 2)
    upstream.send(1)
    scheduler.advance(by: 0.5)
    upstream.send(2)
    upstream.send(3)
    upstream.send(completion: .failure(.expected))

    expectEqual(recorder.values, [2, 0.5, 0])
    expectEqual(recorder.completion, .failure(.expected))
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("demand passes, and what a subscriber returns becomes a request")
  func demand() {
    let recorder = Recorder<VirtualTime.Stride, TestFailure>(
      requesting: .max(2),
      answering: { _, recorder in recorder.values.count == 1 ? .max(3) : .none }
    )
    upstream.measureInterval(using: scheduler).subscribe(recorder)
    expectEqual(upstream.send(1), .none)
    expectEqual(upstream.send(2), .none)
    recorder.request(.none)

    expectEqual(upstream.requests, [.max(2), .max(3), .none])
  }

  /// A scheduler whose clock is set by hand.
  private final class HandSet: Scheduler {
    typealias Time = VirtualTime
    var now = VirtualTime.start
    var minimumTolerance: Time.Stride { 0 }

    func schedule(options: Never?, _ action: @escaping () -> Void) {}
    func schedule(after date: Time, tolerance: Time.Stride, options: Never?, _ action: @escaping () -> Void) {}
    func schedule(
      after date: Time,
      interval: Time.Stride,
      tolerance: Time.Stride,
      options: Never?,
      _ action: @escaping () -> Void
    ) -> any Cancellable { Subscriptions.empty }
  }

  @Test("a clock that is set back gives a negative time")
  func backwards() {
    let clock = HandSet()
    let recorder = Recorder<HandSet.Time.Stride, TestFailure>()
    upstream.measureInterval(using: clock).subscribe(recorder)
    clock.now = clock.now.advanced(by: 5)
    upstream.send(1)
    clock.now = clock.now.advanced(by: -2)
    upstream.send(2)
    expectEqual(recorder.values, [5, -2])
  }

  @Test("events before the subscription and after the end are ignored")
  func outOfTurn() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<VirtualTime.Stride, TestFailure>()
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).measureInterval(using: scheduler)
      .subscribe(recorder)
    _ = subscriber?.receive(1)
    subscriber?.receive(completion: .finished)
    subscriber?.receive(subscription: SubscriptionSpy())
    subscriber?.receive(completion: .finished)
    subscriber?.receive(completion: .finished)
    _ = subscriber?.receive(2)

    expectEqual(recorder.events, [.subscription, .completion(.finished)])
  }

  @Test("it holds one subscription, cancels it once and lets go")
  func laws() {
    SubscriptionLaws.check(named: "MeasureInterval") { $0.measureInterval(using: scheduler) }
  }
}
