import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("LastGood")
struct LastGoodTests {
  private let scheduler = TestScheduler()

  private func store(capacity: Int = 100) throws -> LastGood<String, Int> {
    try LastGood(capacity: capacity)
  }

  @Test("keeps the latest value of each key, and knows its age")
  func age() throws {
    let store = try store()
    store.remember(1, for: "Bern", at: scheduler.elapsed)
    scheduler.advance(by: 60)
    store.remember(2, for: "Bern", at: scheduler.elapsed)
    store.remember(3, for: "Rome", at: scheduler.elapsed)
    scheduler.advance(by: 30)
    expectEqual(store.value(for: "Bern", at: scheduler.elapsed)?.value, 2)
    expectEqual(store.value(for: "Bern", at: scheduler.elapsed)?.age, .seconds(30))
    #expect(store.value(for: "Oslo", at: scheduler.elapsed) == nil)
    expectEqual(store.value(for: "Rome", maxAge: .seconds(30), at: scheduler.elapsed)?.value, 3)
    #expect(store.value(for: "Rome", maxAge: .seconds(29), at: scheduler.elapsed) == nil)
    store.forget("Rome")
    #expect(store.value(for: "Rome", at: scheduler.elapsed) == nil)
    store.forgetAll()
    expectEqual(store.count, 0)
  }

  @Test("forgets what was used least recently, as a plain list does", arguments: 0..<5 as Range<UInt64>)
  func recency(seed: UInt64) throws {
    let store = try store(capacity: 4)
    // The most recent one last.
    var model: [(key: String, value: Int)] = []
    var random = SeededRandom(seed: seed)
    for step in 0..<500 {
      let key = "\(Int.random(in: 0..<7, using: &random))"
      let known = model.firstIndex { $0.key == key }.map { model.remove(at: $0) }
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1:
        store.remember(step, for: key, at: scheduler.elapsed)
        model.append((key, step))
        if model.count > 4 { model.removeFirst() }
      case 2:
        store.forget(key)
      default:
        expectEqual(store.value(for: key, at: scheduler.elapsed)?.value, known?.value)
        if let known { model.append(known) }
      }
      expectEqual(store.count, model.count)
    }
  }

  @Test("takes a step back of the time for no time at all")
  func stepBack() throws {
    let store = try store()
    store.remember(1, for: "Bern", at: .seconds(60))
    expectEqual(store.value(for: "Bern", maxAge: .zero, at: .seconds(10))?.age, .zero)
    store.remember(2, for: "Rome", at: .seconds(20))
    expectEqual(store.value(for: "Rome", at: .seconds(70))?.age, .seconds(10))
  }

  @Test("lets go of a value that is replaced, forgotten or too old to be kept")
  func releases() throws {
    final class Value: Sendable {}
    let store = try LastGood<Int, Value>(capacity: 1)
    weak var first: Value?
    weak var second: Value?
    do {
      let values = (Value(), Value())
      (first, second) = values
      store.remember(values.0, for: 1, at: scheduler.elapsed)
      store.remember(values.1, for: 2, at: scheduler.elapsed)
    }
    #expect(first == nil)
    #expect(second != nil)
    store.forget(2)
    #expect(second == nil)
  }

  @Test("is used from many threads at once")
  func concurrency() throws {
    let store = try store(capacity: 8)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for step in 0..<500 {
        store.remember(step, for: "\(step % 16)")
        if let saved = store.value(for: "\((step + thread) % 16)") { #expect(saved.value < 500) }
      }
    }
    expectEqual(store.count, 8)
  }
}
