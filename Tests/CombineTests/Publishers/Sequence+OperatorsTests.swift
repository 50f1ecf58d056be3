import Combine
import ReboundTesting
import Testing

@Suite("Operators on Publishers.Sequence")
struct SequenceOperatorsTests {
  private let numbers = [3, 1, 1, 2].publisher

  @Test("what makes a sequence of a sequence runs at once")
  func sequences() {
    #expect(numbers.map { $0 * 2 }.sequence == [6, 2, 2, 4])
    #expect(numbers.compactMap { $0 > 1 ? "\($0)" : nil }.sequence == ["3", "2"])
    #expect(numbers.filter { $0 > 1 }.sequence == [3, 2])
    #expect(numbers.scan(10, +).sequence == [13, 14, 15, 17])
    #expect(numbers.prefix { $0 > 2 }.sequence == [3])
    #expect(numbers.removeDuplicates().sequence == [3, 1, 2])
    #expect([1, nil].publisher.replaceNil(with: 0).sequence == [1, 0])
    let dropping: Publishers.Sequence<DropWhileSequence<[Int]>, Never> = numbers.drop { $0 > 2 }
    let rest: Publishers.Sequence<DropFirstSequence<[Int]>, Never> = numbers.dropFirst()
    let start: Publishers.Sequence<PrefixSequence<[Int]>, Never> = numbers.prefix(2)
    #expect(Array(dropping.sequence) == [1, 1, 2])
    #expect(Array(rest.sequence) == [1, 1, 2])
    #expect(Array(start.sequence) == [3, 1])
    #expect(numbers.output(in: 1..<3).sequence == [1, 1])
    #expect(numbers.setFailureType(to: TestFailure.self).sequence == [3, 1, 1, 2])
  }

  @Test("what makes one value is that value")
  func values() {
    #expect(numbers.allSatisfy { $0 > 0 }.result == .success(true))
    #expect(numbers.contains(2).result == .success(true))
    #expect(numbers.contains { $0 > 3 }.result == .success(false))
    #expect(numbers.collect().result == .success([3, 1, 1, 2]))
    #expect(numbers.reduce(10, +).result == .success(17))
    #expect(numbers.min() == .init(1))
    #expect(numbers.max() == .init(3))
    #expect(numbers.min(by: >) == .init(3))
    #expect(numbers.max(by: >) == .init(1))
    #expect(numbers.first() == .init(3))
    #expect(numbers.first { $0 < 3 } == .init(1))
    #expect(numbers.last() == .init(2))
    #expect(numbers.last { $0 > 2 } == .init(3))
    #expect(numbers.output(at: 3) == .init(2))
    #expect(numbers.output(at: 4) == .init(nil))
    #expect(numbers.count() as Just<Int> == Just(4))
    #expect(numbers.setFailureType(to: TestFailure.self).count().result == .success(4))
    #expect("añ".publisher.count().result == .success(2))
    #expect("añ".publisher.first() == .init("a"))
    #expect("añ".publisher.output(at: "añ".endIndex) == .init(nil))
    #expect(numbers.ignoreOutput() == Empty())
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
    #expect([3].publisher.prepend(1, 2).sequence == [1, 2, 3])
    #expect([3].publisher.prepend(1...2).sequence == [1, 2, 3])
    #expect([3].publisher.prepend([1, 2].publisher).sequence == [1, 2, 3])
    #expect([3].publisher.append(1, 2).sequence == [3, 1, 2])
    #expect([3].publisher.append(1...2).sequence == [3, 1, 2])
    #expect([3].publisher.append([1, 2].publisher).sequence == [3, 1, 2])
  }
}
