import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

/// Caches of many processes, with a storage that they share.
@Suite("Cache with a storage")
struct CacheStorageTests {
  private typealias Subject = Cache<String, Int, any Error>
  private typealias Answers = Recorder<Cached<Int>, any Error>

  private let time = HandSetTime()
  private let storage: InMemoryCacheStorage<String, Int>

  init() throws {
    storage = try InMemoryCacheStorage(claimsLast: .seconds(5), time: time.source)
  }

  private func caches(_ count: Int, staleIfError: Duration = .zero) throws -> [Subject] {
    let policy = try CachePolicy(
      fresh: .seconds(10),
      staleWhileRevalidate: .seconds(20),
      staleIfError: staleIfError
    )
    return (0..<count).map { _ in Subject(policy: policy, storage: storage) }
  }

  private func ask(_ cache: Subject, _ fetch: @escaping @Sendable () async throws -> Int) async throws -> Cached<Int> {
    try await cache.value(for: "oslo", time: time.source, fetch)
  }

  @Test("delivers what another one has fetched, with its age")
  func shared() async throws {
    let caches = try caches(2)
    try await expectEqual(ask(caches[0]) { 7 }.value, 7)
    time.advance(by: .seconds(4))
    let second = try await ask(caches[1]) { 8 }
    #expect(second.value == 7 && second.age == .seconds(4) && !second.isStale)
    // From here on it is this cache's own, of the same age.
    expectEqual(caches[1].peek("oslo", on: time.source)?.age, .seconds(4))
    time.advance(by: .seconds(6))
    expectEqual(caches[1].peek("oslo", on: time.source)?.isStale, true)
  }

