import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("share")
struct ShareTests {
  @Test("all subscribers share one subscription; who comes late misses what was sent")
  func shares() {
    let upstream = TestPublisher<Int, TestFailure>()
    let shared = upstream.share()
    let first = Recorder<Int, TestFailure>()
    let second = Recorder<Int, TestFailure>()

    shared.subscribe(first)
    upstream.send(1)
    shared.subscribe(second)
    upstream.send(2)
    upstream.send(completion: .failure(.expected))
    let late = Recorder<Int, TestFailure>()
    shared.subscribe(late)

    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(first.values, [1, 2])
    expectEqual(second.values, [2])
    expectEqual(late.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("everything is let go after the last cancel, though the publisher is kept")
  func releases() {
    let upstream = TestPublisher<Int, Never>()
    let shared = upstream.share()
    weak var released: Recorder<Int, Never>?
    do {
      let recorder = Recorder<Int, Never>()
      released = recorder
      shared.subscribe(recorder)
      recorder.cancel()
    }

    #expect(released == nil)
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("a shared publisher that nobody keeps lives while somebody is subscribed")
  func outlives() {
    let upstream = TestPublisher<Int, Never>()
    let recorder = Recorder<Int, Never>()
    upstream.share().subscribe(recorder)

    upstream.send(1)
    expectEqual(recorder.values, [1])
    recorder.cancel()
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("two are equal only if they are the same")
  func equality() {
    let upstream = Just(1)
    let shared = upstream.share()

    expectEqual(shared, shared)
    #expect(shared != upstream.share())
  }
}
