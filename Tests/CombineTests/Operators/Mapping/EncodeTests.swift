import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("encode")
struct EncodeTests {
  @Test("each value is encoded, and demand, answers and the end pass as they are")
  func codes() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<String, any Error>(requesting: .max(2), answering: { _, _ in .max(3) })
    upstream.encode(encoder: TestCoder()).subscribe(recorder)

    expectEqual(upstream.send(1), .max(3))
    upstream.send(completion: .failure(.expected))
    upstream.send(completion: .finished)
    upstream.send(2)

    expectEqual(upstream.requests, [.max(2)])
    expectEqual(recorder.values, ["<1>"])
    expectEqual(recorder.completions.count, 1)
    #expect(throws: TestFailure.expected) { try recorder.completion?.rethrow() }
  }

  @Test("an error thrown cancels the upstream, then ends the stream with it; nothing comes after")
  func throwing() {
    var cancelCountAtEnd = 0
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<String, any Error>(whenCompleted: { cancelCountAtEnd = upstream.cancelCount })
    upstream.encode(encoder: TestCoder()).subscribe(recorder)

    upstream.send(1)
    expectEqual(upstream.send(-1), .none)

    expectEqual(recorder.values, ["<1>"])
    expectEqual(recorder.completions.count, 1)
    expectEqual(cancelCountAtEnd, 1)
    #expect(throws: TestCoder.Refusal()) { try recorder.completion?.rethrow() }
  }

  @Test("values and an end before the subscription pass, and the subscription after them is cancelled")
  func early() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<String, any Error>(answering: { _, _ in .max(4) })
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 })
      .encode(encoder: TestCoder()).subscribe(recorder)

    expectEqual(subscriber?.receive(5), .max(4))
    subscriber?.receive(completion: .finished)
    let late = SubscriptionSpy()
    subscriber?.receive(subscription: late)

    expectEqual(recorder.values, ["<5>"])
    expectEqual(recorder.completions.count, 1)
    expectEqual(recorder.subscriptionCount, 0)
    expectEqual(late.cancelCount, 1)
  }

  @Test("values are no longer delivered after a cancel from inside a value")
  func cancelInside() {
    let subject = PassthroughSubject<Int, Never>()
    let recorder = Recorder<String, any Error>(answering: { _, recorder in
      recorder.cancel()
      return .none
    })
    subject.encode(encoder: TestCoder()).subscribe(recorder)

    subject.send(1)
    subject.send(2)
    subject.send(completion: .finished)

    expectEqual(recorder.values, ["<1>"])
    #expect(recorder.completions.isEmpty)
  }

  @Test("it holds one subscription, cancels it once and lets go")
  func laws() {
    SubscriptionLaws.check(named: "Encode", children: ["downstream", "finished", "upstreamSubscription"]) {
      $0.encode(encoder: TestCoder())
    }
  }
}
