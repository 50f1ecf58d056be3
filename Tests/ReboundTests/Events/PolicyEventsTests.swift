import Combine
import Dispatch
import Expectations
import ReboundTelemetry
import ReboundTesting
import Testing

@testable import Rebound

@Suite("PolicyEvents")
struct PolicyEventsTests {
  private func retried(_ attempt: Int) -> RetryEvent {
    RetryEvent(attempt: attempt, error: TestFailure.transient, delay: .seconds(1), outcome: .retrying)
  }

  private func attempts(_ log: PolicyEventLog) -> [Int] {
    log.events.map { ($0.decision as? RetryEvent)?.attempt ?? 0 }
  }

  @Test("tells those who listen, from when they do, until they leave")
  func listeners() {
    let events = PolicyEvents()
    let early = PolicyEventLog(of: events)
    events.tell(retried(1), of: "weather")
    var late: PolicyEventLog? = PolicyEventLog(of: events)
    events.tell(retried(2), of: "weather")
    expectEqual(late.map(attempts), [2])
    late = nil
    events.tell(retried(3), of: "weather")
    expectEqual(attempts(early), [1, 2, 3])
  }

  @Test("keeps nothing for those who have requested nothing")
  func noDemand() {
    let events = PolicyEvents()
    let recorder = Recorder<PolicyEvent, Never>(requesting: .none)
    events.subscribe(recorder)
    events.tell(retried(1), of: "weather")
    recorder.request(.unlimited)
    #expect(recorder.values.isEmpty)
    events.tell(retried(2), of: "weather")
    expectEqual(recorder.values.count, 1)
  }

  @Test("stamps the time, the source and the severity on each event")
  func stamps() throws {
    let scheduler = TestScheduler()
    let events = PolicyEvents(time: scheduler.time)
    let log = PolicyEventLog(of: events)
    scheduler.advance(by: .seconds(3))
    events.tell(retried(1), of: "weather")
    expectEqual(
      log.lines,
      [
        "3.0 seconds warning weather: retry: attempt 1 failed (transient); retrying in 1.0 seconds (computed)"
      ]
    )
  }

  @Test("goes by the time of the first pipeline that has one, also for what that shares, unless it was given its own")
  func timeOfPipeline() throws {
    let (scheduler, other) = (TestScheduler(), TestScheduler())
    scheduler.advance(by: .seconds(3))
    other.advance(by: .seconds(7))
    func times(_ events: PolicyEvents) throws -> [Duration] {
      let log = PolicyEventLog(of: events)
      events.tell(retried(1), of: "before")
      let breaker = CircuitBreaker("service", policy: try .consecutive(1, openFor: .seconds(30)))
      let pipelines = try [scheduler, other].map { scheduler in
        try Pipeline<Int>("weather", events: events, time: scheduler.time) {
          Retry(RetryPolicy(clamping: 0))
          breaker
        }
      }
      for pipeline in pipelines {
        let failing = Fail<Int, any Error>(error: TestFailure.transient).protected(by: pipeline)
        failing.subscribe(Recorder<Int, any Error>())
      }
      expectEqual(Set(log.events.map(\.kind)), [.retry, .circuitBreaker])
      return log.events.map(\.time)
    }
    let open = try TimeSource.$current.withValue(other.time) { try times(PolicyEvents()) }
    expectEqual(open.first, .seconds(7))
    expectEqual(Set(open.dropFirst()), [.seconds(3)])
    let said = try times(PolicyEvents(time: other.time))
    expectEqual(Set(said), [.seconds(7)])
  }

  @Test("lets events be changed and left out before anyone gets them")
  func revising() {
    let events = PolicyEvents { event in
      guard event.severity > .info else { return nil }
      var event = event
      event.severity = .error
      event.text = "(hidden)"
      return event
    }
    let log = PolicyEventLog(of: events)
    events.tell(BulkheadEvent.queued(1), of: "weather")
    events.tell(retried(1), of: "weather")
    expectEqual(log.events.map(\.description), ["weather: (hidden)"])
    expectEqual(log.events.map(\.severity), [.error])
  }

  @Test("tells events that are caused by an observer after the one that it observes")
  func reentrant() {
    let events = PolicyEvents()
    let causing = events.sink { [events] event in
      if (event.decision as? RetryEvent)?.attempt == 1 { events.tell(retried(2), of: "weather") }
    }
    let log = PolicyEventLog(of: events)
    events.tell(retried(1), of: "weather")
    expectEqual(attempts(log), [1, 2])
    causing.cancel()
  }

