import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Operators on Just")
struct JustOperatorsTests {
  private let just = Just(7)

  @Test("what changes nothing is the same Just, and runs no closure")
  func unchanged() {
    let all: [Just<Int>] = [
      just.min(), just.max(), just.first(), just.last(), just.removeDuplicates(), just.replaceError(with: 1),
      just.replaceEmpty(with: 1), just.retry(3),
      just.min { _, _ in
        Issue.record()
        return true
      },
      just.max { _, _ in
        Issue.record()
        return true
      },
      just.removeDuplicates { _, _ in
        Issue.record()
        return true
      },
    ]
    #expect(all.allSatisfy { $0 == just })
  }

  @Test("what always has a result is a Just of it")
  func results() {
    expectEqual(just.map { $0 + 1 } as Just<Int>, Just(8))
    expectEqual(just.collect() as Just<[Int]>, Just([7]))
    expectEqual(just.count() as Just<Int>, Just(1))
    expectEqual(just.contains(7) as Just<Bool>, Just(true))
    expectEqual(just.contains { $0 > 7 } as Just<Bool>, Just(false))
    expectEqual(just.allSatisfy { $0 == 7 } as Just<Bool>, Just(true))
    #expect(just.reduce(1, +) as Result<Int, Never>.Publisher == .init(8))
    #expect(just.scan(1, +) as Result<Int, Never>.Publisher == .init(8))
  }

  @Test("what may drop the value is an optional")
  func optionals() {
    #expect(just.dropFirst().output == nil)
    expectEqual(just.dropFirst(0).output, 7)
    #expect(just.drop { $0 == 7 }.output == nil)
    #expect(just.filter { $0 > 7 }.output == nil)
    expectEqual(just.compactMap { $0 == 7 ? "7" : nil }.output, "7")
    expectEqual(just.first { $0 == 7 }.output, 7)
    #expect(just.last { $0 == 8 }.output == nil)
    expectEqual(just.prefix(1).output, 7)
    #expect(just.prefix(0).output == nil)
    expectEqual(just.prefix { $0 == 7 }.output, 7)
    expectEqual(just.output(at: 0).output, 7)
    #expect(just.output(at: 1).output == nil)
    expectEqual(just.output(in: 0..<0).output, 7)
    expectEqual(just.output(in: 0...).output, 7)
    #expect(just.output(in: 1..<2).output == nil)
    #expect(just.output(in: -10..<10).output == nil)
  }

  @Test("what may throw is a result, made at once")
  func throwing() throws {
    let fail: (Int) throws -> Bool = { _ in throw TestFailure.expected }
    #expect(throws: TestFailure.expected) { try just.tryMap(fail).result.get() }
    #expect(throws: TestFailure.expected) { try just.tryAllSatisfy(fail).result.get() }
    #expect(throws: TestFailure.expected) { try just.tryContains(where: fail).result.get() }
    #expect(throws: TestFailure.expected) { try just.tryReduce(1) { try fail($0 + $1) ? 1 : 2 }.result.get() }
    #expect(throws: TestFailure.expected) { try just.tryScan(1) { try fail($0 + $1) ? 1 : 2 }.result.get() }
    #expect(throws: TestFailure.expected) { try just.tryRemoveDuplicates { try fail($0 + $1) }.result.get() }
    try expectEqual(just.tryRemoveDuplicates { _, _ in true }.result.get(), 7)
  }

  @Test("what may throw and does not is the value")
  func notThrowing() throws {
    try expectEqual(just.tryMap { "\($0)" }.result.get(), "7")
    #expect(try just.tryAllSatisfy { $0 == 7 }.result.get())
    #expect(try !just.tryContains { $0 == 8 }.result.get())
    try expectEqual(just.tryReduce(1) { $0 + $1 }.result.get(), 8)
    try expectEqual(just.tryScan(1) { $0 + $1 }.result.get(), 8)
  }

  @Test("closures run once, when the operator is applied, and for no subscriber")
  func eagerness() {
    var calls = 0
    func count<Value>(_ value: Value) -> Value {
      calls += 1
      return value
    }
    let publishers: [AnyPublisher<Bool, Never>] = [
      just.map { count($0 == 7) }.eraseToAnyPublisher(),
      just.filter { count($0 == 7) }.map { $0 == 7 }.eraseToAnyPublisher(),
      just.contains { count($0 == 7) }.eraseToAnyPublisher(),
      Optional(7).publisher.map { count($0 == 7) }.eraseToAnyPublisher(),
      Result<Int, Never>.success(7).publisher.map { count($0 == 7) }.eraseToAnyPublisher(),
      [7].publisher.map { count($0 == 7) }.eraseToAnyPublisher(),
      [7].publisher.contains { count($0 == 7) }.eraseToAnyPublisher(),
    ]
    expectEqual(calls, publishers.count)
    for publisher in publishers {
      for _ in 0..<2 {
        let recorder = Recorder<Bool, Never>()
        publisher.subscribe(recorder)
        expectEqual(recorder.values, [true])
      }
    }
    expectEqual(calls, publishers.count)
  }

  @Test("the failure type changes without a closure")
  func failureType() {
    expectEqual(just.setFailureType(to: TestFailure.self).result, .success(7))
    // Generic, because the compiler warns of code after a `Never` that it can see.
    func transform(_ failure: some Error) -> TestFailure { .other }
    expectEqual(just.mapError(transform).result, .success(7))
  }

  @Test("values before and after come in the order written")
  func neighbours() {
    expectEqual(just.prepend(1, 2).sequence, [1, 2, 7])
    expectEqual(just.prepend(1...2).sequence, [1, 2, 7])
    expectEqual(just.append(1, 2).sequence, [7, 1, 2])
    expectEqual(just.append(1...2).sequence, [7, 1, 2])
  }

  @Test("without output there is only the end")
  func ignoreOutput() {
    expectEqual(just.ignoreOutput(), Empty(completeImmediately: true))
  }

  @Test("a negative index stops the process")
  func negative() async {
    await #expect(processExitsWith: .failure) { _ = Just(7).output(at: -1) }
    await #expect(processExitsWith: .failure) { _ = Just(7).dropFirst(-1) }
    await #expect(processExitsWith: .failure) { _ = Just(7).prefix(-1) }
  }
}
