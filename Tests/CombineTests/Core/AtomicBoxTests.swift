import Expectations
import Testing

@testable import Combine

@Suite("an atomic box")
struct AtomicBoxTests {
  struct Small: Equatable {
    var flag: Bool
    var number: Int32
  }
  struct Large: Equatable {
    var numbers: (Int, Int, Int)
    static func == (left: Large, right: Large) -> Bool { left.numbers == right.numbers }
  }

  @Test("plain bits up to a word are kept in one, and nothing else is")
  func whatFits() {
    #expect(
      AtomicBox<Int>.fitsWord && AtomicBox<Small>.fitsWord && AtomicBox<Void>.fitsWord
        && AtomicBox<Double?>.fitsWord == false
    )
    #expect(
      !AtomicBox<Large>.fitsWord && !AtomicBox<String>.fitsWord && !AtomicBox<AnyObject>.fitsWord
        && !AtomicBox<[Int]>.fitsWord
    )
  }

  @Test("values of every kind come out as they went in")
  func keeps() {
    check(1.5, then: -2.5)
    check(Small(flag: true, number: -1), then: Small(flag: false, number: .max))
    check(Large(numbers: (1, 2, 3)), then: Large(numbers: (4, 5, 6)))
    check("a", then: "a text too long to be kept in place")
    check(Int8?.none, then: Int8?.some(3))
  }

  private func check<Value: Equatable>(_ first: Value, then second: Value) {
    let box = AtomicBox(first)
    expectEqual(box.value, first)
    box.replace(with: second)
    expectEqual(box.value, second)
  }

  @Test("a value that reads the box while it goes finds the new one")
  func goingValues() {
    final class Going {
      var whenGone: () -> Void = {}
      deinit { whenGone() }
    }
    let box = AtomicBox(Optional(Going()))
    var foundNothing = false
    box.value?.whenGone = { [unowned box] in foundNothing = box.value == nil }

    box.replace(with: nil)

    #expect(foundNothing)
  }
}
