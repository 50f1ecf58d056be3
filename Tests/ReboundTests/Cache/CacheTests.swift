import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("Cache")
struct CacheTests {
  private typealias Subject = Cache<String, Int, TestFailure>

  private let scheduler = TestScheduler()
  private let upstream = TestPublisher<Int, TestFailure>()
  private let log = EventLog<CacheEvent<String>>()

  private func makeCache(
    fresh: Duration = .seconds(10),
    staleWhileRevalidate: Duration = .zero,
    staleIfError: Duration = .zero,
    negative: Duration = .zero,
    maxCount: Int = 100,
    maxCost: Int? = nil,
    lifetime: @escaping @Sendable (Int) -> CacheLifetime? = { _ in nil }
  ) throws -> Subject {
    let policy = try CachePolicy(
      fresh: fresh,
      staleWhileRevalidate: staleWhileRevalidate,
      staleIfError: staleIfError,
      negative: negative,
      maxCount: maxCount,
      maxCost: maxCost
    )
    let cache = Subject(
      policy: policy,
      lifetime: lifetime,
      cost: { $0 },
      staleWhen: \.isTransient
    )
    return cache.onEvent(log.write)
  }

  private func ask(
    _ cache: Subject,
    _ key: String = "oslo",
    requesting demand: Subscribers.Demand = .unlimited
  ) -> Recorder<Cached<Int>, TestFailure> {
    let recorder = Recorder<Cached<Int>, TestFailure>(requesting: demand)
    upstream.cached(in: cache, for: key, time: scheduler.time).subscribe(recorder)
    return recorder
  }

  private func store(_ value: Int, for key: String, in cache: Subject) {
    cache.store(value, for: key, at: scheduler.elapsed)
  }

  private func peek(_ key: String, in cache: Subject) -> Cached<Int>? {
    cache.peek(key, on: scheduler.time)
  }

  // MARK: Freshness

  @Test("delivers what is fresh without a call, with its age, to the nanosecond")
  func fresh() throws {
    let cache = try makeCache()
    let first = ask(cache)
    upstream.send(1)
    expectEqual(first.summary, ["1 0.0 seconds network"])
    #expect(first.isFinished)
    scheduler.advance(by: .nanoseconds(9_999_999_999))
    expectEqual(ask(cache).summary, ["1 9.999999999 seconds cache"])
    scheduler.advance(by: .nanoseconds(1))
    #expect(ask(cache).summary.isEmpty)
    expectEqual(upstream.subscriptionCount, 2)
  }

  @Test("asks for one value, once one is wanted, and cancels the upstream after it")
  func demand() throws {
    let cache = try makeCache()
    let recorder = ask(cache, requesting: .none)
    #expect(upstream.requests.isEmpty)
    recorder.request(.max(5))
    upstream.send(1)
    upstream.send(2)
    expectEqual(recorder.values.map(\.value), [1])
    expectEqual(upstream.cancelCount, 1)
    let kept = ask(cache, requesting: .none)
    #expect(kept.values.isEmpty)
    kept.request(.max(1))
    expectEqual(kept.values.map(\.value), [1])
  }

  @Test("delivers what is stale at once while one new value is fetched, which is for the next")
  func revalidate() throws {
    let cache = try makeCache(staleWhileRevalidate: .seconds(5))
    _ = ask(cache)
    upstream.send(1)
    scheduler.advance(by: 12)
    let copies = (0..<3).map { _ in ask(cache) }
    #expect(copies.allSatisfy { $0.summary == ["1 12.0 seconds saved copy, while a new one is fetched"] })
    #expect(copies.allSatisfy { $0.isFinished })
    expectEqual(upstream.subscriptionCount, 2)
    upstream.send(2)
    expectEqual(ask(cache).summary, ["2 0.0 seconds cache"])
    scheduler.advance(by: 15)
    #expect(ask(cache).summary.isEmpty)
  }

