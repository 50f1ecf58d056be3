import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("TimeoutExecution", .virtualTime)
struct TimeoutExecutionTests {
  private let scheduler = TestScheduler.current
  private let upstream = TestPublisher<Int, any Error>()
  private let events = Log<TimeoutEvent>()

  private func limited(_ policy: TimeoutPolicy)
    -> Publishers.WithPolicy<TestPublisher<Int, any Error>, TimeoutPolicy>
  {
    upstream.timeout(policy.onEvent(events.write), time: scheduler.time)
  }

  private func timedOut(_ recorder: Recorder<Int, any Error>) -> TimedOut? { recorder.failure as? TimedOut }

  // MARK: Limits

  @Test("fails at the limit for the whole, whether something is owed or not", arguments: [true, false])
  func total(isOwed: Bool) {
    let recorder = Recorder<Int, any Error>(requesting: isOwed ? .unlimited : .none)
    limited(.total(.seconds(10))).subscribe(recorder)
    scheduler.advance(by: 9)
    upstream.send(1)
    #expect(recorder.completion == nil)
    scheduler.advance(by: 1)
    expectEqual(timedOut(recorder), TimedOut(.total, limit: .seconds(10), values: isOwed ? 1 : 0))
    expectEqual(recorder.values, isOwed ? [1] : [])
    expectEqual(events.count, 1)
  }

