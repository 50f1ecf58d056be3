import Combine
import Expectations
import Foundation
import Testing

@Suite("Demand")
struct DemandTests {
  private typealias Demand = Subscribers.Demand

  @Test("sums saturate to unlimited, and unlimited stays")
  func addition() {
    expectEqual(Demand.max(2) + .max(3), .max(5))
    expectEqual(Demand.max(.max) + .max(1), .unlimited)
    expectEqual(Demand.max(.max) + .max(.max), .unlimited)
    expectEqual(Demand.unlimited + .max(1), .unlimited)
    expectEqual(Demand.max(1) + .unlimited, .unlimited)
    expectEqual(Demand.unlimited + .unlimited, .unlimited)
    expectEqual(Demand.max(2) + 3, .max(5))
    expectEqual(Demand.max(2) + -2, .none)
    expectEqual(Demand.max(.max) + 1, .unlimited)
    expectEqual(Demand.unlimited + -5, .unlimited)
    var demand = Demand.max(1)
    demand += .max(1)
    demand += 1
    expectEqual(demand, .max(3))
  }

  @Test("differences are exact, and unlimited stays or leaves none")
  func subtraction() {
    expectEqual(Demand.max(3) - .max(2), .max(1))
    expectEqual(Demand.max(3) - .unlimited, .none)
    expectEqual(Demand.unlimited - .max(3), .unlimited)
    expectEqual(Demand.unlimited - .unlimited, .unlimited)
    expectEqual(Demand.max(3) - 1, .max(2))
    expectEqual(Demand.max(3) - -1, .max(4))
    expectEqual(Demand.max(.max) - -1, .none)
    expectEqual(Demand.unlimited - 1, .unlimited)
    var demand = Demand.max(5)
    demand -= .max(1)
    demand -= 1
    expectEqual(demand, .max(3))
  }

  @Test("products saturate to unlimited")
  func multiplication() {
    expectEqual(Demand.max(2) * 3, .max(6))
    expectEqual(Demand.max(.max) * 2, .unlimited)
    expectEqual(Demand.unlimited * 0, .unlimited)
    var demand = Demand.max(2)
    demand *= 4
    expectEqual(demand, .max(8))
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
    expectEqual(Demand.none, .max(0))
    expectEqual(Demand.none.hashValue, Demand.max(0).hashValue)
  }

  @Test("shows its number, or that there is none")
  func description() {
    expectEqual(Demand.max(42).description, "max(42)")
    expectEqual(Demand.none.description, "max(0)")
    expectEqual(Demand.unlimited.description, "unlimited")
    expectEqual(Demand.max(42).max, 42)
    #expect(Demand.unlimited.max == nil)
  }

  @Test("is coded as one number")
  func coding() throws {
    func decode(_ text: String) throws -> Subscribers.Demand {
      try JSONDecoder().decode([Subscribers.Demand].self, from: Data("[\(text)]".utf8))[0]
    }
    let data = try JSONEncoder().encode([Demand.max(42), .unlimited])
    expectEqual(String(decoding: data, as: UTF8.self), "[42,9223372036854775808]")
    try expectEqual(decode("42"), .max(42))
    try expectEqual(decode("9223372036854775808"), .unlimited)
    try expectEqual(decode("9223372036854775900"), .unlimited)
    #expect(throws: DecodingError.self) { try decode("-1") }
  }

  @Test("less than nothing stops the process")
  func negative() async {
    await #expect(processExitsWith: .failure) { _ = Subscribers.Demand.max(-1) }
    await #expect(processExitsWith: .failure) { _ = Subscribers.Demand.max(1) - .max(2) }
    await #expect(processExitsWith: .failure) { _ = Subscribers.Demand.max(1) + -2 }
  }
}
