import Expectations
import ReboundTesting
import Testing

@testable import Combine

@Suite("retry")
struct RetryTests {
  let upstream = TestPublisher<Int, TestFailure>()

  /// A publisher that fails as soon as it is subscribed to.
  static func failing() -> TestPublisher<Int, TestFailure> {
    TestPublisher(whenSubscribed: { $0.send(completion: .failure(.expected)) })
  }

  @Test("after each failure the upstream is subscribed to again, until the retries are used up")
  func attempts() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.retry(2).subscribe(recorder)
    for attempt in 1...3 {
      expectEqual(upstream.subscriptionCount, attempt)
      upstream.send(attempt)
      upstream.send(completion: .failure(.expected))
    }
    expectEqual(upstream.subscriptionCount, 3)
    expectEqual(recorder.events, [.subscription, .value(1), .value(2), .value(3), .completion(.failure(.expected))])
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("without retries a failure passes at once")
  func none() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.retry(0).subscribe(recorder)
    upstream.send(completion: .failure(.expected))
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(recorder.completions, [.failure(.expected)])
  }

  @Test("nil and negative numbers mean without limit", arguments: [nil, -1])
  func unlimited(retries: Int?) {
    let recorder = Recorder<Int, TestFailure>()
    Publishers.Retry(upstream: upstream, retries: retries).subscribe(recorder)
    for _ in 0..<50 { upstream.send(completion: .failure(.expected)) }
    expectEqual(upstream.subscriptionCount, 51)
    upstream.send(completion: .finished)
    expectEqual(recorder.events, [.subscription, .completion(.finished)])
  }

  @Test("each attempt is asked for what is still owed")
  func demand() {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(3),
      answering: { value, _ in value == 1 ? .max(2) : .none }
    )
    upstream.retry(2).subscribe(recorder)
    expectEqual(upstream.send(1), .none)
    expectEqual(upstream.requests, [.max(3), .max(2)])
    upstream.send(2)
    upstream.send(completion: .failure(.expected))
    expectEqual(upstream.connections[1].requests, [.max(3)])
    for value in 3...5 { upstream.send(value) }
    upstream.send(completion: .failure(.expected))
    expectEqual(upstream.connections[2].requests, [])
    recorder.request(.max(1))
    expectEqual(upstream.connections[2].requests, [.max(1)])
  }

  @Test(
    "an end before the subscription passes",
    arguments: [Subscribers.Completion<TestFailure>.finished, .failure(.expected)]
  )
  func early(completion: Subscribers.Completion<TestFailure>) {
    let recorder = Recorder<Int, TestFailure>()
    let upstream = TestPublisher<Int, TestFailure>(handingOver: { $0.receive(completion: completion) })
    upstream.retry(3).subscribe(recorder)
    expectEqual(recorder.events, [.completion(completion)])
    expectEqual(upstream.subscriptionCount, 1)
  }

  @Test("cancelling reaches the attempt under way, and no other follows")
  func cancels() {
    let recorder = Recorder<Int, TestFailure>()
    upstream.retry(5).subscribe(recorder)
    upstream.send(completion: .failure(.expected))
    recorder.cancel()
    recorder.cancel()
    expectEqual(upstream.cancelCount, 1)
    expectEqual(upstream.connections[1].cancelCount, 1)
    upstream.send(completion: .failure(.expected))
    expectEqual(upstream.subscriptionCount, 2)
    #expect(recorder.completion == nil)
  }

  @Test("cancelled before the subscription, it cancels that when it comes")
  func earlyCancel() {
    let spy = SubscriptionSpy()
    TestPublisher<Int, TestFailure>(handingOver: {
      let subscription = $0.erased.subject as? any Subscription
      #expect(subscription != nil)
      subscription?.cancel()
      $0.receive(subscription: spy)
    })
    .retry(3).subscribe(Recorder<Int, TestFailure>())
    expectEqual(spy.cancelCount, 1)
    #expect(spy.requests.isEmpty)
  }

  @Test("between two attempts, what is asked for waits for the next one, and so does a cancel")
  func betweenAttempts() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let keeper = Keeper<Int, TestFailure>()
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).retry(2).subscribe(keeper)
    let attempts = (0..<3).map { _ in SubscriptionSpy() }
    subscriber?.receive(subscription: attempts[0])
    keeper.subscription?.request(.max(1))
    subscriber?.receive(completion: .failure(.expected))
    keeper.subscription?.request(.max(2))
    subscriber?.receive(subscription: attempts[1])
    expectEqual(attempts[0].requests, [.max(1)])
    expectEqual(attempts[1].requests, [.max(3)])
    subscriber?.receive(completion: .failure(.expected))
    keeper.subscription?.cancel()
    subscriber?.receive(subscription: attempts[2])
    expectEqual(attempts.map(\.cancelCount), [0, 0, 1])
  }

  @Test("the subscriber is kept until the subscription goes, past end and cancel", arguments: [true, false])
  func keepsSubscriber(ends: Bool) {
    weak var released: Recorder<Int, TestFailure>?
    var held: (any Subscription)?
    var subscriber: AnySubscriber<Int, TestFailure>?
    do {
      let recorder = Recorder<Int, TestFailure>()
      released = recorder
      TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).retry(1).subscribe(
        AnySubscriber(receiveSubscription: { held = $0 }, receiveValue: recorder.receive)
      )
    }
    subscriber?.receive(subscription: SubscriptionSpy())
    if ends { subscriber?.receive(completion: .finished) } else { held?.cancel() }
    subscriber = nil
    #expect(released != nil)
    held = nil
    #expect(released == nil)
  }

  @Test("cancelled from inside a value, a failure after it starts no attempt")
  func cancelInside() {
    let upstream = TestPublisher<Int, TestFailure>(whenSubscribed: {
      $0.send(1)
      $0.send(completion: .failure(.expected))
    })
    let recorder = Recorder<Int, TestFailure>(answering: { _, recorder in
      recorder.cancel()
      return .none
    })
    upstream.retry(100).subscribe(recorder)
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(recorder.values, [1])
  }

  @Test("a second subscription is cancelled")
  func secondSubscription() {
    let spare = TestPublisher<Int, TestFailure>()
    spare.subscribe(Recorder<Int, TestFailure>())
    upstream.retry(1).subscribe(Recorder<Int, TestFailure>())
    upstream.connections[0].send(subscription: spare.connections[0])
    expectEqual(spare.cancelCount, 1)
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("an attempt that begins and fails twice is followed by one other")
  func twiceInOneAttempt() {
    let upstream = TestPublisher<Int, TestFailure>(handingOver: { subscriber in
      for _ in 0..<2 {
        subscriber.receive(subscription: Subscriptions.empty)
        subscriber.receive(completion: .failure(.expected))
      }
    })
    let recorder = Recorder<Int, TestFailure>()
    upstream.retry(4).subscribe(recorder)
    // Each has used two retries up.
    expectEqual(upstream.subscriptionCount, 3)
    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("ten thousand failures at once, in one call, use no stack")
  func manyRetries() {
    let upstream = Self.failing()
    let recorder = Recorder<Int, TestFailure>()
    upstream.retry(10_000).subscribe(recorder)
    expectEqual(upstream.subscriptionCount, 10_001)
    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("forty thousand attempts with a value each, retried inside a catch, use no stack")
  func manyRetriesInChain() {
    var attempts = 0
    let upstream = TestPublisher<Int, TestFailure>(handingOver: { subscriber in
      attempts += 1
      subscriber.receive(subscription: Subscriptions.empty)
      _ = subscriber.receive(attempts)
      subscriber.receive(completion: .failure(.expected))
    })
    let recorder = Recorder<Int, Never>()
    upstream.map { $0 }.retry(40_000).catch { _ in Just(-1) }.subscribe(recorder)
    expectEqual(attempts, 40_001)
    expectEqual(recorder.values.count, 40_002)
    expectEqual(recorder.values.last, -1)
    #expect(recorder.isFinished)
  }

  @Test("publishers with equal parts are equal")
  func equality() {
    let upstream = [1].publisher
    expectEqual(upstream.retry(2), Publishers.Retry(upstream: upstream, retries: 2))
    #expect(Publishers.Retry(upstream: upstream, retries: nil) != upstream.retry(2))
  }

  @Test("the subscription is called Retry")
  func reflection() {
    upstream.retry(1).subscribe(
      AnySubscriber<Int, TestFailure>(receiveSubscription: {
        expectEqual("\($0)", "Retry")
        #expect(Mirror(reflecting: $0).children.isEmpty)
      })
    )
    expectEqual(upstream.subscriptionCount, 1)
  }

  @Test("a value beyond the demand stops the process")
  func beyondDemand() async {
    await #expect(processExitsWith: .failure) {
      let upstream = TestPublisher<Int, TestFailure>()
      upstream.retry(1).subscribe(Recorder<Int, TestFailure>(requesting: .none))
      upstream.send(1)
    }
  }

  @Test("failures, values, requests and cancellation on different threads keep the laws", arguments: 0..<60)
  func stress(seed: Int) {
    let subject = TestPublisher<Int, TestFailure>()
    let attempts = PassthroughSubject<Int, TestFailure>()
    let keeper = LawKeeper<Int, TestFailure>(answering: seed % 3 == 0 ? .max(1) : .none)
    attempts.retry(seed % 2 == 0 ? 0 : 3).subscribe(keeper)
    subject.retry(20).subscribe(Recorder<Int, TestFailure>())
    race(
      seed: UInt64(seed),
      [
        { numbers in
          for value in 0..<Int.random(in: 50..<200, using: &numbers) { attempts.send(value) }
          attempts.send(completion: .failure(.expected))
        },
        { numbers in
          for _ in 0..<Int.random(in: 1..<30, using: &numbers) { subject.send(completion: .failure(.expected)) }
        },
        { numbers in
          for _ in 0..<Int.random(in: 10..<100, using: &numbers) { keeper.request(.max(3)) }
          if seed % 4 == 0 { keeper.cancel() }
        },
      ]
    )
    expectEqual(keeper.breaches, [])
    if seed % 4 != 0 { #expect(keeper.isOver) }
    #expect(subject.subscriptionCount <= 21)
  }

  @Test("values before a subscription, the first or a later one, are neither delivered nor counted")
  func earlyValues() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>(requesting: .max(3), answering: { _, _ in .max(5) })
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).retry(1).subscribe(recorder)
    expectEqual(subscriber?.receive(1), Subscribers.Demand.none)
    let (first, second) = (SubscriptionSpy(), SubscriptionSpy())
    subscriber?.receive(subscription: first)
    subscriber?.receive(completion: .failure(.expected))
    expectEqual(subscriber?.receive(2), Subscribers.Demand.none)
    subscriber?.receive(subscription: second)

    #expect(first.requests == [.max(3)] && second.requests == [.max(3)])
    #expect(recorder.values.isEmpty)
  }
}