  @Test("keeps what is stale when the fetch behind it fails, and tries again with the next")
  func revalidationFails() throws {
    let cache = try makeCache(staleWhileRevalidate: .seconds(5))
    _ = ask(cache)
    upstream.send(1)
    scheduler.advance(by: 12)
    expectEqual(ask(cache).values.count, 1)
    upstream.send(completion: .failure(.transient))
    expectEqual(log.lines.last, "oslo: no new value (transient); the stale one stays")
    expectEqual(ask(cache).values.count, 1)
    expectEqual(upstream.subscriptionCount, 3)
  }

  @Test("fetches once behind all who get what is stale meanwhile, and tells once how that ends")
  func revalidatesOnce() throws {
    let cache = try makeCache(staleWhileRevalidate: .seconds(5))
    store(1, for: "oslo", in: cache)
    scheduler.advance(by: 12)
    for _ in 0..<3 { expectEqual(ask(cache).values.count, 1) }
    expectEqual(upstream.subscriptionCount, 1)
    upstream.send(completion: .failure(.transient))
    expectEqual(log.lines.count { $0.contains("no new value") }, 1)
  }

  @Test("delivers what is stale after an error for which that is allowed, and only so long")
  func staleIfError() throws {
    let cache = try makeCache(staleIfError: .seconds(90))
    _ = ask(cache)
    upstream.send(1)
    scheduler.advance(by: 99)
    let saved = ask(cache)
    upstream.send(completion: .failure(.transient))
    expectEqual(saved.summary, ["1 99.0 seconds saved copy, since no new one could be had (transient)"])
    #expect(saved.isFinished)
    let refused = ask(cache)
    upstream.send(completion: .failure(.permanent))
    expectEqual(refused.failure, .permanent)
    let late = ask(cache)
    scheduler.advance(by: 1)
    upstream.send(completion: .failure(.transient))
    expectEqual(late.failure, .transient)
  }

  @Test("takes nothing for the time after an error from the time in which a new value is fetched behind the back")
  func windowsApart() throws {
    let cache = try makeCache(staleWhileRevalidate: .seconds(90))
    let missed = ask(cache)
    // Kept while the call is under way: else nobody would wait for that.
    store(1, for: "oslo", in: cache)
    scheduler.advance(by: 50)
    upstream.send(completion: .failure(.transient))
    #expect(missed.summary.isEmpty)
    expectEqual(missed.failure, .transient)
    expectEqual(ask(cache).summary, ["1 50.0 seconds saved copy, while a new one is fetched"])
  }

  @Test("holds the saved copy back until it is asked for")
  func fallbackDemand() throws {
    let cache = try makeCache(staleIfError: .seconds(90))
    store(1, for: "oslo", in: cache)
    scheduler.advance(by: 20)
    let recorder = ask(cache, requesting: .none)
    upstream.send(completion: .failure(.transient))
    #expect(recorder.values.isEmpty)
    recorder.request(.max(1))
    expectEqual(recorder.values.count, 1)
    #expect(recorder.isFinished)
  }

  @Test("lets a value say itself how long it is good")
  func ownLifetime() throws {
    let cache = try makeCache(lifetime: { $0 == 1 ? CacheLifetime(fresh: .seconds(100)) : CacheLifetime(fresh: .zero) })
    _ = ask(cache)
    upstream.send(1)
    scheduler.advance(by: 99)
    expectEqual(ask(cache).values.map(\.value), [1])
    store(2, for: "oslo", in: cache)
    expectEqual(cache.count, 0)
  }

  @Test("finishes without a value when the upstream does, and keeps nothing")
  func empty() throws {
    let cache = try makeCache()
    let recorder = ask(cache)
    upstream.send(completion: .finished)
    #expect(recorder.isFinished)
    #expect(recorder.values.isEmpty)
    expectEqual(cache.count, 0)
  }

  @Test("takes a step back of the time for no time at all")
  func stepBack() throws {
    let cache = try makeCache()
    cache.store(1, for: "oslo", at: .seconds(60))
    expectEqual(ask(cache).summary, ["1 0.0 seconds cache"])
    expectEqual(peek("oslo", in: cache)?.age, .zero)
    scheduler.advance(by: 70)
    #expect(peek("oslo", in: cache) == nil)
  }

  // MARK: Failures

