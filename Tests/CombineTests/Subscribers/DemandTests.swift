import Combine
import Foundation
import Testing

@Suite("Demand")
struct DemandTests {
  private typealias Demand = Subscribers.Demand

  @Test("sums saturate to unlimited, and unlimited stays")
  func addition() {
    #expect(Demand.max(2) + .max(3) == .max(5))
    #expect(Demand.max(.max) + .max(1) == .unlimited)
    #expect(Demand.max(.max) + .max(.max) == .unlimited)
    #expect(Demand.unlimited + .max(1) == .unlimited)
    #expect(Demand.max(1) + .unlimited == .unlimited)
    #expect(Demand.unlimited + .unlimited == .unlimited)
    #expect(Demand.max(2) + 3 == .max(5))
    #expect(Demand.max(2) + -2 == .none)
    #expect(Demand.max(.max) + 1 == .unlimited)
    #expect(Demand.unlimited + -5 == .unlimited)
    var demand = Demand.max(1)
    demand += .max(1)
    demand += 1
    #expect(demand == .max(3))
  }

  @Test("differences are exact, and unlimited stays or leaves none")
  func subtraction() {
    #expect(Demand.max(3) - .max(2) == .max(1))
    #expect(Demand.max(3) - .unlimited == .none)
    #expect(Demand.unlimited - .max(3) == .unlimited)
    #expect(Demand.unlimited - .unlimited == .unlimited)
    #expect(Demand.max(3) - 1 == .max(2))
    #expect(Demand.max(3) - -1 == .max(4))
    #expect(Demand.max(.max) - -1 == .none)
    #expect(Demand.unlimited - 1 == .unlimited)
    var demand = Demand.max(5)
    demand -= .max(1)
    demand -= 1
    #expect(demand == .max(3))
  }

  @Test("products saturate to unlimited")
  func multiplication() {
    #expect(Demand.max(2) * 3 == .max(6))
    #expect(Demand.max(.max) * 2 == .unlimited)
    #expect(Demand.unlimited * 0 == .unlimited)
    var demand = Demand.max(2)
    demand *= 4
    #expect(demand == .max(8))
  }

  @Test("unlimited is more than every number, and neither more nor less than itself")
  func comparison() {
    #expect(Demand.max(1) < .max(2) && Demand.max(2) > .max(1))
    #expect(Demand.max(.max) < .unlimited && Demand.unlimited > .max(.max))
    #expect(!(Demand.unlimited < .unlimited) && !(Demand.unlimited > .unlimited))
    #expect(Demand.unlimited <= .unlimited && Demand.unlimited >= .unlimited)
    #expect(Demand.unlimited > Int.max && Demand.unlimited >= Int.max && Int.max < Demand.unlimited)
    #expect(!(Demand.unlimited < Int.max) && !(Demand.unlimited <= Int.max) && !(Int.max > Demand.unlimited))
    #expect(Demand.max(2) > 1 && Demand.max(2) >= 2 && Demand.max(2) < 3 && Demand.max(2) <= 2)
    #expect(1 < Demand.max(2) && 2 <= Demand.max(2) && 3 > Demand.max(2) && 2 >= Demand.max(2))
    #expect(Demand.max(2) == 2 && 2 == Demand.max(2) && Demand.max(2) != 3 && 3 != Demand.max(2))
    #expect(Demand.unlimited != Int.max && Int.max != Demand.unlimited)
    #expect(Demand.none == .max(0))
    #expect(Demand.none.hashValue == Demand.max(0).hashValue)
  }

  @Test("shows its number, or that there is none")
  func description() {
    #expect(Demand.max(42).description == "max(42)")
    #expect(Demand.none.description == "max(0)")
    #expect(Demand.unlimited.description == "unlimited")
    #expect(Demand.max(42).max == 42)
    #expect(Demand.unlimited.max == nil)
  }

  @Test("is coded as one number")
  func coding() throws {
    func decode(_ text: String) throws -> Subscribers.Demand {
      try JSONDecoder().decode([Subscribers.Demand].self, from: Data("[\(text)]".utf8))[0]
    }
    let data = try JSONEncoder().encode([Demand.max(42), .unlimited])
    #expect(String(decoding: data, as: UTF8.self) == "[42,9223372036854775808]")
    #expect(try decode("42") == .max(42))
    #expect(try decode("9223372036854775808") == .unlimited)
    #expect(try decode("9223372036854775900") == .unlimited)
    #expect(throws: DecodingError.self) { try decode("-1") }
  }

  @Test("less than nothing stops the process")
  func negative() async {
    await #expect(processExitsWith: .failure) { _ = Subscribers.Demand.max(-1) }
    await #expect(processExitsWith: .failure) { _ = Subscribers.Demand.max(1) - .max(2) }
    await #expect(processExitsWith: .failure) { _ = Subscribers.Demand.max(1) + -2 }
  }
}
