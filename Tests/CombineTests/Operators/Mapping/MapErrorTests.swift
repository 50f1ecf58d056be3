import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("mapError")
struct MapErrorTests {
  private struct Wrapped: Error, Equatable {
    var inner: TestFailure
  }

  @Test("the failure is converted, and values, demand and answers pass as they are")
  func converts() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, Wrapped>(requesting: .max(2), answering: { _, _ in .max(3) })
    upstream.mapError { Wrapped(inner: $0) }.subscribe(recorder)

    expectEqual(upstream.send(1), .max(3))
    upstream.send(completion: .failure(.other))

    expectEqual(upstream.requests, [.max(2)])
    expectEqual(recorder.values, [1])
    expectEqual(recorder.completion, .failure(Wrapped(inner: .other)))
  }

  @Test("a normal end passes without the closure")
  func finishes() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, Wrapped>()
    var calls = 0
    Publishers.MapError<TestPublisher<Int, TestFailure>, Wrapped>(
      upstream: upstream,
      transform: {
        calls += 1
        return Wrapped(inner: $0)
      }
    )
    .subscribe(recorder)

    upstream.send(completion: .finished)

    #expect(recorder.isFinished)
    expectEqual(calls, 0)
  }

  @Test("the upstream's own subscription and every event pass")
  func laws() {
    PassThroughLaws.check(named: "MapError") { $0.mapError { Wrapped(inner: $0) } }
  }
}
