import Testing

@testable import Combine

@Suite("a cell")
struct CellTests {
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
    #expect(Cell<Int>.fitsWord && Cell<Small>.fitsWord && Cell<Void>.fitsWord && Cell<Double?>.fitsWord == false)
    #expect(!Cell<Large>.fitsWord && !Cell<String>.fitsWord && !Cell<AnyObject>.fitsWord && !Cell<[Int]>.fitsWord)
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
    let cell = Cell(first)
    #expect(cell.value == first)
    cell.replace(with: second)
    #expect(cell.value == second)
  }

  @Test("a value that reads the cell while it goes finds the new one")
  func goingValues() {
    final class Going {
      var whenGone: () -> Void = {}
      deinit { whenGone() }
    }
    let cell = Cell(Optional(Going()))
    var foundNothing = false
    cell.value?.whenGone = { [unowned cell] in foundNothing = cell.value == nil }

    cell.replace(with: nil)

    #expect(foundNothing)
  }
}
