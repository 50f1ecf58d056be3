import Expectations
import Rebound
import Testing

@Suite("InMemoryCacheStorage")
struct InMemoryCacheStorageTests {
  private let time = HandSetTime()
  private let good = CacheLifetime(fresh: .seconds(10), staleWhileRevalidate: .seconds(20))

  private func storage(capacity: Int = 100) throws -> InMemoryCacheStorage<String, Int> {
    try InMemoryCacheStorage(claimsLast: .seconds(5), capacity: capacity, time: time.source)
  }

  @Test("gives the claim to one, and keeps what comes under it")
  func claim() async throws {
    let storage = try storage()
    let first = await storage.look("oslo")
    #expect(first.stored == nil)
    let claim = try #require(first.claim)
    storage.store(7, lifetime: good, for: "oslo", under: claim)
    time.advance(by: .seconds(9))
    let second = await storage.look("oslo")
    #expect(second.claim == nil)
    expectEqual(second.stored?.value, 7)
    expectEqual(second.stored?.age, .seconds(9))
    #expect(await storage.look("bern").claim != nil)
  }

  @Test("delivers what is stale to all but one while that one fetches")
  func stale() async throws {
    let storage = try storage()
    storage.store(7, lifetime: good, for: "oslo", under: nil)
    time.advance(by: .seconds(10))
    let first = await storage.look("oslo")
    #expect(first.claim != nil && first.stored?.value == 7)
    let second = await storage.look("oslo")
    #expect(second.claim == nil && second.stored?.value == 7)
  }

  @Test("has the others wait for the value")
  func wait() async throws {
    let storage = try storage()
    let claim = try #require(await storage.look("oslo").claim)
    async let others = withTaskGroup(of: Int?.self) { group in
      for _ in 0..<10 { group.addTask { await storage.look("oslo").stored?.value } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    await time.delays.until(10)
    storage.store(7, lifetime: good, for: "oslo", under: claim)
    await expectEqual(others, [Int?](repeating: 7, count: 10))
  }

  @Test("gives the claim to another one when it is given up, or over, or the key is forgotten")
  func nextClaim() async throws {
    for end in ["released", "removed", "over"] {
      let (storage, before) = (try storage(), time.delays.count)
      let claim = try #require(await storage.look("oslo").claim)
      async let next = storage.look("oslo")
      await time.delays.until(before + 1)
      switch end {
      case "released": storage.release(claim, for: "oslo")
      case "removed": storage.remove("oslo")
      default: time.advance(by: .seconds(5))
      }
      let finding = await next
      #expect(finding.claim != nil && finding.claim != claim, "\(end)")
      storage.store(1, lifetime: good, for: "oslo", under: claim)
      #expect(await storage.peek("oslo") == nil, "late: \(end)")
    }
  }

  @Test("lets a cancelled task go without a claim")
  func cancel() async throws {
    let storage = try storage()
    let claim = try #require(await storage.look("oslo").claim)
    let task = Task { await storage.look("oslo") }
    await time.delays.until(1)
    task.cancel()
    #expect(await task.value.claim == nil)
    storage.release(claim, for: "oslo")
    #expect(await storage.look("oslo").claim != nil)
  }

  /// A key of which a test sees whether anybody still has it.
  private final class City: Hashable, Sendable {
    let name: String

    init(_ name: String) {
      self.name = name
    }

    static func == (one: City, other: City) -> Bool { one.name == other.name }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }
  }

  /// Unchecked, because it is set in a task that is waited for before it is read.
  private final class Sight: @unchecked Sendable {
    weak var city: City?
  }

  @Test(
    "keeps nothing of who waits no longer while the claim goes on",
    arguments: ["cancelled", "out of time", "woken"]
  )
  func endedWait(end: String) async throws {
    let storage = try InMemoryCacheStorage<City, Int>(claimsLast: .seconds(5), time: time.source)
    #expect(await storage.look(City("oslo")).claim != nil)
    let deadline = end == "out of time" ? Deadline(in: .seconds(1), on: time.source) : nil
    let sight = Sight()
    let task = Task {
      let city = City("oslo")
      sight.city = city
      return await Deadline.$current.withValue(deadline) { await storage.look(city) }
    }
    await time.delays.until(deadline == nil ? 1 : 2)
    switch end {
    case "cancelled": task.cancel()
    case "out of time": time.advance(by: .seconds(1))
    default: time.advance(by: .seconds(5))
    }
    let finding = await task.value
    expectEqual(finding.claim != nil, end == "woken")
    #expect(sight.city == nil)
  }

  @Test("keeps no more than it may")
  func capacity() async throws {
    let storage = try storage(capacity: 2)
    for (index, key) in ["a", "b", "c"].enumerated() { storage.store(index, lifetime: good, for: key, under: nil) }
    #expect(await storage.peek("a") == nil)
    await expectEqual(storage.peek("b")?.value, 1)
    await expectEqual(storage.peek("c")?.value, 2)
  }

  @Test("refuses numbers that make no sense")
  func refusals() {
    #expect(throws: InvalidPolicy.self) { try InMemoryCacheStorage<String, Int>(claimsLast: .zero) }
    #expect(throws: InvalidPolicy.self) { try InMemoryCacheStorage<String, Int>(claimsLast: .seconds(1), capacity: 0) }
  }
}
