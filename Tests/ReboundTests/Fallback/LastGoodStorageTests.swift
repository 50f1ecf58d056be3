import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

/// Last good values of many processes, with a storage that they share.
@Suite("LastGood with a storage")
struct LastGoodStorageTests {
  private let time = HandSetTime()

  private func stores() throws -> [LastGood<String, Int>] {
    let storage = try InMemoryCacheStorage<String, Int>(claimsLast: .seconds(5), time: time.source)
    return try (0..<2).map { _ in try LastGood(storage: storage, keptFor: .seconds(3_600)) }
  }

  @Test("delivers the youngest value, whoever has remembered it")
  func youngest() async throws {
    let stores = try stores()
    stores[0].remember(1, for: "oslo", at: time.source.now)
    time.advance(by: .seconds(60))
    let early = try await stores[1].run(for: "oslo", time: time.source) { throw TestFailure.transient }
    #expect(early.value == 1 && early.age == .seconds(60))
    stores[1].remember(2, for: "oslo", at: time.source.now)
    time.advance(by: .seconds(10))
    let late = try await stores[0].run(for: "oslo", time: time.source) { throw TestFailure.transient }
    #expect(late.value == 2 && late.age == .seconds(10))
    await #expect(throws: TestFailure.transient) {
      try await stores[0].run(for: "oslo", maxAge: .seconds(9), time: time.source) { throw TestFailure.transient }
    }
  }

  @Test("does the same for publishers")
  func publishers() async throws {
    let stores = try stores()
    stores[0].remember(1, for: "oslo", at: time.source.now)
    let failing = Fail<Int, TestFailure>(error: .transient)
    var values: [Int] = []
    for try await answer in failing.fallback(to: stores[1], for: "oslo", time: time.source).values {
      values.append(answer.value)
    }
    expectEqual(values, [1])
    await #expect(throws: TestFailure.transient) {
      for try await _ in failing.fallback(to: stores[1], for: "bern", time: time.source).values {}
    }
  }

  @Test("passes on at once a failure that nothing stands in for, though no value is wanted")
  func failureWithoutDemand() async throws {
    let upstream = TestPublisher<Int, TestFailure>()
    let ended = AsyncStream<Void>.makeStream()
    let recorder = Recorder<Sourced<Int>, TestFailure>(
      requesting: .max(1),
      whenCompleted: { ended.continuation.yield() }
    )
    upstream.fallback(to: try stores()[0], for: "oslo", time: time.source).subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .failure(.transient))
    for await _ in ended.stream { break }
    expectEqual(recorder.values.map(\.value), [1])
    expectEqual(recorder.failure, .transient)
  }

  @Test("holds a value that stands in for a failure until one is wanted")
  func valueWithoutDemand() async throws {
    let stores = try stores()
    stores[0].remember(1, for: "oslo", at: time.source.now)
    let ended = AsyncStream<Void>.makeStream()
    let recorder = Recorder<Sourced<Int>, TestFailure>(
      requesting: .none,
      whenCompleted: { ended.continuation.yield() }
    )
    Fail<Int, TestFailure>(error: .transient).fallback(to: stores[1], for: "oslo", time: time.source).subscribe(
      recorder
    )
    #expect(recorder.values.isEmpty)
    recorder.request(.max(1))
    for await _ in ended.stream { break }
    expectEqual(recorder.values.map(\.value), [1])
    #expect(recorder.isFinished)
  }

  @Test("delivers nothing from the storage that was to be kept for a shorter time")
  func keptFor() async throws {
    let stores = try stores()
    stores[0].remember(1, for: "oslo", at: time.source.now)
    time.advance(by: .seconds(3_599))
    await expectEqual(stores[1].latestValue(for: "oslo", at: time.source.now)?.value, 1)
    time.advance(by: .seconds(1))
    #expect(await stores[1].latestValue(for: "oslo", at: time.source.now) == nil)
    // What this process has kept itself is of any age.
    await expectEqual(stores[0].latestValue(for: "oslo", at: time.source.now)?.age, .seconds(3_600))
  }

  @Test("forgets a key for all")
  func forget() async throws {
    let stores = try stores()
    stores[0].remember(1, for: "oslo", at: time.source.now)
    stores[1].forget("oslo")
    #expect(await stores[1].latestValue(for: "oslo", at: time.source.now) == nil)
  }
}
