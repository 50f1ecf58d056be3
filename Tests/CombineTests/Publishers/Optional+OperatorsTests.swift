import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Operators on Optional.Publisher")
struct OptionalOperatorsTests {
  private let some = Optional.Publisher(7)
  private let none = Optional<Int>.Publisher(nil)

  @Test("what changes nothing is the same publisher")
  func unchanged() {
    for publisher in [some, none] {
      let all: [Optional<Int>.Publisher] = [
        publisher.min(), publisher.max(), publisher.min(by: >), publisher.max(by: >), publisher.first(),
        publisher.last(), publisher.removeDuplicates(), publisher.removeDuplicates(by: !=), publisher.retry(1),
        publisher.replaceError(with: 1), publisher.dropFirst(0), publisher.prefix(1), publisher.output(at: 0),
        publisher.output(in: 0...3), publisher.filter { $0 == 7 }, publisher.first { $0 == 7 },
        publisher.last { $0 == 7 }, publisher.prefix { $0 == 7 }, publisher.drop { $0 != 7 },
      ]
      #expect(all.allSatisfy { $0 == publisher })
    }
  }

  @Test("what drops the value leaves none")
  func dropped() {
    let all: [Optional<Int>.Publisher] = [
      some.dropFirst(), some.prefix(0), some.output(at: 1), some.output(in: 0..<0), some.output(in: 1..<3),
      some.filter { $0 != 7 }, some.first { $0 != 7 }, some.last { $0 != 7 }, some.prefix { $0 != 7 },
      some.drop { $0 == 7 },
    ]
    #expect(all.allSatisfy { $0 == none })
  }

  @Test("results are made of a value, and missing without one")
  func results() {
    expectEqual(some.map { "\($0)" }.output, "7")
    #expect(none.map { "\($0)" }.output == nil)
    #expect(some.compactMap { _ in String?.none }.output == nil)
    expectEqual(some.contains(7).output, true)
    #expect(none.contains(7).output == nil)
    expectEqual(some.contains { $0 > 7 }.output, false)
    expectEqual(some.allSatisfy { $0 == 7 }.output, true)
    #expect(none.allSatisfy { $0 == 7 }.output == nil)
    expectEqual(some.count().output, 1)
    #expect(none.count().output == nil)
    expectEqual(some.reduce(1, +).output, 8)
    #expect(none.reduce(1, +).output == nil)
    expectEqual(some.scan(1, +).output, 8)
    #expect(none.scan(1, +).output == nil)
    #expect(some.compactMap { "\($0)" }.output == "7" && none.compactMap { "\($0)" }.output == nil)
    #expect(none.contains { $0 > 7 }.output == nil)
    expectEqual(none.ignoreOutput(), Empty())
    expectEqual(some.collect().output, [7])
    expectEqual(none.collect().output, [])
    expectEqual(some.replaceEmpty(with: 1), Just(7))
    expectEqual(none.replaceEmpty(with: 1), Just(1))
    expectEqual(some.ignoreOutput(), Empty())
  }

  @Test("a range without end stops the process, and so do negative numbers")
  func unboundedRange() async {
    await #expect(processExitsWith: .failure) { _ = Optional.Publisher(7).output(in: 0...) }
    await #expect(processExitsWith: .failure) { _ = Optional.Publisher(7).output(in: 0..<Int.max - 1) }
    await #expect(processExitsWith: .success) { _ = Optional.Publisher(7).output(in: 0..<Int.max - 2) }
    await #expect(processExitsWith: .failure) { _ = Optional.Publisher(7).output(in: -1..<3) }
    await #expect(processExitsWith: .failure) { _ = Optional.Publisher(7).output(at: -1) }
    await #expect(processExitsWith: .failure) { _ = Optional.Publisher(7).dropFirst(-1) }
    await #expect(processExitsWith: .failure) { _ = Optional.Publisher(7).prefix(-1) }
  }
}
