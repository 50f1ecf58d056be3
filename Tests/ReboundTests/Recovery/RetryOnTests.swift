import Combine
import Dispatch
import Expectations
import Foundation
import Rebound
import ReboundTesting
import Testing

@Suite("retry(on:)")
struct RetryOnTests {
  private let upstream = TestPublisher<Int, TestFailure>()
  private let refresh = TestPublisher<String, TestFailure>()

  private func record<P: Publisher<Int, TestFailure>>(
    _ publisher: P,
    requesting demand: Subscribers.Demand = .unlimited
  ) -> Recorder<Int, TestFailure> {
    let recorder = Recorder<Int, TestFailure>(requesting: demand)
    publisher.subscribe(recorder)
    return recorder
  }

  @Test("runs the other publisher before every retry, and subscribes n + 1 times", arguments: 0...4)
  func counts(retries: Int) {
    let recorder = record(upstream.retryOn(.transient, retries: UInt(retries), chainedPublisher: refresh))
    for retry in 0..<retries {
      upstream.send(completion: .failure(.transient))
      expectEqual(refresh.subscriptionCount, retry + 1)
      expectEqual(upstream.subscriptionCount, retry + 1)
      refresh.send("token")
      expectEqual(upstream.subscriptionCount, retry + 2)
    }
    #expect(recorder.completion == nil)
    upstream.send(completion: .failure(.transient))
    expectEqual(recorder.failure, .transient)
    expectEqual(upstream.subscriptionCount, retries + 1)
    expectEqual(refresh.subscriptionCount, retries)
  }

  @Test("the article's spelling takes a number of any type, and a publisher that cannot fail")
  func articleSpelling() {
    let refresh = TestPublisher<String, Never>()
    let retries = 1
    let recorder = record(upstream.retryOn(.transient, retries: retries, chainedPublisher: refresh))
    upstream.send(completion: .failure(.transient))
    refresh.send("token")
    expectEqual(upstream.subscriptionCount, 2)
    upstream.send(completion: .failure(.transient))
    expectEqual(recorder.failure, .transient)
    expectEqual(refresh.subscriptionCount, 1)
  }

  @Test("passes another error on at once")
  func otherError() {
    let recorder = record(upstream.retry(on: .transient, times: 3, after: refresh))
    upstream.send(completion: .failure(.permanent))
    expectEqual(recorder.failure, .permanent)
    expectEqual(refresh.subscriptionCount, 0)
    expectEqual(upstream.subscriptionCount, 1)
  }

  @Test("takes a negative number of retries for none")
  func negative() {
    let recorder = record(upstream.retry(on: .transient, times: -1, after: refresh))
    upstream.send(completion: .failure(.transient))
    expectEqual(recorder.failure, .transient)
    expectEqual(refresh.subscriptionCount, 0)
  }

  @Test("counts the first value as done: one value asked for, one attempt, and a cancel")
  func firstValue() {
    _ = record(upstream.retry(on: .transient, times: 3, after: refresh))
    upstream.send(completion: .failure(.transient))
    expectEqual(refresh.requests, [.max(1)])
    let connection = refresh.connections[0]
    connection.send("a")
    expectEqual(connection.cancelCount, 1)
    connection.send("b")
    expectEqual(upstream.subscriptionCount, 2)
  }

  @Test("subscribes once for a publisher of three values that heeds neither demand nor cancel")
  func threeValues() {
    let stubborn = TestPublisher<String, TestFailure> { subscriber in
      for value in ["a", "b", "c"] { _ = subscriber.receive(value) }
      subscriber.receive(completion: .failure(.permanent))
    }
    let recorder = record(upstream.retry(on: .transient, times: 3, after: stubborn))
    upstream.send(completion: .failure(.transient))
    expectEqual(upstream.subscriptionCount, 2)
    #expect(recorder.completion == nil)
  }

