import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("makeConnectable")
struct MakeConnectableTests {
  @Test("nothing starts before the connection, and everybody gets everything after it")
  func waits() {
    let connectable = [1, 2, 3].publisher.makeConnectable()
    let first = Recorder<Int, Never>()
    let second = Recorder<Int, Never>(requesting: .max(2))
    connectable.subscribe(first)
    connectable.subscribe(second)
    expectEqual(first.values, [])

    let connection = connectable.connect()

    expectEqual(first.values, [1, 2, 3])
    expectEqual(second.values, [1, 2])
    #expect(first.isFinished && second.isFinished)
    connection.cancel()
  }

  @Test("a connection ends when it is cancelled")
  func cancels() {
    let upstream = TestPublisher<Int, Never>()
    let connectable = upstream.makeConnectable()
    let recorder = Recorder<Int, Never>()
    connectable.subscribe(recorder)

    let connection = connectable.connect()
    upstream.send(1)
    connection.cancel()
    upstream.send(2)

    expectEqual(recorder.values, [1])
    expectEqual(upstream.cancelCount, 1)
    expectEqual(recorder.completions, [])
  }
}
