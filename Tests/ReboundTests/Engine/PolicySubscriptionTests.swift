import Combine
import Dispatch
import Expectations
import ReboundTesting
import Testing

@testable import Rebound

/// What the driver of publishers does with decisions, whichever policy takes them.
@Suite("PolicySubscription", .virtualTime)
struct PolicySubscriptionTests {
  private let scheduler = TestScheduler.current
  private let upstream = TestPublisher<Int, any Error>()
  private let log = Log<String>()

  /// Writes down where each event begins, and where a value ends.
  private func listen<P: Publisher>(
    to publisher: P,
    inside value: @escaping (Int) -> Void = { _ in }
  ) -> AnyCancellable where P.Output == Int {
    publisher.sink(
      receiveCompletion: { [log] in
        if case .finished = $0 { log.write("finished") } else { log.write("failed") }
      },
      receiveValue: { [log] in
        log.write("\($0) begins")
        value($0)
        log.write("\($0) ends")
      }
    )
  }

  // MARK: One event at a time

  @Test("an end that time brings waits for the value that is delivered, and so does the next attempt")
  func endInsideValue() {
    let (scheduler, upstream, log) = (scheduler, upstream, log)
    let attempts = Deferred { () -> AnyPublisher<Int, any Error> in
      log.write("subscribed")
      guard upstream.subscriptionCount > 0 else { return upstream.eraseToAnyPublisher() }
      return Just(2).setFailureType(to: (any Error).self).eraseToAnyPublisher()
    }
    let subscription = listen(
      to: attempts.timeout(.attempt(.seconds(1))).retry(RetryPolicy<any Error>(clamping: 1, backoff: .immediate)),
      inside: { value in
        guard value == 1 else { return }
        scheduler.advance(by: 1)
        log.write("cancelled: \(upstream.cancelCount)")
      }
    )
    upstream.send(1)
    expectEqual(
      log.entries,
      [
        "subscribed", "1 begins", "cancelled: 1", "1 ends", "subscribed", "2 begins", "2 ends", "finished",
      ]
    )
    withExtendedLifetime(subscription) {}
  }

  @Test("an end that time brings waits for the value of another thread, and nobody waits for it")
  func endBesideValue() throws {
    let (scheduler, upstream) = (scheduler, upstream)
    let (begun, reached) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let subscription = listen(
      to: upstream.timeout(.total(.seconds(1))),
      inside: { _ in
        begun.signal()
        reached.wait()
      }
    )
    try race(rounds: 1) { round in
      try round.run(
        { upstream.send(1) },
        {
          begun.wait()
          scheduler.advance(by: 1)
          reached.signal()
        }
      )
    }
    expectEqual(log.entries, ["1 begins", "1 ends", "failed"])
    expectEqual(upstream.cancelCount, 1)
    withExtendedLifetime(subscription) {}
  }

  @Test("an attempt in place of one that was interrupted waits for the value that is delivered")
  func interruptedInsideValue() {
    let (scheduler, upstream, log) = (scheduler, upstream, log)
    let attempts = Deferred { () -> AnyPublisher<Int, any Error> in
      log.write("subscribed")
      guard upstream.subscriptionCount > 0 else { return upstream.eraseToAnyPublisher() }
      return Just(2).setFailureType(to: (any Error).self).eraseToAnyPublisher()
    }
    let subscription = listen(
      to: attempts.protected(by: Interrupting(parks: false)),
      inside: { value in
        guard value == 1 else { return }
        scheduler.advance(by: 6)
        log.write("cancelled: \(upstream.cancelCount)")
      }
    )
    upstream.send(1)
    expectEqual(
      log.entries,
      [
        "subscribed", "1 begins", "cancelled: 1", "1 ends", "subscribed", "2 begins", "2 ends", "finished",
      ]
    )
    withExtendedLifetime(subscription) {}
  }

  @Test("an end that a waker brings waits for the value that is delivered")
  func wokenInsideValue() {
    let policy = Revocable()
    let subscription = listen(
      to: upstream.protected(by: policy),
      inside: { _ in policy.wakers.entries.last?.wake() }
    )
    expectEqual(upstream.subscriptionCount, 0)
    policy.wakers.entries.last?.wake()
    upstream.send(1)
    expectEqual(log.entries, ["1 begins", "1 ends", "failed"])
    expectEqual(upstream.cancelCount, 1)
    withExtendedLifetime(subscription) {}
  }

