import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Operators on Publishers.Sequence")
struct SequenceOperatorsTests {
  private let numbers = [3, 1, 1, 2].publisher

  @Test("what makes a sequence of a sequence runs at once")
  func sequences() {
    expectEqual(numbers.map { $0 * 2 }.sequence, [6, 2, 2, 4])
    expectEqual(numbers.compactMap { $0 > 1 ? "\($0)" : nil }.sequence, ["3", "2"])
    expectEqual(numbers.filter { $0 > 1 }.sequence, [3, 2])
    expectEqual(numbers.scan(10, +).sequence, [13, 14, 15, 17])
    expectEqual(numbers.prefix { $0 > 2 }.sequence, [3])
    expectEqual(numbers.removeDuplicates().sequence, [3, 1, 2])
    expectEqual([1, nil].publisher.replaceNil(with: 0).sequence, [1, 0])
    let dropping: Publishers.Sequence<DropWhileSequence<[Int]>, Never> = numbers.drop { $0 > 2 }
    let rest: Publishers.Sequence<DropFirstSequence<[Int]>, Never> = numbers.dropFirst()
    let start: Publishers.Sequence<PrefixSequence<[Int]>, Never> = numbers.prefix(2)
    expectEqual(Array(dropping.sequence), [1, 1, 2])
    expectEqual(Array(rest.sequence), [1, 1, 2])
    expectEqual(Array(start.sequence), [3, 1])
    expectEqual(numbers.output(in: 1..<3).sequence, [1, 1])
    expectEqual(numbers.setFailureType(to: TestFailure.self).sequence, [3, 1, 1, 2])
  }

  @Test("what makes one value is that value")
  func values() {
    expectEqual(numbers.allSatisfy { $0 > 0 }.result, .success(true))
    expectEqual(numbers.contains(2).result, .success(true))
    expectEqual(numbers.contains { $0 > 3 }.result, .success(false))
    expectEqual(numbers.collect().result, .success([3, 1, 1, 2]))
    expectEqual(numbers.reduce(10, +).result, .success(17))
    expectEqual(numbers.min(), .init(1))
    expectEqual(numbers.max(), .init(3))
    expectEqual(numbers.min(by: >), .init(3))
    expectEqual(numbers.max(by: >), .init(1))
    expectEqual(numbers.first(), .init(3))
    expectEqual(numbers.first { $0 < 3 }, .init(1))
    expectEqual(numbers.last(), .init(2))
    expectEqual(numbers.last { $0 > 2 }, .init(3))
    expectEqual(numbers.output(at: 3), .init(2))
    expectEqual(numbers.output(at: 4), .init(nil))
    expectEqual(numbers.count() as Just<Int>, Just(4))
    expectEqual(numbers.setFailureType(to: TestFailure.self).count().result, .success(4))
    expectEqual("añ".publisher.count().result, .success(2))
    expectEqual("añ".publisher.first(), .init("a"))
    expectEqual("añ".publisher.output(at: "añ".endIndex), .init(nil))
    expectEqual(numbers.ignoreOutput(), Empty())
  }

  @Test("what throws fails")
  func throwing() {
    let fail: (Int) throws -> Bool = { _ in throw TestFailure.expected }
    #expect(throws: TestFailure.expected) { try numbers.tryAllSatisfy(fail).result.get() }
    #expect(throws: TestFailure.expected) { try numbers.tryContains(where: fail).result.get() }
    #expect(throws: TestFailure.expected) { try numbers.tryReduce(1) { try fail($0 + $1) ? 1 : 2 }.result.get() }
  }

  @Test("elements before and after come in the order written")
  func neighbours() {
    expectEqual([3].publisher.prepend(1, 2).sequence, [1, 2, 3])
    expectEqual([3].publisher.prepend(1...2).sequence, [1, 2, 3])
    expectEqual([3].publisher.prepend([1, 2].publisher).sequence, [1, 2, 3])
    expectEqual([3].publisher.append(1, 2).sequence, [3, 1, 2])
    expectEqual([3].publisher.append(1...2).sequence, [3, 1, 2])
    expectEqual([3].publisher.append([1, 2].publisher).sequence, [3, 1, 2])
  }
}