  @Test("counts the finish as done")
  func finish() {
    _ = record(upstream.retry(on: .transient, times: 1, after: refresh))
    upstream.send(completion: .failure(.transient))
    refresh.send(completion: .finished)
    expectEqual(upstream.subscriptionCount, 2)
    expectEqual(refresh.cancelCount, 0)
  }

  @Test("fails with the other publisher's failure, or with the original, and retries no more")
  func chainedFails() {
    let recorder = record(upstream.retry(on: .transient, times: 3, after: refresh))
    upstream.send(completion: .failure(.transient))
    refresh.send(completion: .failure(.permanent))
    expectEqual(recorder.failure, .permanent)

    let other = record(upstream.retry(on: .transient, times: 3, after: refresh, failingWith: .original))
    upstream.send(completion: .failure(.transient))
    refresh.send(completion: .failure(.permanent))
    expectEqual(other.failure, .transient)
    expectEqual(upstream.subscriptionCount, 2)
  }

  @Test("takes a condition, asked on every failure, and hands the error on")
  func condition() {
    var errors: [TestFailure] = []
    let recorder = record(
      upstream.retry(
        on: \.isTransient,
        times: 3,
        after: { error in
          errors.append(error)
          return Just("done").setFailureType(to: TestFailure.self)
        }
      )
    )
    upstream.send(completion: .failure(.numbered(1)))
    upstream.send(completion: .failure(.numbered(2)))
    upstream.send(completion: .failure(.permanent))
    expectEqual(errors, [.numbered(1), .numbered(2)])
    expectEqual(recorder.failure, .permanent)
  }

  @Test("takes a type of errors")
  func type() {
    struct Expired: Error { let user: String }
    let upstream = TestPublisher<Int, any Error>()
    let refresh = TestPublisher<String, any Error>()
    let recorder = Recorder<Int, any Error>()
    var user: String?
    upstream
      .retry(
        on: Expired.self,
        times: 3,
        after: {
          user = $0.user
          return refresh
        }
      )
      .subscribe(recorder)
    upstream.send(completion: .failure(Expired(user: "a")))
    refresh.send("token")
    expectEqual(user, "a")
    expectEqual(upstream.subscriptionCount, 2)
    upstream.send(completion: .failure(TestFailure.permanent))
    expectEqual(recorder.failure as? TestFailure, .permanent)
    expectEqual(refresh.subscriptionCount, 1)
  }

  @Test("carries over what is owed")
  func demand() {
    let recorder = record(upstream.retry(on: .transient, times: 3, after: refresh), requesting: .max(3))
    upstream.send(1)
    upstream.send(completion: .failure(.transient))
    recorder.request(.max(1))
    refresh.send("token")
    expectEqual(upstream.connections.map(\.requests), [[.max(3)], [.max(3)]])
    for value in 2...9 { upstream.send(value) }
    expectEqual(recorder.values, [1, 2, 3, 4])
  }

  @Test("counts the retries of each subscriber apart")
  func isolation() {
    let retrying = upstream.retry(on: .transient, times: 1, after: refresh)
    for _ in 0..<2 {
      let recorder = record(retrying)
      upstream.send(completion: .failure(.transient))
      refresh.send("token")
      #expect(recorder.completion == nil)
      upstream.send(completion: .failure(.transient))
      expectEqual(recorder.failure, .transient)
    }
  }

  @Test("cancels what runs: the attempt, or the other publisher", arguments: [true, false])
  func cancels(duringRefresh: Bool) {
    let recorder = record(upstream.retry(on: .transient, times: 3, after: refresh))
    if duringRefresh { upstream.send(completion: .failure(.transient)) }
    recorder.cancel()
    expectEqual(upstream.cancelCount, duringRefresh ? 0 : 1)
    expectEqual(refresh.cancelCount, duringRefresh ? 1 : 0)
    upstream.send(completion: .failure(.transient))
    refresh.send("token")
    expectEqual(upstream.subscriptionCount, 1)
    #expect(recorder.completion == nil)
  }

