import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("HedgeSubscription")
struct HedgeSubscriptionTests {
  private typealias Policy = HedgePolicy<TestFailure>

  private let scheduler = TestScheduler()
  private let upstream = TestPublisher<Int, TestFailure>()
  private let events = Log<String>()

  private func hedged(
    hedges: Int = 1,
    delay: HedgeDelay = .after(.seconds(2))
  ) throws -> Publishers.Hedged<TestPublisher<Int, TestFailure>> {
    let policy = try Policy(maxHedges: hedges, delay: delay).when(\.isTransient)
    return upstream.hedged(policy.onEvent { [events] in events.write($0.description) }, time: scheduler.time)
  }

  // MARK: Winning

  @Test("goes on with the hedge when that is first, and cancels the primary attempt")
  func hedgeWins() throws {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(3))
    try hedged().subscribe(recorder)
    scheduler.advance(by: 2)
    expectEqual(upstream.connections.map(\.requests), [[.max(1)], [.max(1)]])
    expectEqual(upstream.connections[1].send(1), .max(2))
    #expect(upstream.connections[0].isCancelled)
    upstream.connections[1].send(2)
    upstream.connections[0].send(9)
    recorder.request(.max(4))
    expectEqual(upstream.connections[1].requests, [.max(1), .max(4)])
    upstream.connections[1].send(completion: .finished)
    expectEqual(recorder.values, [1, 2])
    #expect(recorder.isFinished)
    expectEqual(events.entries.last, "hedge 1 won after 2.0 seconds (cancelled: 1)")
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("makes no hedge when the primary attempt is in time, and stops the timer")
  func primaryWins() throws {
    let recorder = Recorder<Int, TestFailure>()
    try hedged().subscribe(recorder)
    expectEqual(scheduler.pendingCount, 1)
    expectEqual(upstream.send(1), .unlimited)
    expectEqual(scheduler.pendingCount, 0)
    scheduler.advance(by: 60)
    expectEqual(upstream.subscriptionCount, 1)
    upstream.send(completion: .failure(.transient))
    expectEqual(recorder.failure, .transient)
  }

  @Test("takes a finish for a win, too")
  func finishWins() throws {
    let recorder = Recorder<Int, TestFailure>()
    try hedged(hedges: 2, delay: .parallel).subscribe(recorder)
    upstream.connections[1].send(completion: .finished)
    #expect(recorder.isFinished)
    expectEqual(upstream.connections.map(\.cancelCount), [1, 0, 1])
  }

  @Test("passes on the winner's failure, and makes no hedge for it")
  func winnerFails() throws {
    let recorder = Recorder<Int, TestFailure>()
    try hedged(delay: .parallel).subscribe(recorder)
    upstream.connections[0].send(1)
    upstream.connections[0].send(completion: .failure(.transient))
    expectEqual(recorder.failure, .transient)
    expectEqual(upstream.subscriptionCount, 2)
  }

  @Test("does not let a fast failure of the primary attempt end it")
  func fastFailure() throws {
    let recorder = Recorder<Int, TestFailure>()
    try hedged().subscribe(recorder)
    upstream.send(completion: .failure(.transient))
    expectEqual(upstream.subscriptionCount, 2)
    upstream.send(1)
    expectEqual(recorder.values, [1])
    #expect(recorder.completion == nil)
  }

  @Test("fails as the primary attempt did when all fail, and at once when one fails fatally", arguments: [true, false])
  func failures(isFatal: Bool) throws {
    let recorder = Recorder<Int, TestFailure>()
    try hedged(delay: .parallel).subscribe(recorder)
    upstream.connections[1].send(completion: .failure(isFatal ? .permanent : .numbered(1)))
    expectEqual(recorder.failure, isFatal ? .permanent : nil)
    expectEqual(upstream.connections[0].isCancelled, isFatal)
    upstream.connections[0].send(completion: .failure(.numbered(0)))
    expectEqual(recorder.failure, isFatal ? .permanent : .numbered(0))
    expectEqual(recorder.completions.count, 1)
  }

  @Test("makes each attempt from its number")
  func numbers() throws {
    let upstream = upstream
    let numbers = Log<Int>()
    try Policy(maxHedges: 2, delay: .parallel)
      .publisher(time: scheduler.time) { hedge in
        numbers.write(hedge)
        return upstream
      }
      .subscribe(Recorder())
    expectEqual(numbers.entries, [0, 1, 2])
  }

  // MARK: Demand

  @Test("counts no delay and asks for nothing before anything is owed")
  func noDemand() throws {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    try hedged().subscribe(recorder)
    scheduler.advance(by: 3600)
    upstream.send(9)
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(upstream.requests, [])
    recorder.request(.max(1))
    recorder.request(.max(1))
    expectEqual(upstream.requests, [.max(1)])
    scheduler.advance(by: 2)
    expectEqual(upstream.connections.map(\.requests), [[.max(1)], [.max(1)]])
    expectEqual(upstream.connections[0].send(1), .max(1))
    expectEqual(recorder.values, [1])
  }