  @Test("watches each object once, however often it is added")
  func watchesOnce() throws {
    let events = PolicyEvents()
    let log = PolicyEventLog(of: events)
    let bulkhead = Bulkhead("search", policy: try BulkheadPolicy(maxConcurrent: 2))
    for _ in 1...3 { events.watch(bulkhead) }
    let permit = try bulkhead.acquire()
    expectEqual(log.events.map(\.description), ["search: bulkhead: admitted; 1 of 2 run"])
    expectEqual(events.gauges.map(\.description), ["search: bulkhead: 1 of 2 run, 0 wait"])
    permit.release()
  }

  @Test("does not keep alive what it watches, and reads no gauge of what is gone")
  func weakObjects() throws {
    let events = PolicyEvents()
    weak var gone: CircuitBreaker?
    for number in 0..<100 {
      let breaker = CircuitBreaker("host \(number)", policy: try CircuitBreakerPolicy())
      events.watch(breaker)
      gone = breaker
      expectEqual(events.gauges.map(\.name), ["host \(number)"])
    }
    #expect(gone == nil)
    #expect(events.gauges.isEmpty)
  }

  @Test("leaves nothing in what it has watched, however many come and go")
  func shortLives() throws {
    let coalescer = Coalescer<Int, Int, any Error>()
    for _ in 0..<10 { PolicyEvents().watch(coalescer) }
    expectEqual(coalescer.shared.guarded.withLock { $0.observers.count }, 1)
    let breaker = CircuitBreaker("host", policy: try CircuitBreakerPolicy())
    weak var gone: Audience?
    do {
      let audience = Audience()
      gone = audience
      breaker.onEvent(to: audience) { _ in }
      audience.end()
    }
    breaker.onEvent { _ in }
    #expect(gone == nil)
  }

  @Test("reads the gauges of all shared objects in the order in which they came")
  func gauges() throws {
    let events = PolicyEvents()
    let breaker = CircuitBreaker("host", policy: try CircuitBreakerPolicy())
    let limiter = RateLimiter("quota", policy: try .tokenBucket(10, per: .seconds(1)))
    let budget = try RetryBudget.bucket(tokens: 10, cost: 5)
    events.watch(breaker)
    events.watch(limiter)
    events.watch(budget, named: "weather")
    breaker.isolate()
    _ = budget.grant()?.begin()
    expectEqual(
      events.gauges.map(\.description),
      [
        "host: circuit breaker: isolated, 0 of 0 calls failed",
        "quota: rate limiter: 0 wait, 1.0 of the full rate",
        "weather: budget: 1 left, 1 granted, 0 denied",
      ]
    )
  }

  @Test("tells caches, coalescers and credentials by the name that they are given")
  func named() throws {
    let events = PolicyEvents()
    let log = PolicyEventLog(of: events)
    let cache = Cache<Int, Int, any Error>(policy: try CachePolicy(fresh: .seconds(60)))
    let coalescer = Coalescer<Int, Int, any Error>()
    let session = TokenRefresher<String> { _ in .refreshed("new") }
    events.watch(cache, named: "forecasts")
    events.watch(coalescer, named: "flights")
    events.watch(session, named: "session")
    cache.store(1, for: 7)
    Just(1).setFailureType(to: (any Error).self).coalesced(by: coalescer, for: 8).subscribe(Recorder<Int, any Error>())
    session.signIn(with: "secret")
    expectEqual(
      log.events.map(\.description),
      [
        "forecasts: cache: 7: stored",
        "flights: coalescing: 8: started",
        "flights: coalescing: 8: ended",
        "session: authentication: credential 1: signed in",
      ]
    )
  }

