import Combine
import Dispatch
import Expectations
import ReboundTesting
import Testing

@Suite("drop(untilOutputFrom:)")
struct DropUntilOutputTests {
  private let upstream = TestPublisher<Int, TestFailure>()
  private let other = TestPublisher<String, TestFailure>()

  @Test("another publisher that has published is left, and does not keep the subscription")
  func leavingOther() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.drop(untilOutputFrom: other).subscribe(recorder)
    other.send("go")
    upstream.send(1)

    expectEqual(other.cancelCount, 1)
    expectEqual(recorder.values, [1])
  }

  @Test("values pass after the other publisher has published one; those left out use up demand")
  func opens() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(3), answering: { _, _ in .max(5) })
    upstream.drop(untilOutputFrom: other).subscribe(recorder)
    expectEqual(upstream.send(1), .none)
    expectEqual(other.send("go"), .none)
    expectEqual(upstream.send(2), .max(5))
    recorder.request(.max(1))
    upstream.send(completion: .finished)

    expectEqual(other.requests, [.max(1)])
    expectEqual(upstream.requests, [.max(3), .max(1)])
    expectEqual(recorder.events, [.subscription, .value(2), .completion(.finished)])
  }

  @Test("the order is: subscription downstream, other publisher, upstream; requests wait for the upstream")
  func order() {
    var order: [String] = []
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2))
    let other = TestPublisher<String, TestFailure>(whenSubscribed: { _ in
      order.append("other after \(recorder.subscriptionCount)")
      recorder.request(.max(1))
    })
    let upstream = TestPublisher<Int, TestFailure>(whenSubscribed: { _ in order.append("upstream") })
    upstream.drop(untilOutputFrom: other).subscribe(recorder)

    expectEqual(order, ["other after 1", "upstream"])
    expectEqual(upstream.requests, [.max(3)])
  }

  @Test(
    "if the other publisher ends first, the upstream is cancelled and the stream ends the same way",
    arguments: [Subscribers.Completion<TestFailure>.finished, .failure(.other)]
  )
  func endOfOther(completion: Subscribers.Completion<TestFailure>) {
    var cancelCountAtEnd = 0
    let recorder = Recorder<Int, TestFailure>(whenCompleted: { cancelCountAtEnd = upstream.cancelCount })
    upstream.drop(untilOutputFrom: other).subscribe(recorder)
    other.send(completion: completion)
    upstream.send(1)
    upstream.send(completion: .finished)

    expectEqual(recorder.events, [.subscription, .completion(completion)])
    expectEqual(cancelCountAtEnd, 1)
  }

  @Test("once the other publisher has published, its end changes nothing")
  func endOfOtherAfterOpening() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.drop(untilOutputFrom: other).subscribe(recorder)
    other.send("go")
    other.send(completion: .failure(.other))
    upstream.send(1)

    expectEqual(recorder.events, [.subscription, .value(1)])
  }

  @Test("another publisher that ends while being subscribed to ends the stream, and the upstream is cancelled")
  func immediateEnd() {
    let recorder = Recorder<Int, TestFailure>()
    let other = TestPublisher<Int, TestFailure>(whenSubscribed: { $0.send(completion: .finished) })
    upstream.drop(untilOutputFrom: other).subscribe(recorder)

    expectEqual(recorder.events, [.subscription, .completion(.finished)])
    expectEqual(upstream.cancelCount, 1)
    #expect(upstream.requests.isEmpty)
  }

  @Test("a cancel reaches both publishers, once, and nothing is delivered any more")
  func cancel() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.drop(untilOutputFrom: other).subscribe(recorder)
    recorder.cancel()
    recorder.cancel()
    other.send("go")
    upstream.send(1)

    expectEqual(upstream.cancelCount, 1)
    expectEqual(other.cancelCount, 1)
    expectEqual(recorder.events, [.subscription])
  }

  @Test("the end of the upstream passes once, and lets go of the other publisher")
  func end() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.drop(untilOutputFrom: other).subscribe(recorder)
    upstream.send(completion: .failure(.expected))
    upstream.send(completion: .finished)

    expectEqual(recorder.completions, [.failure(.expected)])
    expectEqual(other.cancelCount, 1)
  }

  @Test("values pass without a gap when the other publisher publishes on another thread")
  func twoThreads() {
    for _ in 0..<200 {
      let (upstream, other) = (TestPublisher<Int, TestFailure>(), TestPublisher<Int, TestFailure>())
      let recorder = Recorder<Int, TestFailure>()
      upstream.drop(untilOutputFrom: other).subscribe(recorder)
      DispatchQueue.concurrentPerform(iterations: 2) { thread in
        if thread == 0 { other.send(0) } else { for value in 0..<50 { upstream.send(value) } }
      }
      upstream.send(50)

      expectEqual(recorder.values, Array(0...50).suffix(recorder.values.count))
      expectEqual(recorder.values.last, 50)
    }
  }

  @Test("another publisher that has published gets no second subscription taken")
  func secondSubscriptionOfOther() {
    let second = SubscriptionSpy()
    let other = TestPublisher<String, TestFailure>(handingOver: {
      $0.receive(subscription: SubscriptionSpy())
      _ = $0.receive("go")
      $0.receive(subscription: second)
    })
    upstream.drop(untilOutputFrom: other).subscribe(Recorder<Int, TestFailure>())

    #expect(second.requests.isEmpty)
    expectEqual(second.cancelCount, 1)
  }

  @Test("publishers of equal parts are equal")
  func equality() {
    typealias Rest = Publishers.DropUntilOutput<Just<Int>, Just<Int>>
    expectEqual(Rest(upstream: Just(1), other: Just(2)), Rest(upstream: Just(1), other: Just(2)))
    #expect(Rest(upstream: Just(1), other: Just(2)) != Rest(upstream: Just(1), other: Just(3)))
  }

  @Test("it holds one subscription, cancels it once and lets go")
  func laws() {
    SubscriptionLaws.check(named: "DropUntilOutput") { $0.drop(untilOutputFrom: TestPublisher<Int, TestFailure>()) }
  }

  @Test("a value left out that nobody asked for stops the process")
  func unaskedValue() async {
    await #expect(processExitsWith: .failure) {
      let upstream = TestPublisher<Int, TestFailure>()
      upstream.drop(untilOutputFrom: TestPublisher<Int, TestFailure>())
        .subscribe(Recorder<Int, TestFailure>(requesting: .max(1)))
      upstream.send(1)
      upstream.send(2)
    }
  }

  @Test("the trigger sees a subscriber with the subscription's identifier and name")
  func triggerSide() {
    var identifiers: [CombineIdentifier] = []
    var names: [String] = []
    TestPublisher<Int, TestFailure>().drop(
      untilOutputFrom: TestPublisher<Int, TestFailure>(handingOver: {
        identifiers.append($0.combineIdentifier)
        names.append("\($0)")
      })
    )
    .subscribe(
      AnySubscriber<Int, TestFailure>(receiveSubscription: {
        identifiers.append($0.combineIdentifier)
        names.append("\($0)")
      })
    )
    #expect(identifiers.count == 2 && Set(identifiers).count == 1)
    expectEqual(names, ["DropUntilOutput", "DropUntilOutput"])
  }

  @Test("a value before the subscription is left out, asked for or not")
  func earlyValue() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).drop(untilOutputFrom: other).subscribe(recorder)
    expectEqual(subscriber?.receive(1), Subscribers.Demand.none)
    expectEqual(recorder.events, [.subscription])
  }

  @Test("once the other publisher has ended the stream, subscriptions of the upstream are cancelled")
  func lateSubscriptions() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>()
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).drop(untilOutputFrom: other).subscribe(recorder)
    other.send(completion: .finished)
    let (late, second) = (SubscriptionSpy(), SubscriptionSpy())
    subscriber?.receive(subscription: late)
    subscriber?.receive(subscription: second)

    #expect(late.cancelCount == 1 && second.cancelCount == 1)
    #expect(late.requests.isEmpty && second.requests.isEmpty)
    expectEqual(recorder.completions, [.finished])
  }
}
