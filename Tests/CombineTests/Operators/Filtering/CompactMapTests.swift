import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("compactMap")
struct CompactMapTests {
  @Test("nils are left out and ask for one more; demand, answers and the end pass as they are")
  func leavesOutNils() {
    let upstream = TestPublisher<String, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2), answering: { _, _ in .max(3) })
    upstream.compactMap { Int($0) }.subscribe(recorder)

    expectEqual(upstream.send("1"), .max(3))
    expectEqual(upstream.send("one"), .max(1))
    expectEqual(upstream.send("2"), .max(3))
    upstream.send(completion: .failure(.expected))

    expectEqual(upstream.requests, [.max(2)])
    expectEqual(recorder.values, [1, 2])
    expectEqual(recorder.completion, .failure(.expected))
  }

  @Test("a finite demand is filled by values that are not nil")
  func finiteDemand() {
    let recorder = Recorder<Int, Never>(requesting: .max(2))
    ["a", "1", "b", "c", "2", "3"].map { $0 }.publisher.eraseToAnyPublisher().compactMap { Int($0) }.subscribe(recorder)

    expectEqual(recorder.values, [1, 2])
    #expect(!recorder.isFinished)
  }

  @Test("two in a row are one over the first upstream, and the second sees no nil")
  func fusesWithItself() {
    let upstream = TestPublisher<Int, TestFailure>()
    let fused: Publishers.CompactMap<TestPublisher<Int, TestFailure>, String> =
      upstream.compactMap { $0 > 0 ? $0 * 2 : nil }.compactMap { $0 > 2 ? "\($0)" : nil }
    let recorder = Recorder<String, TestFailure>()
    fused.subscribe(recorder)

    expectEqual(upstream.send(0), .max(1))
    expectEqual(upstream.send(1), .max(1))
    expectEqual(upstream.send(2), .none)

    expectEqual(recorder.values, ["4"])
  }

  @Test("a map after it makes one publisher over the first upstream")
  func fusesWithMap() {
    let upstream = TestPublisher<Int, TestFailure>()
    let fused: Publishers.CompactMap<TestPublisher<Int, TestFailure>, String> =
      upstream.compactMap { $0 > 0 ? $0 : nil }.map { "<\($0)>" }
    let recorder = Recorder<String, TestFailure>()
    fused.subscribe(recorder)

    expectEqual(upstream.send(0), .max(1))
    expectEqual(upstream.send(1), .none)

    expectEqual(recorder.values, ["<1>"])
  }

  @Test("the upstream's own subscription and every event pass")
  func laws() {
    PassThroughLaws.check(named: "CompactMap") { $0.compactMap { $0 } }
  }
}

@Suite("tryCompactMap")
struct TryCompactMapTests {
  private func text(_ value: Int) throws -> String? {
    if value < 0 { throw TestFailure.expected }
    return value == 0 ? nil : "<\(value)>"
  }

  @Test("nils are left out and ask for one more; demand and answers pass as they are")
  func leavesOutNils() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<String, any Error>(requesting: .max(2), answering: { _, _ in .max(3) })
    upstream.tryCompactMap(text).subscribe(recorder)

    expectEqual(upstream.send(1), .max(3))
    expectEqual(upstream.send(0), .max(1))
    upstream.send(completion: .finished)
    expectEqual(upstream.send(1), .none)

    expectEqual(upstream.requests, [.max(2)])
    expectEqual(recorder.values, ["<1>"])
    #expect(recorder.isFinished)
  }

  @Test("an error thrown cancels the upstream, then ends the stream")
  func throwing() {
    var cancelCountAtEnd = 0
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<String, any Error>(whenCompleted: { cancelCountAtEnd = upstream.cancelCount })
    upstream.tryCompactMap(text).subscribe(recorder)

    upstream.send(1)
    upstream.send(-1)

    expectEqual(recorder.values, ["<1>"])
    expectEqual(cancelCountAtEnd, 1)
    #expect(throws: TestFailure.expected) { try recorder.completion?.rethrow() }
  }

  @Test("a compactMap after it, which may throw, makes one publisher over the first upstream")
  func fuses() {
    let upstream = TestPublisher<Int, TestFailure>()
    let fused: Publishers.TryCompactMap<TestPublisher<Int, TestFailure>, Int> =
      upstream.tryCompactMap(text).compactMap { text in
        if text == "<3>" { throw TestFailure.other }
        return text == "<2>" ? nil : text.count
      }
    let recorder = Recorder<Int, any Error>()
    fused.subscribe(recorder)

    expectEqual(upstream.send(0), .max(1))
    expectEqual(upstream.send(2), .max(1))
    expectEqual(upstream.send(10), .none)
    upstream.send(3)

    expectEqual(recorder.values, [4])
    #expect(throws: TestFailure.other) { try recorder.completion?.rethrow() }
  }

  @Test("it holds one subscription, cancels it once and lets go")
  func laws() {
    SubscriptionLaws.check(named: "TryCompactMap", children: ["downstream"]) { $0.tryCompactMap(text) }
  }

  @Test("a value before the subscription stops the process")
  func earlyValue() async {
    await #expect(processExitsWith: .failure) {
      TestPublisher<Int, Never>(handingOver: { _ = $0.receive(1) }).tryCompactMap { $0 }
        .subscribe(Recorder<Int, any Error>())
    }
  }
}