  @Test("tells each of 8 threads' events to each subscriber once, while others come and go")
  func threads() async {
    let events = PolicyEvents()
    let (told, log) = AsyncStream<PolicyEvent>.makeStream()
    let listener = events.sink { log.yield($0) }
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<200 {
        if number % 3 == 0 {
          let passing = PolicyEventLog(of: events)
          events.tell(BulkheadEvent.queued(thread * 200 + number), of: "weather")
          withExtendedLifetime(passing) {}
        } else {
          events.tell(BulkheadEvent.queued(thread * 200 + number), of: "weather")
        }
      }
    }
    // A thread that tells those of the others, too, leaves the rest to one of the system's after a while. This comes behind them.
    events.tell(BulkheadEvent.queued(1_600), of: "weather")
    var numbers: [Int] = []
    for await event in told {
      let number = if case .queued(let number) = event.decision as? BulkheadEvent { number } else { -1 }
      if number == 1_600 { break }
      numbers.append(number)
    }
    withExtendedLifetime(listener) {}
    expectEqual(numbers.sorted(), Array(0..<1_600))
    for thread in 0..<8 {
      let own = numbers.filter { $0 / 200 == thread }
      expectEqual(own, own.sorted())
    }
  }

  // MARK: Nobody listens

  /// A decision that is noticed when it is built.
  private struct Noticed: PolicyDecision {
    static let kind = PolicyKind("noticed")
    let word = "built"
    let description = "built"

    init(_ log: Log<Void>) { log.write(()) }
  }

  @Test("builds no decision, asks for no time and revises nothing while nobody listens")
  func nothingBuilt() {
    let (built, asked, revised) = (Log<Void>(), Log<Void>(), Log<Void>())
    let events = Self.events(asking: asked, revising: revised)
    events.tell(Noticed(built), of: "weather")
    expectEqual([built, asked, revised].map(\.entries.count), [0, 0, 0])
    let log = PolicyEventLog(of: events)
    events.tell(Noticed(built), of: "weather")
    expectEqual([built, asked, revised].map(\.entries.count), [1, 1, 1])
    expectEqual(log.events.count, 1)
  }

  /// Events that note each look at the clock, and each event that is revised.
  private static func events(asking asked: Log<Void>, revising revised: Log<Void>) -> PolicyEvents {
    let time = TimeSource(
      now: {
        asked.write(())
        return .zero
      },
      after: { _, _ in AnyCancellable {} }
    )
    return PolicyEvents(time: time) { event in
      revised.write(())
      return event
    }
  }

  @Test("takes no lock while nobody listens")
  func noLock() {
    let (events, built) = (PolicyEvents(), Log<Void>())
    // The lock is not recursive: whoever took it here would end the process.
    events.watched.adjust { _, _ in events.tell(Noticed(built), of: "weather") }
    expectEqual(built.count, 0)
  }

  @Test(
    "a pipeline that retries, opens its breaker and refuses makes nothing of it for nobody",
    arguments: [true, false]
  )
  func unheardPipeline(isInLines: Bool) throws {
    let scheduler = TestScheduler()
    let (asked, revised) = (Log<Void>(), Log<Void>())
    let events = Self.events(asking: asked, revising: revised)
    let lines = JSONLines(time: scheduler.time) { $0 }
    if isInLines { lines.follow(events) }
    let breaker = CircuitBreaker("service", policy: try .consecutive(2, openFor: .seconds(30)))
    let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) {
      Timeout(total: .seconds(10))
      Retry(RetryPolicy(clamping: 2, backoff: .constant(.seconds(1))))
      breaker
    }
    func fail() {
      let failing = Fail<Int, any Error>(error: TestFailure.transient).protected(by: pipeline)
      failing.subscribe(Recorder<Int, any Error>())
      scheduler.advance(by: .seconds(5))
    }
    fail()
    expectEqual([asked, revised].map(\.count), [0, 0])
    breaker.close()
    let log = PolicyEventLog(of: events)
    fail()
    #expect(log.events.count > 2)
    expectEqual([asked, revised].map(\.count), [log.events.count, log.events.count])
  }

  @Test(
    "what calls share builds nothing for nobody and lets them in at once, tells all to whoever comes, and no more after"
  )
  func unheardSharedObjects() throws {
    let scheduler = TestScheduler()
    let (asked, revised) = (Log<Void>(), Log<Void>())
    let events = Self.events(asking: asked, revising: revised)
    let bulkhead = Bulkhead("places", policy: try BulkheadPolicy(maxConcurrent: 2))
    let limiter = RateLimiter("rate", policy: try .tokenBucket(100, per: .seconds(1)))
    let breaker = CircuitBreaker("service", policy: try .consecutive(1, openFor: .seconds(30)))
    // Gets the refusals as well if they are built for somebody.
    let built = Log<String>()
    breaker.onChange { built.write($0.word) }
    let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) {
      bulkhead
      limiter
      breaker
    }
    func fail() {
      let failing = Fail<Int, any Error>(error: TestFailure.transient).protected(by: pipeline)
      failing.subscribe(Recorder<Int, any Error>())
    }
    func isLetInAtOnce() -> Bool {
      guard limiter.beginAtOnce(at: scheduler.elapsed), let place = bulkhead.enterAtOnce() else { return false }
      bulkhead.leave(place, .succeeded, scheduler.time)
      return true
    }
    for _ in 1...3 { fail() }
    #expect(isLetInAtOnce())
    expectEqual(built.entries, ["open"])

    var log: PolicyEventLog? = PolicyEventLog(of: events)
    #expect(!limiter.beginAtOnce(at: scheduler.elapsed))
    #expect(bulkhead.enterAtOnce() == nil)
    fail()
    let told = log?.events.filter { $0.source != "weather" }
    expectEqual(
      told?.map { "\($0.source): \($0.decision.word)" },
      [
        "places: admitted", "rate: admitted", "service: refused", "places: released",
      ]
    )
    expectEqual(built.entries, ["open", "refused"])
    let number = asked.count
    log = nil

    for _ in 1...3 { fail() }
    #expect(log == nil)
    #expect(isLetInAtOnce())
    expectEqual(built.entries, ["open", "refused"])
    expectEqual([asked, revised].map(\.count), [number, number])
  }

  @Test("no bulkhead lets a call in past a listener who has come, while others come and go on 8 threads")
  func listenersOfBulkhead() throws {
    let events = PolicyEvents()
    let bulkhead = Bulkhead("places", policy: try BulkheadPolicy(maxConcurrent: 100))
    events.watch(bulkhead)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<200 {
        let passing = events.sink { _ in }
        #expect(bulkhead.enterAtOnce() == nil)
        passing.cancel()
        // Opens the fast path if nobody listens just then.
        _ = try? bulkhead.acquire()
      }
    }
    let place = bulkhead.enterAtOnce()
    #expect(place != nil)
    expectEqual(bulkhead.snapshot.running, 1)
  }

  @Test("an object that is watched while somebody listens is heard at once")
  func watchedWhileListened() throws {
    let events = PolicyEvents()
    let log = PolicyEventLog(of: events)
    let bulkhead = Bulkhead("places", policy: try BulkheadPolicy(maxConcurrent: 1))
    #expect(bulkhead.enterAtOnce() != nil)
    events.watch(bulkhead)
    #expect(bulkhead.enterAtOnce() == nil)
    #expect(throws: BulkheadFull.self) { try bulkhead.acquire() }
    expectEqual(log.events.map(\.decision.word), ["rejected"])
  }

  @Test("knows whether somebody listens, however those who do leave")
  func isListened() {
    let events = PolicyEvents()
    #expect(!events.isListened)
    let first = events.sink { _ in }
    var second: AnyCancellable? = events.sink { _ in }
    #expect(events.isListened)
    for _ in 1...2 { first.cancel() }
    #expect(events.isListened)
    second = nil
    #expect(second == nil)
    #expect(!events.isListened)
    let once = events.first().sink { _ in }
    #expect(events.isListened)
    events.tell(retried(1), of: "weather")
    #expect(!events.isListened)
    once.cancel()
    #expect(!events.isListened)
  }

  @Test("counts who has requested nothing yet, and who leaves while it is told")
  func leavesWhileTold() {
    let events = PolicyEvents()
    let recorder = Recorder<PolicyEvent, Never>(requesting: .none)
    events.subscribe(recorder)
    #expect(events.isListened)
    recorder.request(.unlimited)
    var leaving: AnyCancellable?
    leaving = events.sink { _ in leaving?.cancel() }
    events.tell(retried(1), of: "weather")
    #expect(events.isListened)
    recorder.cancel()
    #expect(!events.isListened)
    expectEqual(recorder.values.count, 1)
  }

  @Test("counts those who come and go on 8 threads")
  func listenersOnThreads() {
    let events = PolicyEvents()
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<200 {
        let passing = events.sink { _ in }
        #expect(events.isListened)
        events.tell(retried(1), of: "weather")
        passing.cancel()
      }
    }
    #expect(!events.isListened)
  }
}
