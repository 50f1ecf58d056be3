import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("map")
struct MapTests {
  @Test("each value is transformed, and demand, answers and the end pass as they are")
  func transforms() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<String, TestFailure>(requesting: .max(2), answering: { _, _ in .max(3) })
    upstream.map { "\($0)" }.subscribe(recorder)

    expectEqual(upstream.send(1), .max(3))
    expectEqual(upstream.send(2), .max(3))
    upstream.send(completion: .failure(.expected))

    expectEqual(upstream.requests, [.max(2)])
    expectEqual(recorder.values, ["1", "2"])
    expectEqual(recorder.completion, .failure(.expected))
  }

  @Test("two maps in a row are one publisher over the first upstream, and run in order")
  func fuses() {
    let fused: Publishers.Map<TestPublisher<Int, TestFailure>, String> =
      TestPublisher<Int, TestFailure>().map { $0 + 1 }.map { "<\($0)>" }
    let recorder = Recorder<String, TestFailure>()
    fused.subscribe(recorder)

    fused.upstream.send(1)

    expectEqual(recorder.values, ["<2>"])
  }

  @Test("an error thrown cancels the upstream, then ends the stream")
  func throwing() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, any Error>()
    upstream.tryMap { if $0 == 2 { throw TestFailure.expected } else { $0 * 10 } }.subscribe(recorder)

    upstream.send(1)
    upstream.send(2)

    expectEqual(recorder.values, [10])
    expectEqual(upstream.cancelCount, 1)
    #expect(throws: TestFailure.expected) { try recorder.completion?.rethrow() }
  }
}
