import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("contains(where:)")
struct ContainsWhereTests {
  @Test("an error thrown cancels the upstream, then fails at once, unasked")
  func throwing() {
    let upstream = TestPublisher<Int, TestFailure>()
    var cancelCountAtEnd: Int?
    let recorder = Recorder<Bool, any Error>(
      requesting: .none,
      whenCompleted: { cancelCountAtEnd = upstream.cancelCount }
    )
    upstream.tryContains { if $0 == 2 { throw TestFailure.expected } else { false } }.subscribe(recorder)

    upstream.send(1)
    expectEqual(recorder.events.count, 1)
    upstream.send(2)

    expectEqual(cancelCountAtEnd, 1)
    #expect(recorder.values.isEmpty)
    #expect(throws: TestFailure.expected) { try recorder.completion?.rethrow() }
  }
}
