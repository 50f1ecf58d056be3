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
        #expect(subject.set(step, for: key) == before)
        model.append((key, step))
      case 1:
        #expect(subject.use(key) == position.map { model[$0].value })
        if let position { model.append(model.remove(at: position)) }
      case 2:
        #expect(subject.peek(key) == position.map { model[$0].value })
      case 3:
        #expect(subject.remove(key) == position.map { model.remove(at: $0).value })
      default:
        let oldest = model.count > 6 ? model.removeFirst() : nil
        if let oldest {
          let removed = subject.removeOldest()
          #expect(removed?.key == oldest.key)
          #expect(removed?.value == oldest.value)
        }
      }
      #expect(subject.count == model.count)
    }
    for (key, _) in model { #expect(subject.removeOldest()?.key == key) }
    #expect(subject.removeOldest() == nil)
  }
}