  @Test("an end that waits for a value inside of which the downstream cancels does not come")
  func cancelBehindTheEnd() {
    let recorder = Recorder<Int, any Error>(answering: { [scheduler] _, recorder in
      scheduler.advance(by: 1)
      recorder.cancel()
      return .max(1)
    })
    upstream.timeout(.total(.seconds(1))).subscribe(recorder)
    expectEqual(upstream.send(1), .none)
    expectEqual(recorder.values, [1])
    #expect(recorder.completion == nil)
    expectEqual(upstream.cancelCount, 1)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("an end that waits for a value holds on to nothing once it has come")
  func lettingGo() {
    weak var weakly: Log<Int>?
    do {
      let token = Log<Int>()
      weakly = token
      let recorder = Recorder<Int, any Error>(answering: { [scheduler] value, _ in
        token.write(value)
        scheduler.advance(by: 1)
        return .none
      })
      upstream.timeout(.total(.seconds(1))).subscribe(recorder)
      upstream.send(1)
      #expect(recorder.failure is TimedOut)
    }
    #expect(weakly == nil)
  }

  // MARK: Release

  @Test("tells the machine how many values were delivered, also when it is released and not cancelled")
  func releasedAfterValue() {
    let throttle = AdaptiveThrottle("service")
    // Forgets its subscriber once it has sent a value, and never ends.
    let stream = TestPublisher<Int, any Error>(handingOver: { subscriber in
      subscriber.receive(subscription: Subscriptions.empty)
      _ = subscriber.receive(1)
    })
    weak var weakly: Forgetful?
    do {
      let subscriber = Forgetful()
      weakly = subscriber
      stream.protected(by: throttle, time: scheduler.time).subscribe(subscriber)
      expectEqual(subscriber.values.entries, [1])
    }
    #expect(weakly == nil)
    expectEqual(throttle.snapshot(on: scheduler.time), .init(requests: 1, accepts: 1, refusalProbability: 0))
  }

  // MARK: Demand

  @Test(
    "what is requested while the machine is asked begins the limits for values",
    arguments: [TimeoutPolicy.firstValue(.seconds(5)), .betweenValues(.seconds(5))]
  )
  func requestWhileItBegins(policy: TimeoutPolicy) {
    let recorder = Recorder<Int, any Error>(requesting: .none)
    let (scheduler, reads) = (scheduler, Log<Void>())
    let time = TimeSource(
      now: {
        if reads.number(()) == 1 { recorder.request(.max(1)) }
        return scheduler.time.now
      },
      after: { scheduler.time.after($0, $1) }
    )
    upstream.timeout(policy, time: time).subscribe(recorder)
    expectEqual(upstream.requests, [.max(1)])
    scheduler.advance(by: 4)
    #expect(recorder.completion == nil)
    scheduler.advance(by: 1)
    expectEqual((recorder.failure as? TimedOut)?.limit, .seconds(5))
  }

  // MARK: Waits

  @Test("a timer that lets run on what runs lets wait on what waits")
  func timerInWait() {
    let recorder = Recorder<Int, any Error>()
    upstream.protected(by: ImpatientPause()).subscribe(recorder)
    scheduler.advance(by: 4)
    expectEqual(upstream.subscriptionCount, 0)
    scheduler.advance(by: 1)
    expectEqual(upstream.subscriptionCount, 1)
    upstream.send(1)
    upstream.send(completion: .finished)
    expectEqual(recorder.values, [1])
    #expect(recorder.isFinished)
    expectEqual(scheduler.pendingCount, 0)
  }

  // MARK: Deadlines

  @Test("an attempt that somebody else lets begin has the deadline of its own subscription, and not theirs")
  func deadlineOfOthers() throws {
    let (time, seen) = (scheduler.time, Log<Duration?>())
    let request = Deferred { () -> Empty<Int, any Error> in
      seen.write(Deadline.current?.remaining)
      return Empty()
    }
    for own in [nil, Deadline(in: .seconds(60), on: time)] {
      let bulkhead = Bulkhead("service", policy: try BulkheadPolicy(maxConcurrent: 1, maxQueue: 1))
      let permit = try bulkhead.acquire(on: time)
      let recorder = Recorder<Int, any Error>()
      Deadline.$current.withValue(own) { request.protected(by: bulkhead).subscribe(recorder) }
      Deadline.$current.withValue(Deadline(in: .seconds(1), on: time)) { permit.release() }
      #expect(recorder.isFinished)
    }
    expectEqual(seen.entries, [nil, .seconds(60)])
  }

  @Test(
    "a machine that waits when its time comes has no attempt run meanwhile, and then another",
    arguments: [false, true]
  )
  func interrupted(parks: Bool) {
    let policy = Interrupting(parks: parks)
    let recorder = Recorder<Int, any Error>()
    upstream.protected(by: policy).subscribe(recorder)
    upstream.send(1)
    scheduler.advance(by: 5)
    expectEqual(upstream.cancelCount, 1)
    if parks { policy.wakers.entries.last?.wake() } else { scheduler.advance(by: 1) }
    expectEqual(upstream.subscriptionCount, 2)
    upstream.send(2)
    upstream.send(completion: .finished)
    expectEqual(recorder.values, [1, 2])
    #expect(recorder.isFinished)
  }

  @Test("an attempt that another call has let in is no part of that call")
  func letInByAnother() throws {
    let seen = Log<Bool>()
    let request = Deferred {
      seen.write(DecisionOrigin.current == nil && ForeignCall.current == nil)
      return Just(1).setFailureType(to: (any Error).self)
    }
    let bulkhead = Bulkhead("service", policy: try BulkheadPolicy(maxConcurrent: 1, maxQueue: 1))
    let permit = try bulkhead.acquire(on: scheduler.time)
    let recorder = Recorder<Int, any Error>()
    request.protected(by: bulkhead).subscribe(recorder)
    DecisionOrigin.$current.withValue(DecisionOrigin(source: "another", events: PolicyEvents())) {
      ForeignCall.$current.withValue("another") { permit.release() }
    }
    #expect(recorder.isFinished)
    expectEqual(seen.entries, [true])
  }

  @Test(
    "a wait that has ended with the deadline of the subscription is a cancel, and one with a nearer deadline a failure",
    arguments: [1, 2, 3],
    [false, true]
  )
  func overdueWait(seconds: Int, isTraced: Bool) {
    let time = scheduler.time
    let attempts = isTraced ? upstream.checkpoint("wait").eraseToAnyPublisher() : upstream.eraseToAnyPublisher()
    let request = attempts.retry(RetryPolicy<any Error>(clamping: 1, backoff: .immediate))
    let recorder = Recorder<Int, any Error>()
    Deadline.$current.withValue(Deadline(in: .seconds(2), on: time)) { request.subscribe(recorder) }
    let overdue = TimedOut(waitingUntil: Deadline(in: .seconds(seconds), on: time), limit: .seconds(seconds))
    upstream.send(completion: .failure(overdue))
    expectEqual(upstream.subscriptionCount, seconds < 2 ? 2 : 1)
    expectEqual(recorder.failure?.withoutTrace as? TimedOut, seconds < 2 ? nil : overdue)
  }

  // MARK: Cancels inside of an attempt

  @Test("a machine hears of one cancel, also if the downstream cancels while it hears of another")
  func cancelTwice() {
    let (recorder, heard) = (Recorder<Int, any Error>(), Log<Void>())
    let policy = CancelWitness {
      heard.write(())
      recorder.cancel()
    }
    upstream.protected(by: policy).subscribe(recorder)
    upstream.send(completion: .failure(CancellationError()))
    expectEqual(heard.count, 1)
    #expect(recorder.completion == nil)
  }
}

/// Asks for everything, and does not hold its subscription.
private final class Forgetful: Subscriber {
  let values = Log<Int>()

