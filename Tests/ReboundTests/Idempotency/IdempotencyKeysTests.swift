import Combine
import Expectations
import Foundation
import ReboundTesting
import Testing

@testable import Rebound

@Suite("IdempotencyKeys")
struct IdempotencyKeysTests {
  private let time = HandSetTime()

  private func keys() throws -> IdempotencyKeys<Int> {
    try IdempotencyKeys(keptFor: .seconds(60), time: time.source)
  }

  @Test("runs once, and the others get the first one's answer")
  func once() async throws {
    let (keys, calls) = (try keys(), Log<Void>())
    let answers = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<100 { group.addTask { try await keys.run("order") { calls.number(()) } } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    expectEqual(answers, [Int](repeating: 1, count: 100))
    try await expectEqual(keys.run("another") { calls.number(()) }, 2)
    time.advance(by: .seconds(60))
    try await expectEqual(keys.run("order") { calls.number(()) }, 3)
    keys.forget("order")
    try await expectEqual(keys.run("order") { calls.number(()) }, 4)
  }

  @Test("keeps no failure: the next one runs")
  func failure() async throws {
    let keys = try keys()
    await #expect(throws: TestFailure.transient) { try await keys.run("order") { throw TestFailure.transient } }
    try await expectEqual(keys.run("order") { 7 }, 7)
  }

  @Test("passes the key on when the first one is cancelled, or the one who waits")
  func cancel() async throws {
    let (keys, calls) = (try keys(), Log<Void>())
    let first = Task {
      try await keys.run("order") {
        calls.write(())
        await untilCancelled()
        throw CancellationError()
      }
    }
    await calls.until(1)
    let waiting = Task { try await keys.run("order") { 1 } }
    await time.delays.until(1)
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    async let next = keys.run("order") { 7 }
    await time.delays.until(2)
    first.cancel()
    try await expectEqual(next, 7)
  }

  @Test("refuses to run what may have run, unless it is told to", arguments: [true, false])
  func unknown(runsAlone: Bool) async throws {
    let keys = try IdempotencyKeys<Int>(keptFor: .seconds(60), storage: AbsentStorage(), runsAlone: runsAlone)
    let answer = try? await keys.run("order") { 7 }
    expectEqual(answer, runsAlone ? 7 : nil)
    if !runsAlone {
      await #expect(throws: IdempotencyKeyUnknown(key: "order")) { try await keys.run("order") { 7 } }
    }
  }

  @Test(
    "does not run what another is about, because there is no time to wait for its answer",
    arguments: [true, false]
  )
  func deadline(runsAlone: Bool) throws {
    try Simulation(seed: 1).run {
      let storage = try InMemoryCacheStorage<String, Int>(claimsLast: .seconds(60))
      let keys = try IdempotencyKeys<Int>(keptFor: .seconds(60), storage: storage, runsAlone: runsAlone)
      let first = Task {
        try await keys.run("order") {
          try await TimeSource.current.sleep(for: .seconds(5))
          return 7
        }
      }
      try await TimeSource.current.sleep(for: .seconds(1))
      let start = TimeSource.current.now
      do {
        let answer = try await TimeoutPolicy.total(.seconds(2)).cooperative().run { try await keys.run("order") { 8 } }
        try requireEqual(answer, 7, "behind its time")
      } catch let error as TimedOut {
        try requireEqual(error, TimedOut(.total, limit: .seconds(2)))
      }
      try requireEqual(TimeSource.current.now - start, .seconds(2))
      let answer = try await first.value
      try requireEqual(answer, 7)
    }
  }

  @Test("says that the time was over, and not that the storage does not answer", arguments: [true, false])
  func noTimeLeft(runsAlone: Bool) throws {
    try Simulation(seed: 1).run {
      let storage = try InMemoryCacheStorage<String, Int>(claimsLast: .seconds(60))
      let keys = try IdempotencyKeys<Int>(keptFor: .seconds(60), storage: storage, runsAlone: runsAlone)
      let first = Task {
        try await keys.run("order") {
          try await TimeSource.current.sleep(for: .seconds(5))
          return 7
        }
      }
      try await TimeSource.current.sleep(for: .seconds(1))
      do {
        let answer = try await Deadline.$current.withValue(Deadline(in: .seconds(2))) {
          try await keys.run("order") { 8 }
        }
        try requireEqual(answer, 7, "behind its time")
      } catch let error as TimedOut {
        try requireEqual(error, TimedOut(.total, limit: .seconds(2)))
      }
      _ = try await first.value
    }
  }

  @Test(
    "takes a timer that is early for the end of the time, and does not run beside another",
    arguments: [true, false]
  )
  func earlyTimer(runsAlone: Bool) throws {
    try Simulation(seed: 1).run {
      let time = TimeSource.current
      let early = TimeSource(now: { time.now }, after: { time.after($0 - .milliseconds(1), $1) })
      let keys = try IdempotencyKeys<Int>(
        keptFor: .seconds(60),
        storage: try InMemoryCacheStorage<String, Int>(claimsLast: .seconds(60)),
        runsAlone: runsAlone
      )
      let first = Task {
        try await keys.run("order") {
          // In virtual time, as the one below.
          try await TimeSource.current.sleep(for: .seconds(5))
          return 7
        }
      }
      try await time.sleep(for: .seconds(1))
      do {
        let answer = try await Deadline.$current.withValue(Deadline(in: .seconds(2), on: early)) {
          try await keys.run("order") { 8 }
        }
        try requireEqual(answer, 7, "behind its time")
      } catch let error as TimedOut {
        try requireEqual(error, TimedOut(.total, limit: .seconds(2)))
      }
      _ = try await first.value
    }
  }

  @Test("does the same for publishers")
  func publishers() async throws {
    let (keys, calls) = (try keys(), Log<Void>())
    let upstream = Deferred { Just(calls.number(())).setFailureType(to: (any Error).self) }
    var values: [Int] = []
    for _ in 0..<3 {
      for try await value in upstream.idempotent(by: keys, for: "order").values { values.append(value) }
    }
    expectEqual(values, [1, 1, 1])
    let failing = Fail<Int, any Error>(error: TestFailure.transient)
    await #expect(throws: TestFailure.transient) {
      for try await _ in failing.idempotent(by: keys, for: "another").values {}
    }
    try await expectEqual(keys.run("another") { 7 }, 7)
  }

