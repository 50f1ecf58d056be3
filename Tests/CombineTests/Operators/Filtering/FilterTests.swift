import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("filter")
struct FilterTests {
  @Test("values that are not accepted are left out and ask for one more; all else passes as it is")
  func leavesOut() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2), answering: { _, _ in .max(3) })
    upstream.filter { $0 > 1 }.subscribe(recorder)

    expectEqual(upstream.send(1), .max(1))
    expectEqual(upstream.send(2), .max(3))
    upstream.send(completion: .failure(.expected))

    expectEqual(upstream.requests, [.max(2)])
    expectEqual(recorder.values, [2])
    expectEqual(recorder.completion, .failure(.expected))
  }

  @Test("a finite demand is filled by values that are accepted")
  func finiteDemand() {
    let recorder = Recorder<Int, Never>(requesting: .max(2))
    Publishers.Filter(upstream: (1...10).publisher) { $0.isMultiple(of: 3) }.subscribe(recorder)

    expectEqual(recorder.values, [3, 6])
    #expect(!recorder.isFinished)
  }

  @Test("two in a row are one over the first upstream, and the second sees only what the first accepts")
  func fuses() {
    let upstream = TestPublisher<Int, TestFailure>()
    var seen: [Int] = []
    let fused: Publishers.Filter<TestPublisher<Int, TestFailure>> =
      upstream.filter { $0 > 1 }
      .filter {
        seen.append($0)
        return $0 < 3
      }
    let recorder = Recorder<Int, TestFailure>()
    fused.subscribe(recorder)
    for value in 1...3 { upstream.send(value) }

    expectEqual(seen, [2, 3])
    expectEqual(recorder.values, [2])
  }

  @Test("the upstream's own subscription and every event pass")
  func laws() {
    PassThroughLaws.check(named: "Filter") { $0.filter { _ in true } }
  }
}

@Suite("tryFilter")
struct TryFilterTests {
  private func isPositive(_ value: Int) throws -> Bool {
    if value < 0 { throw TestFailure.expected }
    return value > 0
  }

  @Test("values that are not accepted are left out and ask for one more; demand and answers pass as they are")
  func leavesOut() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, any Error>(requesting: .max(2), answering: { _, _ in .max(3) })
    upstream.tryFilter(isPositive).subscribe(recorder)

    expectEqual(upstream.send(0), .max(1))
    expectEqual(upstream.send(1), .max(3))
    upstream.send(completion: .finished)
    expectEqual(upstream.send(1), .none)

    expectEqual(upstream.requests, [.max(2)])
    expectEqual(recorder.values, [1])
    #expect(recorder.isFinished)
  }

  @Test("an error thrown cancels the upstream, then ends the stream")
  func throwing() {
    let upstream = TestPublisher<Int, TestFailure>()
    var order: [String] = []
    let recorder = Recorder<Int, any Error>(whenCompleted: { order.append("cancelled: \(upstream.cancelCount)") })
    upstream.tryFilter(isPositive).subscribe(recorder)

    expectEqual(upstream.send(-1), .none)

    expectEqual(order, ["cancelled: 1"])
    #expect(throws: TestFailure.expected) { try recorder.completion?.rethrow() }
  }

  @Test("a second condition, throwing or not, is asked only about what the first accepts")
  func fuses() {
    let upstream = TestPublisher<Int, TestFailure>()
    let fused: Publishers.TryFilter<TestPublisher<Int, TestFailure>> =
      upstream.filter { $0 != -1 }.tryFilter(isPositive).filter { $0 < 3 }.tryFilter { $0 != 2 }
    let recorder = Recorder<Int, any Error>()
    fused.subscribe(recorder)
    for value in [-1, 0, 1, 2, 3] { upstream.send(value) }

    expectEqual(recorder.values, [1])
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("it is a subscription of its own, and lets go of both sides at the end")
  func laws() {
    SubscriptionLaws.check(named: "TryFilter", children: ["downstream"]) { $0.tryFilter { _ in true } }
  }
}
