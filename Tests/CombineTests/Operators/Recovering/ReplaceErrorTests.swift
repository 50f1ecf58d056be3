import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("replaceError")
struct ReplaceErrorTests {
  let upstream = TestPublisher<Int, TestFailure>()

  @Test("a failure becomes a value and the end if something is owed")
  func replaces() {
    let recorder = Recorder<Int, Never>(requesting: .max(2), answering: { _, _ in .none })
    upstream.replaceError(with: -1).subscribe(recorder)
    expectEqual(upstream.requests, [.max(2)])
    expectEqual(upstream.send(1), .none)
    upstream.send(completion: .failure(.expected))
    expectEqual(recorder.events, [.subscription, .value(1), .value(-1), .completion(.finished)])
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("the value waits for a request, and a finish meanwhile is ignored")
  func waits() {
    let recorder = Recorder<Int, Never>(requesting: .max(1))
    upstream.replaceError(with: -1).subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .failure(.expected))
    upstream.send(completion: .finished)
    expectEqual(recorder.events, [.subscription, .value(1)])
    recorder.request(.max(1))
    recorder.request(.max(1))
    expectEqual(recorder.events, [.subscription, .value(1), .value(-1), .completion(.finished)])
    expectEqual(upstream.requests, [.max(1)])
  }

  @Test("a finish passes without demand")
  func finishes() {
    let recorder = Recorder<Int, Never>(requesting: .none)
    upstream.replaceError(with: -1).subscribe(recorder)
    upstream.send(completion: .finished)
    upstream.send(completion: .failure(.expected))
    expectEqual(recorder.events, [.subscription, .completion(.finished)])
  }

  @Test("demand returned for a value during which the upstream fails releases the value")
  func failureInsideValue() {
    let subject = PassthroughSubject<Int, TestFailure>()
    let recorder = Recorder<Int, Never>(
      requesting: .max(1),
      answering: { value, _ in
        subject.send(completion: .failure(.expected))
        return value == 1 ? .max(1) : .none
      }
    )
    subject.replaceError(with: -1).subscribe(recorder)
    subject.send(1)
    expectEqual(recorder.events, [.subscription, .value(1), .value(-1), .completion(.finished)])
  }

  @Test("cancelled, also from inside the value, nothing more comes")
  func cancels() {
    let recorder = Recorder<Int, Never>(answering: { _, recorder in
      recorder.cancel()
      return .none
    })
    upstream.replaceError(with: -1).subscribe(recorder)
    upstream.send(completion: .failure(.expected))
    expectEqual(recorder.events, [.subscription, .value(-1)])

    let early = Recorder<Int, Never>(requesting: .none)
    upstream.replaceError(with: -1).subscribe(early)
    early.cancel()
    early.cancel()
    expectEqual(upstream.cancelCount, 1)
    upstream.send(completion: .failure(.expected))
    early.request(.max(1))
    expectEqual(early.events, [.subscription])
  }

  @Test("a second subscription is cancelled")
  func secondSubscription() {
    let spare = TestPublisher<Int, TestFailure>()
    spare.subscribe(Recorder<Int, TestFailure>())
    upstream.replaceError(with: 1).subscribe(Recorder<Int, Never>())
    upstream.connections[0].send(subscription: spare.connections[0])
    expectEqual(spare.cancelCount, 1)
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("publishers with equal parts are equal, and the subscription is called ReplaceError")
  func naming() {
    expectEqual([1].publisher.replaceError(with: 3), Publishers.ReplaceError(upstream: [1].publisher, output: 3))
    upstream.replaceError(with: 1).subscribe(
      AnySubscriber<Int, Never>(receiveSubscription: { expectEqual("\($0)", "ReplaceError") })
    )
    expectEqual(upstream.subscriptionCount, 1)
  }

  @Test("a value beyond the demand stops the process")
  func beyondDemand() async {
    await #expect(processExitsWith: .failure) {
      let upstream = TestPublisher<Int, TestFailure>()
      upstream.replaceError(with: 1).subscribe(Recorder<Int, Never>(requesting: .none))
      upstream.send(1)
    }
  }

  @Test("failure and request at the same time release the value once", arguments: 0..<100)
  func stress(seed: Int) {
    let subject = PassthroughSubject<Int, TestFailure>()
    let keeper = LawKeeper<Int, Never>()
    subject.replaceError(with: -1).subscribe(keeper)
    race(
      seed: UInt64(seed),
      [
        { numbers in
          for value in 0..<Int.random(in: 0..<5, using: &numbers) { subject.send(value) }
          subject.send(completion: .failure(.expected))
        },
        { _ in for _ in 0..<10 { keeper.request(.max(1)) } },
      ]
    )
    expectEqual(keeper.breaches, [])
    #expect(keeper.isOver)
    #expect(keeper.valueCount >= 1)
  }
}
