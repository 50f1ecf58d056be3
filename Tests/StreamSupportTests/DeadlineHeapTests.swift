import Expectations
import ReboundTesting
import Testing

@testable import StreamSupport

@Suite("A heap of what is due")
struct DeadlineHeapTests {
  /// What a heap holds, as a list in the order in which it is due.
  private struct Model {
    var entries: [(moment: Int, element: Int)] = []

    mutating func insert(_ element: Int, at moment: Int) {
      let place = entries.firstIndex { $0.moment > moment } ?? entries.endIndex
      entries.insert((moment, element), at: place)
    }
  }

  private func expectSame(_ heap: DeadlineHeap<Int, Int>, _ model: Model) {
    expectEqual(heap.count, model.entries.count)
    expectEqual(heap.isEmpty, model.entries.isEmpty)
    expectEqual(heap.firstMoment, model.entries.first?.moment)
    expectEqual(heap.first?.element, model.entries.first?.element)
  }

  @Test("elements leave by their moments, those of one moment in the order in which they came", arguments: 0..<20)
  func order(seed: Int) {
    var numbers = SeededRandom(seed: UInt64(seed))
    var heap = DeadlineHeap<Int, Int>()
    var model = Model()
    for element in 0..<2_000 {
      switch Int.random(in: 0..<100, using: &numbers) {
      case ..<(element / 200 % 2 == 0 ? 65 : 35):
        let moment = Int.random(in: 0..<50, using: &numbers)
        heap.insert(element, at: moment)
        model.insert(element, at: moment)
      case 98...:
        // Drops a part, so that what stays is to make a heap again.
        heap.removeAll { $0 % 3 == 0 }
        model.entries.removeAll { $0.element % 3 == 0 }
      default:
        let (first, expected) = (heap.popFirst(), model.entries.isEmpty ? nil : model.entries.removeFirst())
        expectEqual(first?.moment, expected?.moment)
        expectEqual(first?.element, expected?.element)
      }
      expectSame(heap, model)
      let isOdd = { (element: Int) in element % 2 == 1 }
      expectEqual(heap.count(where: isOdd), model.entries.count { isOdd($0.element) })
      expectEqual(heap.firstMoment(where: isOdd), model.entries.first { isOdd($0.element) }?.moment)
    }
    while let first = heap.popFirst() { expectEqual(first.element, model.entries.removeFirst().element) }
    #expect(model.entries.isEmpty)
  }

  @Test("the earliest are dropped for as long as nobody wants them")
  func dropping() {
    var heap = DeadlineHeap<Int, Int>()
    for element in 0..<6 { heap.insert(element, at: element) }
    heap.removeFirst { $0 < 3 || $0 == 4 }
    expectEqual(heap.first?.element, 3)
    expectEqual(heap.count, 3)
    heap.removeFirst { _ in true }
    #expect(heap.isEmpty)
    #expect(heap.firstMoment == nil)
    heap.removeFirst { _ in true }
    #expect(heap.popFirst() == nil)
  }
}