  func receive(subscription: any Subscription) { subscription.request(.unlimited) }

  func receive(_ input: Int) -> Subscribers.Demand {
    values.write(input)
    return .none
  }

  func receive(completion: Subscribers.Completion<any Error>) {}
}

/// Says when its machine hears of a cancel.
private struct CancelWitness: Policy {
  let hears: @Sendable () -> Void
  var descriptor: StageDescriptor { StageDescriptor(PolicyKind("witness")) }
  func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(hears: hears) }

  struct Machine: PolicyMachine {
    typealias Failure = any Error
    let hears: @Sendable () -> Void
    mutating func cancelled(_ execution: ExecutionContext) { hears() }
  }
}

/// Waits for its waker, and refuses what runs when that is used again.
private struct Revocable: Policy {
  let wakers = Log<Waker>()
  var descriptor: StageDescriptor { StageDescriptor(PolicyKind("revocable")) }
  func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(wakers: wakers) }

  struct Machine: PolicyMachine {
    let wakers: Log<Waker>
    var isLetIn = false

    mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> { .park(wakers.write) }

    mutating func woken(_ execution: ExecutionContext) -> Decision<any Error> {
      defer { isLetIn = true }
      return isLetIn ? .refuse(TestFailure.permanent) : .proceed
    }
  }
}

/// Lets no attempt run when the first one has taken five seconds: for a second, or until it is woken.
private struct Interrupting: Policy {
  let parks: Bool
  let wakers = Log<Waker>()
  var descriptor: StageDescriptor { StageDescriptor(PolicyKind("interrupting")) }
  func makeMachine(_ execution: ExecutionContext) -> Machine { Machine(policy: self) }

  struct Machine: TimedMachine {
    let policy: Interrupting
    var attempts = 0
    var wakeTime: Duration?

    mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> {
      attempts += 1
      if attempts == 1 { wakeTime = execution.now + .seconds(5) }
      return .proceed
    }

    mutating func timerFired(_ execution: ExecutionContext) -> Decision<any Error> {
      wakeTime = nil
      return policy.parks ? .park(policy.wakers.write) : .wait(.seconds(1))
    }
  }
}

/// Waits for five seconds before the attempt, and looks at the clock after one.
private struct ImpatientPause: Policy {
  var descriptor: StageDescriptor { StageDescriptor(PolicyKind("pause")) }
  func makeMachine(_ execution: ExecutionContext) -> Machine { Machine() }

  struct Machine: TimedMachine {
    var hasWaited = false
    var wakeTime: Duration?

    mutating func begins(_ execution: ExecutionContext) -> Decision<any Error> {
      if hasWaited { return .proceed }
      (hasWaited, wakeTime) = (true, execution.now + .seconds(1))
      return .wait(.seconds(5))
    }

    mutating func timerFired(_ execution: ExecutionContext) -> Decision<any Error> {
      wakeTime = nil
      return .proceed
    }
  }
}
