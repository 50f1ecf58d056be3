import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Operators on Result.Publisher")
struct ResultOperatorsTests {
  private typealias Publisher = Result<Int, TestFailure>.Publisher
  private let success = Result<Int, TestFailure>.Publisher(7)
  private let failure = Result<Int, TestFailure>.Publisher(.failure(.expected))

  @Test("what changes nothing is the same publisher")
  func unchanged() {
    for publisher in [success, failure] {
      let all: [Publisher] = [
        publisher.min(), publisher.max(), publisher.min(by: >), publisher.max(by: >), publisher.first(),
        publisher.last(), publisher.removeDuplicates(), publisher.removeDuplicates(by: !=), publisher.retry(1),
        publisher.replaceEmpty(with: 1),
      ]
      #expect(all.allSatisfy { $0 == publisher })
    }
  }

  @Test("results are made of a value, and a failure stays")
  func results() {
    expectEqual(success.map { "\($0)" }.result, .success("7"))
    expectEqual(failure.map { "\($0)" }.result, .failure(.expected))
    expectEqual(success.contains(7).result, .success(true))
    expectEqual(success.contains { $0 > 7 }.result, .success(false))
    expectEqual(success.allSatisfy { $0 == 7 }.result, .success(true))
    expectEqual(success.collect().result, .success([7]))
    expectEqual(success.count().result, .success(1))
    expectEqual(failure.count().result, .failure(.expected))
    expectEqual(failure.contains(7).result, .failure(.expected))
    expectEqual(failure.contains { $0 > 7 }.result, .failure(.expected))
    expectEqual(failure.allSatisfy { $0 == 7 }.result, .failure(.expected))
    expectEqual(failure.collect().result, .failure(.expected))
    expectEqual(failure.reduce(1, +).result, .failure(.expected))
    expectEqual(failure.scan(1, +).result, .failure(.expected))
    expectEqual(success.mapError { _ in TestFailure.other }.result, .success(7))
    expectEqual(success.replaceError(with: 1).result, .success(7))
    expectEqual(success.reduce(1, +).result, .success(8))
    expectEqual(success.scan(1, +).result, .success(8))
    expectEqual(failure.mapError { _ in TestFailure.other }.result, .failure(.other))
    expectEqual(failure.replaceError(with: 1).result, .success(1))
    #expect(Result<Int, Never>.Publisher(7).setFailureType(to: TestFailure.self).result == .success(7))
  }

  @Test("what throws fails, and an earlier failure stays")
  func throwing() throws {
    let fail: (Int) throws -> Bool = { _ in throw TestFailure.other }
    for (publisher, expected) in [(success, TestFailure.other), (failure, .expected)] {
      #expect(throws: expected) { try publisher.tryMap(fail).result.get() }
      #expect(throws: expected) { try publisher.tryAllSatisfy(fail).result.get() }
      #expect(throws: expected) { try publisher.tryContains(where: fail).result.get() }
      #expect(throws: expected) { try publisher.tryReduce(1) { try fail($0 + $1) ? 1 : 2 }.result.get() }
      #expect(throws: expected) { try publisher.tryScan(1) { try fail($0 + $1) ? 1 : 2 }.result.get() }
      #expect(throws: expected) { try publisher.tryMin { try fail($0 + $1) }.result.get() }
      #expect(throws: expected) { try publisher.tryMax { try fail($0 + $1) }.result.get() }
      #expect(throws: expected) { try publisher.tryRemoveDuplicates { try fail($0 + $1) }.result.get() }
    }
    try expectEqual(success.tryMin { _, _ in true }.result.get(), 7)
  }

  @Test("without output there is a normal end, even of a failure")
  func ignoreOutput() {
    expectEqual(failure.ignoreOutput(), Empty(completeImmediately: true))
  }

  @Test("comparisons that may throw are asked once, about the value and itself, and others not at all")
  func comparisons() {
    var asked: [[Int]] = []
    func note(_ first: Int, _ second: Int) -> Bool {
      asked.append([first, second])
      return false
    }
    _ = success.min(by: note)
    _ = success.max(by: note)
    _ = success.removeDuplicates(by: note)
    _ = failure.tryMin(by: note)
    expectEqual(asked, [])
    _ = success.tryMin(by: note)
    _ = success.tryMax(by: note)
    _ = success.tryRemoveDuplicates(by: note)
    _ = Just(7).tryRemoveDuplicates(by: note)
    expectEqual(asked, Array(repeating: [7, 7], count: 4))
  }
}
