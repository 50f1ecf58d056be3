import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("LeastRecentlyUsed")
struct LeastRecentlyUsedTests {
  @Test("does what a plain list does, whatever happens to it", arguments: 0..<20 as Range<UInt64>)
  func model(seed: UInt64) {
    var numbers = SeededRandom(seed: seed)
    var subject = LeastRecentlyUsed<Int, Int>()
    // The most recently used one last.
    var model: [(key: Int, value: Int)] = []
    for step in 0..<500 {
      let key = Int.random(in: 0..<12, using: &numbers)
      let position = model.firstIndex { $0.key == key }
      switch Int.random(in: 0..<5, using: &numbers) {
      case 0:
        let before = position.map { model.remove(at: $0).value }
        expectEqual(subject.set(step, for: key), before)
        model.append((key, step))
      case 1:
        expectEqual(subject.use(key), position.map { model[$0].value })
        if let position { model.append(model.remove(at: position)) }
      case 2:
        expectEqual(subject.peek(key), position.map { model[$0].value })
      case 3:
        expectEqual(subject.remove(key), position.map { model.remove(at: $0).value })
      default:
        let oldest = model.count > 6 ? model.removeFirst() : nil
        if let oldest {
          let removed = subject.removeOldest()
          expectEqual(removed?.key, oldest.key)
          expectEqual(removed?.value, oldest.value)
        }
      }
      expectEqual(subject.count, model.count)
    }
    for (key, _) in model { expectEqual(subject.removeOldest()?.key, key) }
    #expect(subject.removeOldest() == nil)
  }
}
