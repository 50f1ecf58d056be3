import Testing

@testable import Combine

@Suite("Ring")
struct RingTests {
  @Test("elements come out in the order in which they went in, however the ends move")
  func order() {
    var ring = Ring<Int>()
    var (next, expected) = (0, 0)
    #expect(ring.popFirst() == nil)
    for round in 1...40 {
      for _ in 0..<round {
        ring.append(next)
        next += 1
      }
      for _ in 0..<(round - 1) {
        #expect(ring.popFirst() == expected)
        expected += 1
      }
    }
    #expect(ring.count == next - expected)
    while let element = ring.popFirst() {
      #expect(element == expected)
      expected += 1
    }
    #expect(expected == next)
  }

  @Test("an element is let go when it comes out, and a burst's memory when it is over")
  func releases() {
    var ring = Ring<Signal>()
    weak var observed: Signal?
    do {
      let element = Signal()
      observed = element
      ring.append(element)
    }
    #expect(observed != nil)
    _ = ring.popFirst()
    #expect(observed == nil)

    for _ in 0..<2000 { ring.append(Signal()) }
    while ring.popFirst() != nil {}
    #expect(ring.slots.isEmpty)
  }
}
