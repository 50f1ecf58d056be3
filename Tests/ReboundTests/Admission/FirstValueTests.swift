import Combine
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("FirstValue")
struct FirstValueTests {
  private let upstream = TestPublisher<Int, TestFailure>()

  private func first() -> (FirstValue<Int, TestFailure>, EventLog<String>) {
    let log = EventLog<String>()
    let first = FirstValue<Int, TestFailure> { log.write("\($0)") }
    upstream.subscribe(first)
    return (first, log)
  }

  @Test("asks for one value, tells it once, and cancels")
  func value() {
    let (_, log) = first()
    expectEqual(upstream.requests, [.max(1)])
    let connection = upstream.connections[0]
    connection.send(1)
    connection.send(2)
    connection.send(completion: .finished)
    expectEqual(log.events, ["success(Optional(1))"])
    #expect(connection.isCancelled)
  }

  @Test("tells an end without a value")
  func ends() {
    let finished = first().1
    upstream.send(completion: .finished)
    let failed = first().1
    upstream.send(completion: .failure(.transient))
    expectEqual(finished.events, ["success(nil)"])
    expectEqual(failed.events.count, 1)
    #expect(failed.events[0].hasSuffix("transient)"))
  }

  @Test("tells nothing after a cancel, and refuses a second subscription")
  func cancel() {
    let (first, log) = first()
    let intruder = TestPublisher<Int, TestFailure>()
    intruder.subscribe(Recorder(requesting: .none))
    upstream.connections[0].send(subscription: intruder.connections[0])
    expectEqual(intruder.cancelCount, 1)
    first.cancel()
    expectEqual(upstream.cancelCount, 1)
    upstream.send(1)
    #expect(log.events.isEmpty)
  }
}