  @Test("asks the winner for what was owed and for what its value brings")
  func demandOfValue() throws {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(1),
      answering: { value, _ in value == 1 ? .max(2) : .none }
    )
    try hedged().subscribe(recorder)
    expectEqual(upstream.send(1), .max(2))
    for value in 2...5 { upstream.send(value) }
    expectEqual(recorder.values, [1, 2, 3])
  }

  @Test("drops a value that comes before the subscription")
  func valueBeforeSubscription() throws {
    var handed: AnySubscriber<Int, TestFailure>?
    let upstream = TestPublisher<Int, TestFailure>(handingOver: { handed = $0 })
    let recorder = Recorder<Int, TestFailure>()
    upstream.hedged(.standard, time: scheduler.time).subscribe(recorder)
    expectEqual(handed?.receive(1), Subscribers.Demand.none)
    let source = TestPublisher<Int, TestFailure>()
    source.subscribe(Recorder(requesting: .none))
    handed?.receive(subscription: source.connections[0])
    expectEqual(source.requests, [.max(1)])
    expectEqual(handed?.receive(2), .unlimited)
    expectEqual(recorder.values, [2])
  }

  // MARK: Synchronous attempts

  @Test("takes attempts that end while they are being subscribed to, one after the other")
  func synchronous() throws {
    let count = Log<Void>()
    let upstream = Deferred { () -> AnyPublisher<Int, TestFailure> in
      let number = count.number(())
      return number < 4
        ? Fail(error: .numbered(number)).eraseToAnyPublisher()
        : Just(number).setFailureType(to: TestFailure.self).eraseToAnyPublisher()
    }
    let recorder = Recorder<Int, TestFailure>()
    upstream.hedged(try Policy(maxHedges: 5, delay: .afterFailure), time: scheduler.time).subscribe(recorder)
    expectEqual(recorder.values, [4])
    #expect(recorder.isFinished)
    expectEqual(count.count, 4)
  }

  @Test("begins no hedge once a synchronous attempt has won", arguments: [HedgeDelay.parallel, .after(.seconds(1))])
  func synchronousWinner(delay: HedgeDelay) throws {
    let recorder = Recorder<Int, TestFailure>()
    let count = Log<Void>()
    Deferred { Just(count.number(())).setFailureType(to: TestFailure.self) }
      .hedged(try Policy(maxHedges: 5, delay: delay), time: scheduler.time)
      .subscribe(recorder)
    scheduler.advance(by: 60)
    expectEqual(recorder.values, [1])
    expectEqual(count.count, 1)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("hedges at once on a scheduler that lets all time pass at once")
  func immediateScheduler() throws {
    let recorder = Recorder<Int, TestFailure>()
    upstream.hedged(try Policy(maxHedges: 3), time: TimeSource(ImmediateScheduler.shared)).subscribe(recorder)
    expectEqual(upstream.subscriptionCount, 4)
    upstream.connections[2].send(1)
    expectEqual(recorder.values, [1])
    expectEqual(upstream.cancelCount, 3)
  }

  // MARK: The end

  @Test("cancels all attempts and the timer when it is cancelled", arguments: [0, 1, 2])
  func cancels(attempts: Int) throws {
    let recorder = Recorder<Int, TestFailure>()
    try hedged(hedges: 3).subscribe(recorder)
    for _ in 0..<attempts { scheduler.advance(by: 2) }
    recorder.cancel()
    expectEqual(upstream.connections.map(\.cancelCount), Array(repeating: 1, count: attempts + 1))
    expectEqual(scheduler.pendingCount, 0)
    let count = events.count
    scheduler.advance(by: 60)
    expectEqual(upstream.subscriptionCount, attempts + 1)
    expectEqual(events.count, count)
    #expect(recorder.completion == nil)
  }

  @Test("a cancel inside of an attempt ends it: no hedge follows, and none goes on", arguments: [0, 1])
  func cancelOfAttempt(hedge: Int) throws {
    let (upstream, events) = (TestPublisher<Int, any Error>(), events)
    let recorder = Recorder<Int, any Error>()
    let policy = try HedgePolicy<any Error>(maxHedges: 2, delay: .after(.seconds(2)))
    upstream.hedged(policy.onEvent { events.write($0.description) }, time: scheduler.time).subscribe(recorder)
    scheduler.advance(by: .seconds(2 * hedge))
    let count = events.count
    upstream.connections[hedge].send(completion: .failure(CancellationError()))
    #expect(recorder.failure is CancellationError)
    expectEqual(upstream.connections.map(\.cancelCount), hedge == 0 ? [0] : [1, 0])
    scheduler.advance(by: 60)
    expectEqual(upstream.subscriptionCount, hedge + 1)
    expectEqual(events.count, count)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("begins nothing when it is cancelled on its own subscription")
  func cancelOnSubscription() throws {
    try hedged(delay: .parallel)
      .subscribe(AnySubscriber<Int, TestFailure>(receiveSubscription: { $0.cancel() }))
    expectEqual(upstream.subscriptionCount, 0)
  }

  @Test("begins no hedge when the observer cancels")
  func cancelFromObserver() throws {
    let recorder = Recorder<Int, TestFailure>()
    upstream
      .hedged(try Policy(maxHedges: 3).onEvent { _ in recorder.cancel() }, time: scheduler.time)
      .subscribe(recorder)
    scheduler.advance(by: 2)
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(upstream.cancelCount, 1)
    #expect(recorder.completion == nil)
  }

  @Test(
    "goes on with a winner that comes while the policy is asked about a failure, fatal or not",
    arguments: [true, false]
  )
  func winWhileAsked(isFatal: Bool) throws {
    let upstream = upstream
    let recorder = Recorder<Int, TestFailure>()
    let policy = try Policy(maxHedges: 2, delay: .after(.seconds(1)))
      .when { _ in
        upstream.connections[1].send(1)
        return !isFatal
      }
    upstream.hedged(policy, time: scheduler.time).subscribe(recorder)
    scheduler.advance(by: 1)
    upstream.connections[0].send(completion: .failure(.transient))
    upstream.connections[1].send(2)
    expectEqual(recorder.values, [1, 2])
    #expect(recorder.completion == nil)
    expectEqual(upstream.subscriptionCount, 2)
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("gives back to the budget a hedge that somebody's win has made needless")
  func needlessHedge() throws {
    let upstream = upstream
    let budget = try RetryBudget.bucket(tokens: 4, cost: 4)
    let policy = try Policy().within(budget).onEvent {
      if case .begins = $0 { upstream.connections[0].send(1) }
    }
    let recorder = Recorder<Int, TestFailure>()
    upstream.hedged(policy, time: scheduler.time).subscribe(recorder)
    scheduler.advance(by: 2)
    expectEqual(recorder.values, [1])
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(budget.snapshot().granted, 1)
    expectEqual(budget.snapshot().queued, 0)
    expectEqual(budget.snapshot().available, 1)
  }

  @Test("tells the hook of a loser's failure that comes too late")
  func lateFailure() throws {
    let dropped = Log<String>()
    let observation = DroppedErrors.observe { dropped.write($0.description) }
    var handed: [AnySubscriber<Int, TestFailure>] = []
    let upstream = TestPublisher<Int, TestFailure>(handingOver: { handed.append($0) })
    upstream.hedged(try Policy(delay: .parallel), time: scheduler.time).subscribe(Recorder())
    let source = TestPublisher<Int, TestFailure>()
    source.subscribe(Recorder(requesting: .none))
    handed[0].receive(subscription: source.connections[0])
    _ = handed[0].receive(1)
    handed[1].receive(completion: .failure(.numbered(7_004)))
    expectEqual(
      dropped.entries.filter { $0.contains("7004") },
      ["Hedged dropped an error that came too late: numbered(7004)"]
    )
    observation.cancel()
  }

  @Test("lets go of the downstream at the end, even while someone holds the subscription", arguments: [true, false])
  func releases(cancels: Bool) throws {
    weak var weakRecorder: Recorder<Int, TestFailure>?
    var subscription: (any Subscription)?
    do {
      let recorder = Recorder<Int, TestFailure>()
      weakRecorder = recorder
      try hedged()
        .subscribe(
          AnySubscriber<Int, TestFailure>(
            receiveSubscription: {
              subscription = $0
              recorder.receive(subscription: $0)
            },
            receiveValue: recorder.receive(_:),
            receiveCompletion: recorder.receive(completion:)
          )
        )
      if cancels { recorder.cancel() } else { upstream.send(completion: .finished) }
    }
    expectEqual(subscription.map { "\($0)" }, "Hedged")
    #expect(weakRecorder == nil)
    subscription?.request(.max(1))
    subscription?.cancel()
    expectEqual(upstream.requests, [.max(1)])
  }

  @Test("has one winner and one end, whoever comes at the same time", arguments: 0..<3 as Range<UInt64>)
  func race(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let policy = try Policy(maxHedges: 2, delay: .parallel)
    for _ in 0..<100 {
      let (scheduler, upstream) = (TestScheduler(), TestPublisher<Int, TestFailure>())
      let recorder = Recorder<Int, TestFailure>()
      upstream.hedged(policy, time: scheduler.time).subscribe(recorder)
      let fails = (0..<3).map { _ in Bool.random(using: &random) }
      DispatchQueue.concurrentPerform(iterations: 3) { index in
        let connection = upstream.connections[index]
        if !fails[index] { connection.send(index) }
        connection.send(completion: fails[index] ? .failure(.numbered(index)) : .finished)
      }
      expectEqual(recorder.completions.count, 1)
      let losers = upstream.cancelCount
      if fails.contains(false) {
        let winner = recorder.values.first
        expectEqual(recorder.values.count, 1)
        expectEqual(winner.map { !fails[$0] }, true)
        #expect(losers <= 2)
      } else {
        expectEqual(recorder.failure, .numbered(0))
        expectEqual(losers, 0)
      }
    }
  }
}