  @Test("keeps a failure for a while only when told to", arguments: [Duration.zero, .seconds(5)])
  func negative(time: Duration) throws {
    let cache = try makeCache(negative: time)
    _ = ask(cache)
    upstream.send(completion: .failure(.transient))
    scheduler.advance(by: 4)
    let again = ask(cache)
    expectEqual(again.failure, time > .zero ? .transient : nil)
    expectEqual(upstream.subscriptionCount, time > .zero ? 1 : 2)
    scheduler.advance(by: 1)
    _ = ask(cache)
    // Those who missed while a call was under way have joined it.
    expectEqual(upstream.subscriptionCount, 2)
  }

  @Test("keeps no cancel for those who come after it")
  func cancelInside() async throws {
    let cache = Cache<String, Int, any Error>(policy: try CachePolicy(fresh: .seconds(10), negative: .seconds(50)))
    await #expect(throws: CancellationError.self) {
      try await cache.value(for: "oslo", time: scheduler.time) { throw CancellationError() }
    }
    expectEqual(cache.count, 0)
    try await expectEqual(cache.value(for: "oslo", time: scheduler.time) { 1 }.value, 1)
  }

  @Test("does not let a failure take the place of a copy that may still help")
  func failureAndCopy() throws {
    let cache = try makeCache(staleIfError: .seconds(90), negative: .seconds(50))
    store(1, for: "oslo", in: cache)
    scheduler.advance(by: 20)
    for _ in 0..<2 {
      let recorder = ask(cache)
      upstream.send(completion: .failure(.transient))
      expectEqual(recorder.values.map(\.value), [1])
    }
  }

  // MARK: Sharing

  @Test("fetches once for all who miss at the same time, and stores once")
  func coalesced() throws {
    let cache = try makeCache()
    let recorders = (0..<100).map { _ in ask(cache) }
    upstream.send(1)
    expectEqual(upstream.subscriptionCount, 1)
    #expect(recorders.allSatisfy { $0.summary == ["1 0.0 seconds network"] })
    expectEqual(log.lines.count { $0 == "oslo: stored" }, 1)
  }

  @Test("cancels the call when all who wait for it have cancelled, and keeps nothing")
  func cancel() throws {
    let cache = try makeCache()
    let recorders = [ask(cache), ask(cache)]
    recorders[0].cancel()
    expectEqual(upstream.cancelCount, 0)
    recorders[1].cancel()
    expectEqual(upstream.cancelCount, 1)
    upstream.send(1)
    expectEqual(cache.count, 0)
    _ = ask(cache)
    expectEqual(upstream.subscriptionCount, 2)
  }

  @Test("neither keeps nor shares a call that began before its key was removed", arguments: [true, false])
  func remove(all: Bool) throws {
    let cache = try makeCache()
    let before = ask(cache)
    if all { cache.removeAll() } else { cache.remove("oslo") }
    let after = ask(cache)
    expectEqual(upstream.subscriptionCount, 2)
    upstream.connections[0].send(1)
    expectEqual(before.values.map(\.value), [1])
    #expect(peek("oslo", in: cache) == nil)
    #expect(after.values.isEmpty)
    upstream.connections[1].send(2)
    expectEqual(peek("oslo", in: cache)?.value, 2)
  }

  @Test("keeps nothing of a call that began before its key was removed, though nobody asks for that again")
  func removeInFlight() throws {
    let cache = try makeCache()
    let recorder = ask(cache)
    cache.remove("oslo")
    upstream.send(1)
    expectEqual(recorder.values.map(\.value), [1])
    expectEqual(cache.count, 0)
  }

  @Test("neither keeps nor shares a call that began before a value was stored that came another way")
  func storeInFlight() throws {
    let cache = try makeCache(staleWhileRevalidate: .seconds(20))
    let before = ask(cache)
    store(2, for: "oslo", in: cache)
    upstream.send(1)
    expectEqual(before.values.map(\.value), [1])
    expectEqual(peek("oslo", in: cache)?.value, 2)
    // The same where the call is made behind the back of who gets the stale value: the next one is made anew.
    scheduler.advance(by: 15)
    expectEqual(ask(cache).values.map(\.value), [2])
    store(3, for: "oslo", in: cache)
    scheduler.advance(by: 15)
    expectEqual(ask(cache).values.map(\.value), [3])
    try #require(upstream.subscriptionCount == 3)
    upstream.connections[1].send(1)
    expectEqual(peek("oslo", in: cache)?.value, 3)
    upstream.connections[2].send(4)
    expectEqual(peek("oslo", in: cache)?.value, 4)
  }

  // MARK: Limits

  @Test("keeps as many values as it may, those used last")
  func count() throws {
    let cache = try makeCache(maxCount: 2)
    store(1, for: "a", in: cache)
    store(2, for: "b", in: cache)
    _ = ask(cache, "a")
    store(3, for: "c", in: cache)
    #expect(peek("b", in: cache) == nil)
    expectEqual(peek("a", in: cache)?.value, 1)
    expectEqual(cache.count, 2)
    expectEqual(log.lines.last, "b: evicted")
  }

  @Test("keeps what costs as much as it may in all, and nothing that alone costs more")
  func cost() throws {
    let cache = try makeCache(maxCost: 10)
    store(4, for: "a", in: cache)
    store(6, for: "b", in: cache)
    expectEqual(cache.totalCost, 10)
    store(5, for: "c", in: cache)
    expectEqual(cache.totalCost, 5)
    expectEqual(cache.count, 1)
    store(11, for: "c", in: cache)
    expectEqual(cache.count, 0)
    expectEqual(cache.totalCost, 0)
    store(3, for: "d", in: cache)
    store(2, for: "d", in: cache)
    expectEqual(cache.totalCost, 2)
    store(-5, for: "e", in: cache)
    expectEqual(cache.totalCost, 2)
    cache.removeAll()
    expectEqual(cache.totalCost, 0)
  }

  @Test("any cost is counted, together no more than a number holds")
  func highestCosts() throws {
    let cache = try makeCache(maxCost: .max)
    store(.max, for: "a", in: cache)
    store(.max, for: "b", in: cache)
    expectEqual(cache.totalCost, .max)
    store(5, for: "a", in: cache)
    cache.remove("b")
    expectEqual(cache.totalCost, 5)
    cache.remove("a")
    expectEqual(cache.totalCost, 0)
  }

  @Test("shows what it keeps without using it")
  func peek() throws {
    let cache = try makeCache(staleIfError: .seconds(10), maxCount: 2)
    store(1, for: "a", in: cache)
    scheduler.advance(by: 12)
    expectEqual(peek("a", in: cache)?.isStale, true)
    expectEqual(peek("a", in: cache)?.age, .seconds(12))
    store(2, for: "b", in: cache)
    _ = peek("a", in: cache)
    store(3, for: "c", in: cache)
    #expect(peek("a", in: cache) == nil)
    scheduler.advance(by: 20)
    #expect(peek("b", in: cache) == nil)
  }

  @Test("lets go of values with its lock open, so that their ends may use it")
  func deinits() throws {
    final class Value: Sendable {
      let atEnd: @Sendable () -> Void
      init(atEnd: @escaping @Sendable () -> Void) { self.atEnd = atEnd }
      deinit { atEnd() }
    }
    let cache = Cache<String, Value, TestFailure>(policy: try CachePolicy(fresh: .seconds(1), maxCount: 1))
    let ended = EventLog<Int>()
    for key in ["a", "b", "b"] {
      cache.store(Value { [weak cache] in ended.write(cache?.count ?? -1) }, for: key)
    }
    cache.remove("b")
    expectEqual(ended.events, [1, 1, 0])
  }

  @Test("counts right, whoever stores, asks and removes at the same time", arguments: 0..<10 as Range<UInt64>)
  func race(seed: UInt64) throws {
    let cache = try makeCache(maxCount: 5, maxCost: 40)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      var numbers = SeededRandom(seed: seed * 4 + UInt64(thread))
      for _ in 0..<300 {
        let key = "\(Int.random(in: 0..<9, using: &numbers))"
        switch Int.random(in: 0..<4, using: &numbers) {
        case 0: cache.remove(key)
        case 1: store(Int.random(in: 0..<20, using: &numbers), for: key, in: cache)
        default: Just(3).setFailureType(to: TestFailure.self).cached(in: cache, for: key).subscribe(Recorder())
        }
      }
    }
    let kept = (0..<9).compactMap { peek("\($0)", in: cache)?.value }
    expectEqual(cache.count, kept.count)
    expectEqual(cache.totalCost, kept.reduce(0, +))
    #expect(kept.count <= 5)
  }

  // MARK: Functions

  @Test("keeps what functions return, and delivers it to the next")
  func functions() async throws {
    let policy = try CachePolicy(fresh: .seconds(10), staleIfError: .seconds(10))
    let cache = Cache<String, Int, any Error>(policy: policy)
    try await expectEqual(cache.value(for: "oslo", time: scheduler.time) { 1 }.value, 1)
    let second = try await cache.value(for: "oslo", time: scheduler.time) { 2 }
    expectEqual(second.value, 1)
    expectEqual("\(second.source)", "cache")
    scheduler.advance(by: 15)
    let saved = try await cache.value(for: "oslo", time: scheduler.time) { throw TestFailure.transient }
    expectEqual(saved.value, 1)
    #expect(saved.isStale)
    scheduler.advance(by: 15)
    await #expect(throws: TestFailure.transient) {
      try await cache.value(for: "oslo", time: scheduler.time) { throw TestFailure.transient }
    }
  }

  @Test("lets a function that waits for a missed value go when its time is over, with what is stale if that may be")
  func deadlineOfFunctions() throws {
    let policy = try CachePolicy(fresh: .seconds(10), staleIfError: .seconds(60))
    let cache = Cache<String, Int, any Error>(policy: policy)
    try Simulation(seed: 1).run {
      let slow = { @Sendable () async throws -> Int in
        try requireEqual(Deadline.current == nil, true)
        try await TimeSource.current.sleep(for: .seconds(5))
        return 7
      }
      let limit = TimeoutPolicy.total(.seconds(2)).cooperative()
      do {
        _ = try await limit.run { try await cache.value(for: "oslo", slow) }
        try requireEqual("a value", "a timeout")
      } catch let error as TimedOut {
        try requireEqual(error, TimedOut(.total, limit: .seconds(2)))
      }
      let first = try await cache.value(for: "oslo", slow)
      try requireEqual(first.value, 7)
      try await TimeSource.current.sleep(for: .seconds(20))
      let start = TimeSource.current.now
      let stale = try await limit.run { try await cache.value(for: "oslo", slow) }
      try requireEqual(stale.isStale, true)
      try requireEqual(TimeSource.current.now - start, .seconds(2))
    }
  }

  @Test("returns what is stale to a function at once, and runs it to fetch a new one; a kept failure is thrown")
  func staleFunctions() async throws {
    let policy = try CachePolicy(fresh: .seconds(10), staleWhileRevalidate: .seconds(10), negative: .seconds(5))
    let cache = Cache<String, Int, any Error>(policy: policy)
    cache.store(1, for: "oslo", at: .zero)
    let stored = Log<String>()
    cache.onEvent { if case .stored(let key) = $0 { stored.write(key) } }
    scheduler.advance(by: 15)
    let stale = try await cache.value(for: "oslo", time: scheduler.time) { 2 }
    expectEqual(stale.value, 1)
    expectEqual("\(stale.source)", "saved copy, while a new one is fetched")
    await stored.until(1)
    expectEqual(cache.peek("oslo", on: scheduler.time)?.value, 2)
    for _ in 0..<2 {
      await #expect(throws: TestFailure.transient) {
        try await cache.value(for: "rome", time: scheduler.time) { throw TestFailure.transient }
      }
    }
    await #expect(throws: TestFailure.transient) { try await cache.value(for: "rome", time: scheduler.time) { 3 } }
  }
}

extension Recorder where Input == Cached<Int> {
  /// The values, their ages and sources.
  fileprivate var summary: [String] {
    values.map { "\($0.value) \($0.age) \($0.source)" }
  }
}
