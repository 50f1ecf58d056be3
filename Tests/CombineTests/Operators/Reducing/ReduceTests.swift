import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("reduce")
struct ReduceTests {
  @Test("each subscriber starts anew")
  func startsAnew() {
    let publisher = TestPublisher<Int, Never> { connection in
      connection.send(1)
      connection.send(completion: .finished)
    }
    .reduce("") { "\($0)\($1)" }
    for _ in 0..<2 {
      let recorder = Recorder<String, Never>()
      publisher.subscribe(recorder)
      expectEqual(recorder.events, [.subscription, .value("1"), .completion(.finished)])
    }
  }

  @Test("the closure takes result and value in this order")
  func order() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<String, TestFailure>()
    upstream.reduce("0") { "\($0)\($1)" }.subscribe(recorder)
    for value in 1...3 { upstream.send(value) }
    upstream.send(completion: .finished)
    expectEqual(recorder.values, ["0123"])
  }

  @Test("an error thrown cancels the upstream, then fails at once, unasked")
  func throwing() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, any Error>(requesting: .none)
    var calls = 0
    upstream.tryReduce(0) { _, _ in
      calls += 1
      throw TestFailure.expected
    }
    .subscribe(recorder)
    let connection = upstream.connections.first

    expectEqual(connection?.send(1), Subscribers.Demand.none)
    connection?.send(2)

    expectEqual(calls, 1)
    expectEqual(upstream.cancelCount, 1)
    #expect(recorder.values.isEmpty)
    #expect(throws: TestFailure.expected) { try recorder.completion?.rethrow() }
  }
}
