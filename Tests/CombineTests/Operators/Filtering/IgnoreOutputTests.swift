import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("ignoreOutput")
struct IgnoreOutputTests {
  @Test("everything is asked for, no value passes, and the end does")
  func ignores() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Never, TestFailure>(requesting: .none)
    upstream.ignoreOutput().subscribe(recorder)

    expectEqual(upstream.requests, [.unlimited])
    expectEqual(upstream.send(1), .none)
    upstream.send(completion: .failure(.expected))

    #expect(recorder.values.isEmpty)
    expectEqual(recorder.completion, .failure(.expected))
  }

  @Test("requests of the subscriber pass as well, before its own if made at the subscription")
  func requests() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Never, TestFailure>(requesting: .max(2))
    upstream.ignoreOutput().subscribe(recorder)
    recorder.request(.max(3))

    expectEqual(upstream.requests, [.max(2), .unlimited, .max(3)])
  }

  @Test("publishers over equal upstreams are equal")
  func equality() {
    typealias End = Publishers.IgnoreOutput<Just<Int>>
    expectEqual(End(upstream: Just(1)), End(upstream: Just(1)))
    #expect(End(upstream: Just(1)) != End(upstream: Just(2)))
  }

  @Test("the upstream's own subscription and every event pass")
  func laws() {
    PassThroughLaws.check(named: "IgnoreOutput") { $0.ignoreOutput() }
  }
}
