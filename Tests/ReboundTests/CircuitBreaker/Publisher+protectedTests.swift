import Combine
import Dispatch
import Expectations
import Rebound
import ReboundTesting
import Testing

@Suite("protected(by:)", .virtualTime)
struct PublisherProtectedTests {
  @Test("opens for a retry below it, which passes the refusal on", arguments: [1, 2])
  func underRetry(failures: Int) throws {
    let scheduler = TestScheduler.current
    let breaker = CircuitBreaker("weather", policy: try CircuitBreakerPolicy(consecutiveFailures: failures))
    let upstream = TestPublisher<Int, any Error>(whenSubscribed: {
      $0.send(completion: .failure(TestFailure.transient))
    })
    let recorder = Recorder<Int, any Error>()
    upstream.protected(by: breaker)
      .retry(.constant(.seconds(1)), times: 5, when: { !($0 is CircuitOpen) }, time: scheduler.time)
      .subscribe(recorder)
    scheduler.advance(by: 60)
    expectEqual(upstream.subscriptionCount, failures)
    expectEqual((recorder.failure as? CircuitOpen)?.name, "weather")
  }

  @Test(
    "is retried under a refusal only by a policy whose deadline leaves the time for it",
    arguments: [(nil, false), (.seconds(5), false), (.seconds(10), false), (.seconds(11), true)] as [(Duration?, Bool)]
  )
  func refusalUnderRetry(deadline: Duration?, isRetried: Bool) throws {
    let scheduler = TestScheduler.current
    let breaker = CircuitBreaker(
      "weather",
      policy: try CircuitBreakerPolicy(consecutiveFailures: 1, openTime: .seconds(10))
    )
    (try? breaker.acquire())?.fail(with: TestFailure.transient)
    let log = RetryLog()
    let upstream = TestPublisher<Int, any Error>()
    let recorder = Recorder<Int, any Error>()
    upstream.protected(by: breaker).traced()
      .retry(RetryPolicy(clamping: 3, backoff: .immediate, deadline: deadline).onEvent(log.write), time: scheduler.time)
      .subscribe(recorder)
    scheduler.advance(by: 60)
    expectEqual(log.outcomes, isRetried ? [.retrying] : [.stopped(.circuitOpen)])
    expectEqual(log.delays, isRetried ? [.seconds(10)] : [nil])
    expectEqual(upstream.subscriptionCount, isRetried ? 1 : 0)
    expectEqual(recorder.failure?.withoutTrace is CircuitOpen, !isRetried)
  }

  @Test("is not retried when a person took the service out, however much time there is")
  func isolatedUnderRetry() throws {
    let breaker = CircuitBreaker("weather", policy: try CircuitBreakerPolicy())
    breaker.isolate()
    let log = RetryLog()
    TestPublisher<Int, any Error>().protected(by: breaker)
      .retry(RetryPolicy(clamping: 3, deadline: .seconds(3600)).onEvent(log.write), time: TestScheduler.current.time)
      .subscribe(Recorder())
    expectEqual(log.outcomes, [.stopped(.circuitOpen)])
  }

  @Test("lets go of the downstream at the end, even while someone holds the subscription", arguments: [true, false])
  func releases(cancels: Bool) throws {
    let breaker = CircuitBreaker("weather", policy: try CircuitBreakerPolicy())
    let upstream = TestPublisher<Int, any Error>()
    weak var weakRecorder: Recorder<Int, any Error>?
    var subscription: (any Subscription)?
    do {
      let recorder = Recorder<Int, any Error>()
      weakRecorder = recorder
      upstream.protected(by: breaker)
        .subscribe(
          AnySubscriber<Int, any Error>(
            receiveSubscription: {
              subscription = $0
              recorder.receive(subscription: $0)
            },
            receiveValue: recorder.receive(_:),
            receiveCompletion: recorder.receive(completion:)
          )
        )
      if cancels { recorder.cancel() } else { upstream.send(completion: .finished) }
    }
    expectEqual(subscription.map { "\($0)" }, "CircuitBreaker")
    #expect(weakRecorder == nil)
    subscription?.request(.max(1))
    expectEqual(upstream.requests, [.unlimited])
  }

  @Test("ends once when the end races with a cancel")
  func race() throws {
    let policy = try CircuitBreakerPolicy(consecutiveFailures: 1)
    for _ in 0..<200 {
      let breaker = CircuitBreaker("weather", policy: policy)
      let upstream = TestPublisher<Int, TestFailure>()
      let recorder = Recorder<Int, TestFailure>()
      upstream.protected(by: breaker) { _ in .permanent }.subscribe(recorder)
      DispatchQueue.concurrentPerform(iterations: 2) { index in
        if index == 0 { recorder.cancel() } else { upstream.send(completion: .failure(.transient)) }
      }
      // Cancelled first, it has no vote; failed first, it has one, and nothing is left to cancel.
      expectEqual(breaker.state == .closed, upstream.cancelCount == 1)
      #expect(recorder.completions.count <= 1)
    }
  }
}
