import Expectations
import ReboundTesting
import Testing

@Suite("Generator")
struct GeneratorTests {
  private func values<Value>(_ generator: Generator<Value>, runs: Int = 400) throws -> [Value] {
    var values: [Value] = []
    try forAll(generator, runs: runs) { values.append($0) }
    return values
  }

  @Test("numbers lie in their range and reach its ends, whatever the type")
  func numbers() throws {
    let small = try values(Generator<Int>.integer(in: -3...4))
    expectEqual(Set(small), Set(-3...4))
    let bytes = try values(Generator<UInt8>.integer(in: 250...255))
    expectEqual(Set(bytes), Set(250...255))
    let signed = try values(Generator<Int8>.integer(in: -128 ... -126))
    expectEqual(Set(signed), [-128, -127, -126])
    let all = try values(Generator<Int64>.integer())
    #expect(all.contains(.min) && all.contains(.max) && all.contains { abs($0 / 2) < 10 })
    #expect(try values(Generator<UInt64>.integer()).contains(.max))
    expectEqual(Set(try values(Generator<Int>.integer(in: 5...5))), [5])
  }

  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, *)
  @Test("numbers of more than 64 bits lie in their range, and are of both signs and of all sizes")
  func wideNumbers() throws {
    let all = try values(Generator<Int128>.integer())
    #expect(all.contains { $0 < 0 } && all.contains { $0 > 0 })
    #expect(all.contains { $0.magnitude >> 64 > 0 } && all.contains { $0.magnitude < 1_000 })
    let one: Int128 = 1
    let range = 0...(one << 64)
    let small = try values(Generator<Int128>.integer(in: range))
    #expect(small.allSatisfy(range.contains))
    #expect(small.contains(one << 64) && small.contains { $0 > 0 && $0 < one << 64 })
    expectEqual(Set(try values(Generator<UInt128>.integer(in: 5...7))), [5, 6, 7])
  }

  @Test("lists have as many elements as asked for")
  func lists() throws {
    let counts = Set(try values(Generator<[Bool]>.array(of: .bool, count: 2...5)).map(\.count))
    expectEqual(counts, [2, 3, 4, 5])
    #expect(try values(Generator<[Bool]>.array(of: .bool, count: 3...3)).allSatisfy { $0.count == 3 })
    #expect(try values(Generator<[Bool]>.array(of: .bool, count: 0...0)).allSatisfy(\.isEmpty))
    let long = try values(Generator<[Bool]>.array(of: .bool)).map(\.count)
    #expect((long.max() ?? 0) > 20)
    #expect(long.contains(0))
    #expect(try values(Generator<[Bool]>.array(of: .bool, count: 0...Int.max)).contains { $0.count > 20 })
  }

  @Test("cases, options and texts come in all their kinds")
  func kinds() throws {
    expectEqual(Set(try values(Generator<String>.element(of: ["a", "b", "c"]))), ["a", "b", "c"])
    expectEqual(Set(try values(Generator<Int>.one(of: .constant(1), .integer(in: 5...6)))), [1, 5, 6])
    expectEqual(Set(try values(Generator<Int?>.optional(.constant(1)))), [nil, 1])
    #expect(try values(Generator<String>.string(of: "xy", count: 1...3)).allSatisfy { (1...3).contains($0.count) })
    let scalars = try values(Generator<String>.string).flatMap(\.unicodeScalars)
    #expect(scalars.contains { $0.value > 0xFFFF } && scalars.contains { $0.isASCII })
    #expect(try values(Generator<Double>.unit).allSatisfy { (0..<1).contains($0) })
  }

  @Test("what grows by chance comes to an end")
  func endless() throws {
    let endless = Generator<Int> { choices in
      var count = 0
      while choices.draw(upTo: 1_000_000) > 0 { count += 1 }
      return count
    }
    #expect(try values(endless, runs: 2).allSatisfy { $0 < 70_000 })
  }
}