  @Test("asks its storage once a value is wanted, and not before")
  func demand() async throws {
    let storage = ClaimCountingStorage()
    let keys = try IdempotencyKeys<Int>(keptFor: .seconds(60), storage: storage)
    let ended = AsyncStream<Void>.makeStream()
    let recorder = Recorder<Int, any Error>(requesting: .none, whenCompleted: { ended.continuation.yield() })
    Just(7).setFailureType(to: (any Error).self).idempotent(by: keys, for: "order").subscribe(recorder)
    // Whoever looks has this from whoever has it look.
    ClaimCountingStorage.$isWanted.withValue(true) { recorder.request(.max(1)) }
    for await _ in ended.stream { break }
    expectEqual(recorder.values, [7])
    #expect(recorder.isFinished)
    expectEqual(storage.looks.entries, [true])
    expectEqual(storage.releases.count, 0)
  }

  @Test("finishes without a value where the call does, and frees the key")
  func noValue() async throws {
    let storage = ClaimCountingStorage()
    let keys = try IdempotencyKeys<Int>(keptFor: .seconds(60), storage: storage)
    for try await _ in Empty<Int, any Error>().idempotent(by: keys, for: "order").values {
      Issue.record("there is no value")
    }
    expectEqual(storage.releases.entries, [storage.claim])
  }

  @Test("frees the key when nobody is left who would make the call that has its turn")
  func forgotten() async throws {
    let storage = ClaimCountingStorage()
    let keys = try IdempotencyKeys<Int>(keptFor: .seconds(60), storage: storage)
    // As a cancel drops it on its way to whoever has asked.
    _ = try await keys.begin("order")
    expectEqual(storage.releases.entries, [storage.claim])
  }

  @Test("refuses to keep nothing")
  func refusals() {
    #expect(throws: InvalidPolicy.self) { try IdempotencyKeys<Int>(keptFor: .zero) }
  }

  @Test("what is not known is told in words for people")
  func words() {
    let unknown = IdempotencyKeyUnknown(key: "order 1")
    expectEqual(unknown.localizedDescription, "It is not known whether this was done already.")
    expectEqual(unknown.recoverySuggestion, "Try again later; it will not be done twice.")
  }
}

/// A storage whose server is away.
private struct AbsentStorage: CacheStorage {
  func look(_ key: String) async -> CacheFinding<Int> { CacheFinding(stored: nil, claim: nil) }
  func peek(_ key: String) async -> StoredValue<Int>? { nil }
  func store(_ value: Int, lifetime: CacheLifetime, for key: String, under claim: CacheClaim?) {}
  func release(_ claim: CacheClaim, for key: String) {}
  func remove(_ key: String) {}
}