  @Test("waits for the first value only")
  func firstValue() {
    let recorder = Recorder<Int, any Error>()
    limited(.firstValue(.seconds(5))).subscribe(recorder)
    scheduler.advance(by: 4)
    upstream.send(1)
    scheduler.advance(by: 3600)
    #expect(recorder.completion == nil)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("begins anew with each value, and fails when one stays away")
  func betweenValues() {
    let recorder = Recorder<Int, any Error>(on: scheduler)
    limited(.betweenValues(.seconds(5))).subscribe(recorder)
    for value in 1...4 {
      scheduler.advance(by: 4)
      upstream.send(value)
    }
    scheduler.advance(by: 60)
    expectEqual(recorder.values, [1, 2, 3, 4])
    expectEqual(recorder.completionTime, VirtualTime(nanoseconds: 21_000_000_000))
    expectEqual(timedOut(recorder), TimedOut(.betweenValues, limit: .seconds(5), elapsed: .seconds(21), values: 4))
  }

  @Test("takes no demand for no stall: none for an hour, no timeout", arguments: [true, false])
  func noDemand(isFirst: Bool) {
    let recorder = Recorder<Int, any Error>(requesting: .none, on: scheduler)
    limited(isFirst ? .firstValue(.seconds(5)) : .betweenValues(.seconds(5))).subscribe(recorder)
    scheduler.advance(by: 3600)
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    scheduler.advance(by: 4)
    #expect(recorder.completion == nil)
    scheduler.advance(by: 1)
    expectEqual(timedOut(recorder)?.elapsed, .seconds(3605))
  }

  @Test("rests while all that was owed has come, and goes on with the next request")
  func finiteDemand() {
    let recorder = Recorder<Int, any Error>(requesting: .max(2), on: scheduler)
    limited(.betweenValues(.seconds(5))).subscribe(recorder)
    upstream.send(1)
    scheduler.advance(by: 3)
    upstream.send(2)
    upstream.send(3)
    scheduler.advance(by: 3600)
    expectEqual(recorder.values, [1, 2])
    #expect(recorder.completion == nil)
    expectEqual(scheduler.pendingCount, 0)
    recorder.request(.max(1))
    scheduler.advance(by: 5)
    expectEqual(timedOut(recorder)?.values, 2)
  }

  @Test("counts from the moment at which a value brings new demand")
  func demandFromValue() {
    let recorder = Recorder<Int, any Error>(
      requesting: .max(1),
      answering: { value, _ in value == 1 ? .max(1) : .none }
    )
    limited(.betweenValues(.seconds(5))).subscribe(recorder)
    scheduler.advance(by: 4)
    expectEqual(upstream.send(1), .max(1))
    scheduler.advance(by: 4)
    #expect(recorder.completion == nil)
    upstream.send(2)
    scheduler.advance(by: 3600)
    #expect(recorder.completion == nil)
  }

  @Test("sets an earlier timer for a nearer limit, and keeps to the farther one after it")
  func twoLimits() throws {
    let recorder = Recorder<Int, any Error>(requesting: .none, on: scheduler)
    limited(try TimeoutPolicy(total: .seconds(60), betweenValues: .seconds(5))).subscribe(recorder)
    expectEqual(scheduler.nextDue, VirtualTime(nanoseconds: 60_000_000_000))
    recorder.request(.max(1))
    expectEqual(scheduler.pendingCount, 1)
    expectEqual(scheduler.nextDue, VirtualTime(nanoseconds: 5_000_000_000))
    upstream.send(1)
    scheduler.advance(by: 59)
    #expect(recorder.completion == nil)
    scheduler.advance(by: 1)
    expectEqual(timedOut(recorder)?.kind, .total)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test(
    "begins nothing that has no time",
    arguments: [TimeoutPolicy.total(.zero), .attempt(.seconds(-1)), .firstValue(.zero), .betweenValues(.zero)]
  )
  func noTime(policy: TimeoutPolicy) {
    let recorder = Recorder<Int, any Error>()
    limited(policy).subscribe(recorder)
    expectEqual(upstream.subscriptionCount, 0)
    expectEqual(timedOut(recorder)?.limit, .zero)
    expectEqual(recorder.events.count, 2)
    expectEqual(events.count, 1)
    expectEqual(scheduler.pendingCount, 0)
  }

  // MARK: Races

  @Test("lets whichever was scheduled first win at the same moment", arguments: [true, false])
  func sameMoment(valueIsFirst: Bool) {
    let recorder = Recorder<Int, any Error>()
    let (scheduler, upstream) = (scheduler, upstream)
    func scheduleValue() {
      scheduler.schedule(after: scheduler.now.advanced(by: 5)) {
        upstream.send(1)
        upstream.send(completion: .finished)
      }
    }
    if valueIsFirst { scheduleValue() }
    limited(.total(.seconds(5))).subscribe(recorder)
    if !valueIsFirst { scheduleValue() }
    scheduler.advance(by: 5)
    expectEqual(recorder.values, valueIsFirst ? [1] : [])
    expectEqual(recorder.isFinished, valueIsFirst)
    expectEqual(recorder.completions.count, 1)
    expectEqual(upstream.cancelCount, valueIsFirst ? 0 : 1)
  }

  @Test("ends once when end, timer and cancel race", arguments: 0..<3 as Range<UInt64>)
  func race(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    for _ in 0..<100 {
      let (scheduler, upstream) = (TestScheduler.current, TestPublisher<Int, any Error>())
      let recorder = Recorder<Int, any Error>()
      upstream.timeout(.betweenValues(.seconds(1)), time: scheduler.time).subscribe(recorder)
      let cancels = Bool.random(using: &random)
      DispatchQueue.concurrentPerform(iterations: 3) { index in
        switch index {
        case 0: scheduler.advance(by: 1)
        case 1: upstream.send(1)
        default: if cancels { recorder.cancel() } else { upstream.send(completion: .finished) }
        }
      }
      scheduler.advance(by: 1)
      #expect(cancels ? recorder.completions.count <= 1 : recorder.completions.count == 1)
      expectEqual(scheduler.pendingCount, 0)
    }
  }

  @Test("asks the upstream once for what is requested while its subscription comes")
  func requestRacesWithSubscription() {
    for _ in 0..<200 {
      let handed = Log<AnySubscriber<Int, any Error>>()
      let upstream = TestPublisher<Int, any Error>(handingOver: handed.write)
      let recorder = Recorder<Int, any Error>(requesting: .none)
      upstream.timeout(.betweenValues(.seconds(1)), time: scheduler.time).subscribe(recorder)
      let source = TestPublisher<Int, any Error>()
      source.subscribe(Recorder(requesting: .none))
      DispatchQueue.concurrentPerform(iterations: 2) { index in
        if index == 0 {
          recorder.request(.max(3))
        } else {
          handed.entries[0].receive(subscription: source.connections[0])
        }
      }
      expectEqual(source.requests, [.max(3)])
      recorder.cancel()
    }
  }

  // MARK: The end

  enum Ending: CaseIterable { case finish, failure, timeout, cancel }

  @Test("stops the timer and lets go of everything when it is over", arguments: Ending.allCases)
  func lettingGo(ending: Ending) {
    weak var weakRecorder: Recorder<Int, any Error>?
    weak var weakToken: Log<Int>?
    var subscription: (any Subscription)?
    do {
      let recorder = Recorder<Int, any Error>()
      let token = Log<Int>()
      (weakRecorder, weakToken) = (recorder, token)
      let upstream = upstream
      Deferred { withExtendedLifetime(token) { upstream } }
        .timeout(.betweenValues(.seconds(1)), time: scheduler.time)
        .subscribe(
          AnySubscriber<Int, any Error>(
            receiveSubscription: {
              subscription = $0
              recorder.receive(subscription: $0)
            },
            receiveValue: recorder.receive(_:),
            receiveCompletion: recorder.receive(completion:)
          )
        )
      switch ending {
      case .finish: upstream.send(completion: .finished)
      case .failure: upstream.send(completion: .failure(TestFailure.permanent))
      case .timeout: scheduler.advance(by: 1)
      case .cancel: recorder.cancel()
      }
      expectEqual(recorder.completions.count, ending == .cancel ? 0 : 1)
    }
    expectEqual(subscription.map { "\($0)" }, "TimeoutPolicy")
    expectEqual(scheduler.pendingCount, 0)
    expectEqual(upstream.cancelCount, ending == .timeout || ending == .cancel ? 1 : 0)
    upstream.connections[0].letGo()
    #expect(weakRecorder == nil)
    #expect(weakToken == nil)
    subscription?.request(.max(1))
    subscription?.cancel()
    expectEqual(upstream.requests, [.unlimited])
  }

  @Test("cancels the upstream before it delivers the failure, after the observer knows")
  func order() {
    let log = Log<String>()
    let upstream = upstream.handleEvents(receiveCancel: { log.write("cancelled") })
    upstream
      .timeout(TimeoutPolicy.total(.seconds(1)).onEvent { _ in log.write("told") }, time: scheduler.time)
      .subscribe(Recorder<Int, any Error>(whenCompleted: { log.write("failed") }))
    scheduler.advance(by: 1)
    expectEqual(log.entries, ["told", "cancelled", "failed"])
  }

  @Test("delivers nothing when the observer cancels, and cancels the upstream once")
  func cancelFromObserver() {
    let recorder = Recorder<Int, any Error>()
    upstream
      .timeout(TimeoutPolicy.total(.seconds(1)).onEvent { _ in recorder.cancel() }, time: scheduler.time)
      .subscribe(recorder)
    scheduler.advance(by: 1)
    #expect(recorder.completion == nil)
    expectEqual(upstream.cancelCount, 1)
  }

  @Test(
    "tells the hook of a failure that comes after the timeout, not of one after a cancel",
    arguments: [true, false]
  )
  func lateFailure(timesOut: Bool) {
    let number = timesOut ? 7_002 : 7_003
    let dropped = Log<String>()
    let observation = DroppedErrors.observe { dropped.write($0.description) }
    var handed: AnySubscriber<Int, any Error>?
    let upstream = TestPublisher<Int, any Error>(handingOver: { handed = $0 })
    let recorder = Recorder<Int, any Error>()
    upstream.timeout(.total(.seconds(1)), time: scheduler.time).subscribe(recorder)
    if timesOut { scheduler.advance(by: 1) } else { recorder.cancel() }
    handed?.receive(completion: .failure(TestFailure.numbered(number)))
    expectEqual(recorder.completions.count, timesOut ? 1 : 0)
    expectEqual(dropped.entries.count { $0.contains("\(number)") }, timesOut ? 1 : 0)
    observation.cancel()
  }

  @Test("times out while the upstream's subscription stays away, and cancels it when it comes")
  func noSubscription() {
    var handed: AnySubscriber<Int, any Error>?
    let upstream = TestPublisher<Int, any Error>(handingOver: { handed = $0 })
    let recorder = Recorder<Int, any Error>()
    upstream.timeout(.firstValue(.seconds(1)), time: scheduler.time).subscribe(recorder)
    scheduler.advance(by: 1)
    #expect(timedOut(recorder) != nil)
    let late = TestPublisher<Int, any Error>()
    late.subscribe(Recorder(requesting: .none))
    handed?.receive(subscription: late.connections[0])
    expectEqual(late.cancelCount, 1)
  }

  @Test("does not subscribe to the upstream when it is cancelled on its own subscription")
  func cancelOnSubscription() {
    limited(.total(.seconds(1)))
      .subscribe(AnySubscriber<Int, any Error>(receiveSubscription: { $0.cancel() }))
    expectEqual(upstream.subscriptionCount, 0)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("cancels a second subscription, and keeps the first")
  func secondSubscription() {
    limited(.total(.seconds(1))).subscribe(Recorder())
    let intruder = TestPublisher<Int, any Error>()
    intruder.subscribe(Recorder(requesting: .none))
    upstream.connections[0].send(subscription: intruder.connections[0])
    expectEqual(intruder.cancelCount, 1)
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("passes demand on, and drops what comes beyond it")
  func demand() {
    let recorder = Recorder<Int, any Error>(requesting: .max(1))
    limited(.total(.seconds(1))).subscribe(recorder)
    recorder.request(.max(2))
    recorder.request(.none)
    for value in 1...5 { upstream.send(value) }
    expectEqual(upstream.requests, [.max(1), .max(2)])
    expectEqual(recorder.values, [1, 2, 3])
  }

  @Test("times out at once on a scheduler that lets all time pass at once")
  func immediateScheduler() {
    let recorder = Recorder<Int, any Error>()
    upstream.timeout(.betweenValues(.seconds(1)), time: TimeSource(ImmediateScheduler.shared)).subscribe(recorder)
    expectEqual(timedOut(recorder)?.limit, .seconds(1))
    expectEqual(recorder.completions.count, 1)
  }
}