  @Test("makes one call for all who miss at the same time")
  func oneCall() async throws {
    let caches = try caches(10)
    let calls = Log<Void>()
    let values = await withTaskGroup(of: Int?.self) { group in
      for number in 0..<1_000 {
        group.addTask {
          try? await ask(caches[number % 10]) {
            calls.write(())
            return 7
          }.value
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    expectEqual(values, [Int?](repeating: 7, count: 1_000))
    expectEqual(calls.count, 1)
  }

  @Test("delivers what is stale at once, and one fetches")
  func oneRefresher() async throws {
    let caches = try caches(3)
    try await expectEqual(ask(caches[0]) { 1 }.value, 1)
    try await expectEqual(ask(caches[1]) { 0 }.value, 1)
    time.advance(by: .seconds(10))
    // The last one has nothing of its own.
    try await expectEqual(fetchedBehind(caches), 1)
  }

  /// Has caches asked in turn while one of them fetches, each of which answers with what is stale; counts the calls until the new
  /// value is stored.
  private func fetchedBehind(_ caches: [Subject]) async throws -> Int {
    let calls = Log<Void>()
    let (gate, opener) = AsyncStream<Void>.makeStream()
    for cache in caches {
      let answer = try await ask(cache) {
        calls.write(())
        for await _ in gate {}
        return 2
      }
      #expect(answer.value == 1 && answer.isStale)
    }
    await calls.until(1)
    opener.finish()
    while await storage.peek("oslo")?.value != 2 { await Task.yield() }
    return calls.count
  }

  @Test("keeps in memory, too, what was fetched behind the back of who had nothing of its own")
  func refresherWithNothing() async throws {
    let caches = try caches(2)
    try await expectEqual(ask(caches[0]) { 1 }.value, 1)
    time.advance(by: .seconds(10))
    let events = Log<CacheEvent<String>>()
    caches[1].onEvent(events.write)
    // The second time it has what is stale, and its call goes on.
    try await expectEqual(fetchedBehind([caches[1], caches[1]]), 1)
    expectEqual(caches[1].peek("oslo", on: time.source)?.value, 2)
    expectEqual(caches[1].peek("oslo", on: time.source)?.isStale, false)
    // What the storage had, and what was fetched.
    let stored = events.entries.filter { if case .stored = $0 { true } else { false } }
    expectEqual(stored.count, 2)
  }

  /// Gets a value by publisher, whose call goes on if that is stale.
  private func get(_ upstream: TestPublisher<Int, any Error>, in cache: Subject) async -> Answers {
    let ended = AsyncStream<Void>.makeStream()
    let recorder = Answers(whenCompleted: { ended.continuation.yield() })
    upstream.cached(in: cache, for: "oslo", time: time.source).subscribe(recorder)
    for await _ in ended.stream { break }
    return recorder
  }

  @Test("keeps what comes behind the back of a subscriber that got what is stale, and asks nobody meanwhile")
  func behindTheBack() async throws {
    let old = StoredValue(
      1,
      age: .seconds(10),
      lifetime: CacheLifetime(fresh: .seconds(10), staleWhileRevalidate: .seconds(20))
    )
    let storage = ClaimCountingStorage(stored: old)
    let cache = Subject(policy: try CachePolicy(fresh: .seconds(10)), storage: storage)
    let upstream = TestPublisher<Int, any Error>()
    for _ in 0..<2 {
      let recorder = await get(upstream, in: cache)
      expectEqual(recorder.values.map(\.value), [1])
      #expect(recorder.isFinished)
    }
    expectEqual(upstream.subscriptionCount, 1)
    upstream.send(2)
    expectEqual(cache.peek("oslo", on: time.source)?.value, 2)
    expectEqual(storage.looks.count, 1)
    expectEqual(storage.releases.count, 0)
  }

  @Test("fetches again behind the back once that has failed")
  func failureBehindTheBack() async throws {
    let cache = try caches(1)[0]
    let lifetime = CacheLifetime(fresh: .seconds(10), staleWhileRevalidate: .seconds(20))
    storage.store(1, lifetime: lifetime, for: "oslo", under: nil)
    time.advance(by: .seconds(10))
    let (upstream, next) = (TestPublisher<Int, any Error>(), Log<Void>())
    let first = await get(upstream, in: cache)
    expectEqual(first.values.map(\.value), [1])
    upstream.send(completion: .failure(TestFailure.transient))
    let answer = try await ask(cache) {
      next.write(())
      return 2
    }
    #expect(answer.value == 1 && answer.isStale)
    await next.until(1)
    while cache.peek("oslo", on: time.source)?.value != 2 { await Task.yield() }
  }

  @Test("keeps a failure behind the back, once the stale value is good for nothing")
  func negativeBehindTheBack() async throws {
    let policy = try CachePolicy(fresh: .seconds(10), staleWhileRevalidate: .seconds(20), negative: .seconds(5))
    let cache = Subject(policy: policy, storage: storage)
    let lifetime = CacheLifetime(fresh: .seconds(10), staleWhileRevalidate: .seconds(20))
    storage.store(1, lifetime: lifetime, for: "oslo", under: nil)
    time.advance(by: .seconds(10))
    let upstream = TestPublisher<Int, any Error>()
    let first = await get(upstream, in: cache)
    expectEqual(first.values.map(\.value), [1])
    time.advance(by: .seconds(20))
    upstream.send(completion: .failure(TestFailure.transient))
    await #expect(throws: TestFailure.transient) { try await ask(cache) { 2 } }
    time.advance(by: .seconds(5))
    try await expectEqual(ask(cache) { 2 }.value, 2)
  }

  @Test("lets another one try when a call has failed or was cancelled")
  func failure() async throws {
    let caches = try caches(2)
    await #expect(throws: TestFailure.permanent) { try await ask(caches[0]) { throw TestFailure.permanent } }
    let calls = Log<Void>()
    let task = Task {
      try await ask(caches[0]) {
        calls.write(())
        await untilCancelled()
        throw CancellationError()
      }
    }
    await calls.until(1)
    async let other = ask(caches[1]) { 7 }
    task.cancel()
    try await expectEqual(other.value, 7)
  }

  @Test("falls back to another one's stale value when its own call fails")
  func staleIfError() async throws {
    let caches = try caches(2, staleIfError: .seconds(100))
    try await expectEqual(ask(caches[0]) { 7 }.value, 7)
    time.advance(by: .seconds(60))
    let answer = try await ask(caches[1]) { throw TestFailure.transient }
    #expect(answer.value == 7 && answer.isStale && answer.age == .seconds(60))
  }

  @Test("stores and forgets for all")
  func remove() async throws {
    let caches = try caches(2)
    caches[0].store(7, for: "oslo", at: time.source.now)
    try await expectEqual(ask(caches[1]) { 8 }.value, 7)
    caches[0].remove("oslo")
    try await expectEqual(ask(caches[0]) { 9 }.value, 9)
  }

  @Test("keeps what was stored another way while a call was under way that began before")
  func storeInFlight() async throws {
    let cache = try caches(1)[0]
    let calls = Log<Void>()
    let (gate, opener) = AsyncStream<Void>.makeStream()
    async let before = ask(cache) {
      calls.write(())
      for await _ in gate {}
      return 1
    }
    await calls.until(1)
    cache.store(2, for: "oslo", at: time.source.now)
    opener.finish()
    try await expectEqual(before.value, 1)
    expectEqual(cache.peek("oslo", on: time.source)?.value, 2)
    await expectEqual(storage.peek("oslo")?.value, 2)
  }

  @Test("has no call when nobody wants a value")
  func demand() throws {
    let upstream = TestPublisher<Int, any Error>()
    let recorder = Recorder<Cached<Int>, any Error>(requesting: .none)
    upstream.cached(in: try caches(1)[0], for: "oslo", time: time.source).subscribe(recorder)
    expectEqual(upstream.subscriptionCount, 0)
    recorder.cancel()
    expectEqual(upstream.subscriptionCount, 0)
  }

  @Test("asks the storage once a value is wanted, and not before")
  func demandOfStorage() async throws {
    let storage = ClaimCountingStorage()
    let cache = Subject(policy: try CachePolicy(fresh: .seconds(10)), storage: storage)
    let ended = AsyncStream<Void>.makeStream()
    let recorder = Recorder<Cached<Int>, any Error>(requesting: .none, whenCompleted: { ended.continuation.yield() })
    Just(7).setFailureType(to: (any Error).self).cached(in: cache, for: "oslo", time: time.source).subscribe(recorder)
    // Whoever looks has this from whoever has it look.
    ClaimCountingStorage.$isWanted.withValue(true) { recorder.request(.max(1)) }
    for await _ in ended.stream { break }
    expectEqual(recorder.values.map(\.value), [7])
    expectEqual(storage.looks.entries, [true])
  }

  @Test("gives a claim up that comes while everybody leaves")
  func leavesWithClaim() async throws {
    let old = StoredValue(1, age: .seconds(20), lifetime: CacheLifetime(fresh: .seconds(10)))
    let storage = ClaimCountingStorage(stored: old)
    let upstream = TestPublisher<Int, any Error>()
    let recorder = Recorder<Cached<Int>, any Error>()
    let cache = Subject(
      policy: try CachePolicy(fresh: .seconds(10)),
      // Asked on the way from the storage to the call.
      cost: { value in
        recorder.cancel()
        return value
      },
      storage: storage
    )
    upstream.cached(in: cache, for: "oslo", time: time.source).subscribe(recorder)
    await storage.releases.until(1)
    expectEqual(storage.releases.entries, [storage.claim])
    expectEqual(storage.looks.count, 1)
  }
}
