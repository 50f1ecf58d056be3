import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("setFailureType")
struct SetFailureTypeTests {
  private struct OtherFailure: Error {}

  @Test("values, demand, answers and the end pass as they are")
  func passes() {
    let upstream = TestPublisher<Int, Never>()
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2), answering: { _, _ in .max(3) })
    upstream.setFailureType(to: TestFailure.self).subscribe(recorder)

    expectEqual(upstream.send(1), .max(3))
    upstream.send(completion: .finished)

    expectEqual(upstream.requests, [.max(2)])
    expectEqual(recorder.values, [1])
    #expect(recorder.isFinished)
  }

  @Test("two in a row are one over the first upstream")
  func fuses() {
    let upstream = TestPublisher<Int, Never>()
    let fused: Publishers.SetFailureType<TestPublisher<Int, Never>, TestFailure> =
      upstream.setFailureType(to: OtherFailure.self).setFailureType(to: TestFailure.self)
    let recorder = Recorder<Int, TestFailure>()
    fused.subscribe(recorder)

    upstream.send(1)

    expectEqual(recorder.values, [1])
  }

  @Test("the upstream gets a subscriber of that name without children")
  func reflection() {
    var subscriber: AnySubscriber<Int, Never>?
    let recorder = Recorder<Int, TestFailure>()
    TestPublisher<Int, Never>(handingOver: { subscriber = $0 })
      .setFailureType(to: TestFailure.self).subscribe(recorder)

    expectEqual(subscriber?.description, "SetFailureType")
    expectEqual(subscriber?.customMirror.children.isEmpty, true)
  }

  @Test("publishers over equal upstreams are equal")
  func equality() {
    typealias Fallible = Publishers.SetFailureType<Just<Int>, TestFailure>
    expectEqual(Fallible(upstream: Just(1)), Fallible(upstream: Just(1)))
    #expect(Fallible(upstream: Just(1)) != Fallible(upstream: Just(2)))
  }
}