  @Test("cancels a subscription of the other publisher that comes after the cancel, or second")
  func lateSubscription() {
    let late = TestPublisher<String, TestFailure>()
    late.subscribe(Recorder(requesting: .none))
    let recorder = Recorder<Int, TestFailure>()
    let refresh = TestPublisher<String, TestFailure> { subscriber in
      recorder.cancel()
      subscriber.receive(subscription: late.connections[0])
    }
    upstream.retry(on: .transient, times: 1, after: refresh).subscribe(recorder)
    upstream.send(completion: .failure(.transient))
    expectEqual(late.connections[0].requests, [])
    expectEqual(late.cancelCount, 1)

    let intruder = TestPublisher<String, TestFailure>()
    intruder.subscribe(Recorder(requesting: .none))
    _ = record(upstream.retry(on: .transient, times: 1, after: self.refresh))
    upstream.send(completion: .failure(.transient))
    self.refresh.connections[0].send(subscription: intruder.connections[0])
    expectEqual(intruder.cancelCount, 1)
  }

  @Test("takes no stack for 10,000 synchronous failures")
  func flatStack() {
    let done = DispatchSemaphore(value: 0)
    let recorder = Recorder<Int, TestFailure>()
    let upstream = TestPublisher<Int, TestFailure>(whenSubscribed: { $0.send(completion: .failure(.transient)) })
    let thread = Thread {
      upstream.retry(on: .transient, times: 10_000, after: Just(()).setFailureType(to: TestFailure.self))
        .subscribe(recorder)
      done.signal()
    }
    thread.stackSize = 128 * 1_024
    thread.start()
    done.wait()
    expectEqual(upstream.subscriptionCount, 10_001)
    expectEqual(recorder.failure, .transient)
  }

  @Test("survives a refresh on another thread that races with a cancel")
  func race() {
    for _ in 0..<200 {
      let upstream = TestPublisher<Int, TestFailure>()
      let refresh = TestPublisher<String, TestFailure>()
      let recorder = Recorder<Int, TestFailure>()
      upstream.retry(on: .transient, times: 1, after: refresh).subscribe(recorder)
      upstream.send(completion: .failure(.transient))
      DispatchQueue.concurrentPerform(iterations: 2) { index in
        if index == 0 { refresh.send("token") } else { recorder.cancel() }
      }
      #expect(upstream.connections.dropFirst().allSatisfy { $0.cancelCount == 1 })
      expectEqual(recorder.events, [.subscription])
    }
  }

  @Test("lets go of everything at the end, even while someone holds the subscription", arguments: [true, false])
  func releases(cancels: Bool) {
    weak var weakRecorder: Recorder<Int, TestFailure>?
    weak var weakRefresh: TestPublisher<String, TestFailure>?
    var subscription: (any Subscription)?
    do {
      let (recorder, refresh) = (Recorder<Int, TestFailure>(), TestPublisher<String, TestFailure>())
      (weakRecorder, weakRefresh) = (recorder, refresh)
      let upstream = TestPublisher<Int, TestFailure>()
      upstream.retry(on: .transient, times: 1, after: refresh)
        .subscribe(
          AnySubscriber<Int, TestFailure>(
            receiveSubscription: {
              subscription = $0
              recorder.receive(subscription: $0)
            },
            receiveValue: recorder.receive(_:),
            receiveCompletion: recorder.receive(completion:)
          )
        )
      upstream.send(completion: .failure(.transient))
      if cancels {
        recorder.cancel()
      } else {
        refresh.send(completion: .failure(.permanent))
      }
      upstream.connections.forEach { $0.letGo() }
      refresh.connections.forEach { $0.letGo() }
    }
    expectEqual(subscription.map { "\($0)" }, "RetryOnPolicy")
    #expect(weakRecorder == nil)
    #expect(weakRefresh == nil)
  }
}
