import Expectations
import ReboundTesting
import StreamSupport
import Testing

@Suite("forAll")
struct PropertyTests {
  private func failure<Value>(
    _ generator: Generator<Value>,
    runs: Int = 500,
    seed: UInt64 = 0,
    _ property: (Value) throws -> Void
  ) throws -> PropertyFailure {
    try #require(throws: PropertyFailure.self) { try forAll(generator, runs: runs, seed: seed, property) }
  }

  @Test("a property that holds is run as often as asked for, with the same values for the same seed")
  func holds() throws {
    var first: [Int] = []
    try forAll(.integer(in: 0...1_000_000), runs: 300, seed: 7) { first.append($0) }
    var second: [Int] = []
    try forAll(.integer(in: 0...1_000_000), runs: 300, seed: 7) { second.append($0) }
    expectEqual(first.count, 300)
    expectEqual(first, second)
    #expect(Set(first).count > 100)
  }

  @Test("a number is shrunk to the smallest that fails", arguments: 0..<20 as Range<UInt64>)
  func number(seed: UInt64) throws {
    let failure = try failure(.integer(in: -1_000_000...1_000_000), seed: seed) {
      try requireTrue(abs($0) < 1_234, "\($0)")
    }
    expectEqual(failure.value, "1234")
    expectEqual("\(failure.cause)", "1234")
  }

  @Test("a list is shrunk to the elements that matter, and those to the smallest", arguments: 0..<20 as Range<UInt64>)
  func list(seed: UInt64) throws {
    let failure = try failure(Generator<[Int]>.array(of: .integer(in: 0...1_000)), seed: seed) { numbers in
      try requireTrue(numbers.reduce(0, +) < 1_500, "the sum")
    }
    expectEqual(failure.value, "[500, 1000]")
  }

  // To leave a choice out brings a zero at the end: what counts is what is asked for, not what is given.
  @Test("what is made of a fixed number of choices is shrunk, too", arguments: 0..<10 as Range<UInt64>)
  func fixedNumberOfChoices(seed: UInt64) throws {
    let digit = Generator<Int>.integer(in: 0...9)
    let failure = try failure(zip(digit, digit, digit), seed: seed) { digits in
      try requireTrue(digits == (0, 0, 0), "not all of them zero")
    }
    expectEqual(failure.value, "(0, 0, 1)")
  }

  @Test("what is composed shrinks without being told how", arguments: 0..<10 as Range<UInt64>)
  func composed(seed: UInt64) throws {
    struct Line: Equatable, CustomDebugStringConvertible {
      let name: String
      let numbers: [Int]?
      var debugDescription: String { "\(name): \(numbers ?? [])" }
    }
    let numbers = Generator<Int>.integer(in: 1...20).flatMap { most in
      Generator<[Int]>.array(of: .integer(in: 0...most), count: 0...most)
    }
    let lines = Generator { choices in
      Line(name: choices.draw(.string(of: "abc")), numbers: choices.draw(.optional(numbers)))
    }
    let failure = try failure(Generator<[Line]>.array(of: lines), seed: seed) { lines in
      try requireTrue(!lines.contains { ($0.numbers ?? []).contains { $0 > 7 } }, "a number above 7")
    }
    expectEqual(failure.value, "[: [8]]")
  }

  @Test("the failure says what, where and how to run it again, and that begins with the failing run")
  func message() throws {
    let text = try failure(.integer(in: 0...99), seed: 3) { try requireEqual($0 / 50, 0, "half") }
    expectEqual(text.value, "50")
    #expect("\(text)".contains("PropertyTests.swift:"))
    #expect("\(text)".contains("does not hold for 50\n  half: 1, expected 0\n"))
    #expect("\(text)".hasSuffix("forAll(…, seed: \(text.seed)) begins with it."))
    let again = try failure(.integer(in: 0...99), seed: text.seed) { try requireEqual($0 / 50, 0, "half") }
    expectEqual(again.run, 1)
    expectEqual(again.value, text.value)
    expectEqual(again.seed, text.seed)
  }

  @Test("without a budget the value is the one that was drawn")
  func budget() throws {
    var drawn = ""
    let error = #expect(throws: PropertyFailure.self) {
      try forAll(.integer(in: 0...1_000_000), shrinks: 0) { number in
        drawn = "\(number)"
        try requireTrue(false, "never")
      }
    }
    expectEqual(error?.value, drawn)
    expectEqual(error?.steps, 0)
  }

  @Test("values that a filter does not let pass are not run, and too few of them are a failure")
  func filter() throws {
    try forAll(Generator<Int>.integer(in: 0...99).filter { $0 % 7 == 0 }) { try requireEqual($0 % 7, 0) }
    let starved = try failure(Generator<Int>.integer(in: 0...99).filter { $0 > 99 }) { _ in }
    #expect(starved.cause is StarvedGenerator)
    let even = try failure(Generator<Int>.integer(in: 0...1_000).filter { $0 % 2 == 0 }) {
      try requireTrue($0 < 301, "")
    }
    expectEqual(even.value, "302")
  }

  @Test("what goes on behind a filter gets right values only, also while a value is made simpler")
  func behindFilter() throws {
    let divisors = Generator<Int>.integer(in: 0...9).filter { $0 != 0 }
    let quotients = Generator<[Int]>.array(of: divisors.map { 90 / $0 })
    let long = try failure(quotients) { try requireTrue($0.count < 3, "") }
    #expect(long.cause is PropertyMismatch)
  }
}
