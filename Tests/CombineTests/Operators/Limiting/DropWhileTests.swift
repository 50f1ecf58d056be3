import Expectations
import ReboundTesting
import Testing

@testable import Combine

@Suite("drop(while:)")
struct DropWhileTests {
  private final class Token {}

  @Test("values are left out until the closure says no, and it is not asked again")
  func drops() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2), answering: { _, _ in .max(3) })
    var asked: [Int] = []
    upstream.drop {
      asked.append($0)
      return $0 < 3
    }
    .subscribe(recorder)
    expectEqual(upstream.send(1), .max(1))
    expectEqual(upstream.send(3), .max(3))
    expectEqual(upstream.send(1), .max(3))
    upstream.send(completion: .failure(.expected))

    expectEqual(upstream.requests, [.max(2)])
    expectEqual(asked, [1, 3])
    expectEqual(recorder.events, [.subscription, .value(3), .value(1), .completion(.failure(.expected))])
  }

  @Test("a value sent from inside the first that passes, passes too")
  func reentrantValue() {
    let subject = PassthroughSubject<Int, Never>()
    let recorder = Recorder<Int, Never>(answering: { value, _ in
      if value == 3 { subject.send(1) }
      return .none
    })
    subject.drop { $0 < 3 }.subscribe(recorder)
    subject.send(3)

    expectEqual(recorder.values, [3, 1])
  }

  @Test("events and a cancel before the subscription are ignored, and so are values after the end")
  func outOfTurn() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    var asked: [Int] = []
    let recorder = Recorder<Int, TestFailure>()
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).drop {
      asked.append($0)
      return $0 < 3
    }
    .subscribe(recorder)
    expectEqual(subscriber?.receive(5), Subscribers.Demand.none)
    subscriber?.receive(completion: .finished)
    let early = subscriber?.erased.subject as? any Cancellable
    #expect(early != nil)
    early?.cancel()
    let subscription = SubscriptionSpy()
    subscriber?.receive(subscription: subscription)
    subscriber?.receive(completion: .finished)
    subscriber?.receive(completion: .finished)
    _ = subscriber?.receive(5)

    #expect(asked.isEmpty)
    expectEqual(subscription.cancelCount, 0)
    expectEqual(recorder.events, [.subscription, .completion(.finished)])
  }

  @Test("the closure is released at the end, while the subscription is still held", arguments: [true, false])
  func release(byCancel: Bool) {
    let upstream = TestPublisher<Int, TestFailure>()
    var held: (any Subscription)?
    weak var weakToken: Token?
    do {
      let token = Token()
      weakToken = token
      upstream.drop { _ in withExtendedLifetime(token) { true } }
        .subscribe(AnySubscriber<Int, TestFailure>(receiveSubscription: { held = $0 }))
    }
    #expect(weakToken != nil)
    if byCancel { held?.cancel() } else { upstream.send(completion: .finished) }

    #expect(weakToken == nil)
  }

  @Test("it holds one subscription, cancels it once and lets go")
  func laws() {
    SubscriptionLaws.check(named: "DropWhile") { $0.drop { $0 < 3 } }
  }

  @Test("a request for no values stops the process")
  func emptyRequest() async {
    await #expect(processExitsWith: .failure) {
      let recorder = Recorder<Int, TestFailure>()
      TestPublisher<Int, TestFailure>().drop { $0 < 3 }.subscribe(recorder)
      recorder.request(.none)
    }
  }
}

@Suite("tryDrop(while:)")
struct TryDropWhileTests {
  private func isSmall(_ value: Int) throws -> Bool {
    if value < 0 { throw TestFailure.expected }
    return value < 3
  }

  @Test("values are left out until the closure says no; later ones pass though it would throw")
  func drops() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, any Error>()
    upstream.tryDrop(while: isSmall).subscribe(recorder)
    expectEqual(upstream.send(1), .max(1))
    for value in [3, -1] { upstream.send(value) }
    upstream.send(completion: .finished)

    expectEqual(recorder.values, [3, -1])
    #expect(recorder.isFinished)
  }

  @Test("an error thrown cancels the upstream, then ends the stream")
  func throwing() {
    var cancelCountAtEnd = 0
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, any Error>(whenCompleted: { cancelCountAtEnd = upstream.cancelCount })
    upstream.tryDrop(while: isSmall).subscribe(recorder)
    expectEqual(upstream.send(-1), .none)
    upstream.send(5)

    #expect(recorder.values.isEmpty)
    expectEqual(recorder.completions.count, 1)
    expectEqual(cancelCountAtEnd, 1)
    #expect(throws: TestFailure.expected) { try recorder.completion?.rethrow() }
  }

  @Test("it holds one subscription, cancels it once and lets go")
  func laws() {
    SubscriptionLaws.check(named: "TryDropWhile") { $0.tryDrop(while: isSmall) }
  }
}
