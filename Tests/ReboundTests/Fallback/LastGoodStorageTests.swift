import Combine
import Rebound
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
    #expect(values == [1])
    await #expect(throws: TestFailure.transient) {
      for try await _ in failing.fallback(to: stores[1], for: "bern", time: time.source).values {}
    }
  }

  @Test("forgets a key for all")
  func forget() async throws {
    let stores = try stores()
    stores[0].remember(1, for: "oslo", at: time.source.now)
    stores[1].forget("oslo")
    #expect(await stores[1].latestValue(for: "oslo", at: time.source.now) == nil)
  }
}
