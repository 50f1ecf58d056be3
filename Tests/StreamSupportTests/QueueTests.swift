import Expectations
import ReboundTesting
import Testing

@testable import StreamSupport

@Suite("Queue")
struct QueueTests {
  @Test("elements leave in the order in which they came, however appends and removals mix")
  func order() {
    var numbers = SeededRandom(seed: 7)
    var queue = Queue<Int>()
    var model: [Int] = []
    for step in 0..<5_000 {
      if Int.random(in: 0..<100, using: &numbers) < (step / 500 % 2 == 0 ? 65 : 35) {
        queue.append(step)
        model.append(step)
      } else {
        expectEqual(queue.popFirst(), model.isEmpty ? nil : model.removeFirst())
      }
      expectEqual(queue.count, model.count)
      expectEqual(queue.isEmpty, model.isEmpty)
      if step % 100 == 0 { expectEqual(queue.elements, model) }
    }
    while let element = queue.popFirst() { expectEqual(element, model.removeFirst()) }
    #expect(model.isEmpty)
  }

  @Test("an element is taken out from between the others, wherever the ring begins")
  func removal() {
    for shift in 0..<5 {
      for index in 0..<6 {
        var queue = Queue<Int>()
        for element in 0..<5 + shift { queue.append(element) }
        for _ in 0..<shift { _ = queue.popFirst() }
        var model = queue.elements
        expectEqual(queue.remove(at: index), index < 5 ? model.remove(at: index) : nil)
        for element in 10..<13 { queue.append(element) }
        #expect(queue.elements == model + [10, 11, 12] && queue.count == queue.elements.count)
      }
    }
    var empty = Queue<Int>()
    #expect(empty.remove(at: 0) == nil && empty.remove(at: 1) == nil && empty.isEmpty)
  }

  @Test("the room that a burst took is given back once the queue has been empty")
  func burst() {
    var queue = Queue<Int>()
    for round in 0..<2 {
      for element in 0..<5_000 { queue.append(element) }
      for element in 0..<5_000 { expectEqual(queue.popFirst(), element, "round \(round)") }
      #expect(queue.ring.isEmpty)
    }
  }

  @Test("an element that left is not kept")
  func release() {
    final class Element {}
    var queue = Queue<Element>()
    var elements = (0..<6).map { _ in Element() }
    elements.forEach { queue.append($0) }
    _ = queue.remove(at: 2)
    for _ in 0..<5 { _ = queue.popFirst() }
    for index in elements.indices { #expect(isKnownUniquelyReferenced(&elements[index])) }
  }
}
