import Combine
import Dispatch
import Expectations
import Foundation
import Rebound
import ReboundTesting
import Testing

@Suite("RetryExecution", .virtualTime)
struct RetryExecutionTests {
  private let scheduler = TestScheduler.current
  private let upstream = TestPublisher<Int, TestFailure>()

  private func retrying(
    _ upstream: TestPublisher<Int, TestFailure>,
    after delay: Duration = .seconds(1)
  ) -> Publishers.WithPolicy<TestPublisher<Int, TestFailure>, RetryPolicy<TestFailure>> {
    upstream.retry(.constant(delay), times: nil, time: scheduler.time)
  }

  // MARK: Demand

  @Test("carries the demand that is left over to the next attempt")
  func carriesDemand() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(5))
    retrying(upstream).subscribe(recorder)
    upstream.send(1)
    upstream.send(2)
    upstream.send(completion: .failure(.transient))
    recorder.request(.max(4))
    scheduler.advance(by: 1)
    expectEqual(upstream.connections.map(\.requests), [[.max(5)], [.max(7)]])
    recorder.request(.max(1))
    expectEqual(upstream.connections[1].requests, [.max(7), .max(1)])
  }

  @Test("requests nothing from an attempt when nothing is owed")
  func nothingOwed() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    retrying(upstream).subscribe(recorder)
    upstream.send(completion: .failure(.transient))
    scheduler.advance(by: 1)
    expectEqual(upstream.connections.map(\.requests), [[], []])
    recorder.request(.none)
    expectEqual(upstream.requests, [])
    recorder.request(.max(2))
    expectEqual(upstream.connections.map(\.requests), [[], [.max(2)]])
  }

  @Test("keeps unlimited demand unlimited")
  func unlimited() {
    let recorder = Recorder<Int, TestFailure>()
    retrying(upstream).subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .failure(.transient))
    scheduler.advance(by: 1)
    expectEqual(upstream.requests, [.unlimited, .unlimited])
  }

  @Test("returns to the upstream the demand that a value brings")
  func returnsDemand() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1), answering: { _, _ in .max(2) })
    retrying(upstream).subscribe(recorder)
    expectEqual(upstream.send(1), .max(2))
    upstream.send(completion: .failure(.transient))
    scheduler.advance(by: 1)
    expectEqual(upstream.connections[1].requests, [.max(2)])
  }

  @Test("gives the demand that a value brings to the attempt that runs by then")
  func demandOfSupersededValue() {
    let upstream = upstream
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(1),
      answering: { _, _ in
        upstream.send(completion: .failure(.transient))
        return .max(3)
      }
    )
    retrying(upstream, after: .zero).subscribe(recorder)
    expectEqual(upstream.send(1), .none)
    expectEqual(upstream.connections.map(\.requests), [[.max(1)], [.max(3)]])
  }

  @Test("drops what an upstream sends beyond the demand")
  func beyondDemand() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1))
    retrying(upstream).subscribe(recorder)
    upstream.send(1)
    upstream.send(2)
    expectEqual(recorder.values, [1])
    recorder.request(.max(1))
    upstream.send(3)
    expectEqual(recorder.values, [1, 3])
  }

  // MARK: Attempts

  @Test("drops what a superseded attempt still sends")
  func superseded() {
    let recorder = Recorder<Int, TestFailure>()
    retrying(upstream).subscribe(recorder)
    upstream.send(completion: .failure(.transient))
    upstream.connections[0].send(1)
    upstream.connections[0].send(completion: .finished)
    upstream.connections[0].send(completion: .failure(.permanent))
    scheduler.advance(by: 1)
    upstream.connections[0].send(2)
    upstream.connections[0].send(completion: .finished)
    upstream.connections[0].send(completion: .failure(.permanent))
    expectEqual(upstream.subscriptionCount, 2)
    upstream.connections[1].send(3)
    upstream.connections[1].send(completion: .finished)
    expectEqual(recorder.values, [3])
    #expect(recorder.isFinished)
  }

  @Test("completes once, whatever the upstream sends after")
  func oneTerminal() {
    let recorder = Recorder<Int, TestFailure>()
    retrying(upstream).subscribe(recorder)
    upstream.send(completion: .finished)
    upstream.send(1)
    upstream.send(completion: .finished)
    upstream.send(completion: .failure(.transient))
    scheduler.advance(by: 10)
    expectEqual(recorder.events, [.subscription, .completion(.finished)])
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("cancels a second subscription, and keeps the first")
  func secondSubscription() {
    let recorder = Recorder<Int, TestFailure>()
    retrying(upstream).subscribe(recorder)
    let intruder = TestPublisher<Int, TestFailure>()
    intruder.subscribe(Recorder(requesting: .none))
    upstream.connections[0].send(subscription: intruder.connections[0])
    expectEqual(intruder.cancelCount, 1)
    upstream.send(1)
    expectEqual(recorder.values, [1])
  }

  @Test("takes a failure before the subscription as a failure of the attempt")
  func failureBeforeSubscription() {
    var subscribers: [AnySubscriber<Int, TestFailure>] = []
    let upstream = TestPublisher<Int, TestFailure> { subscribers.append($0) }
    let recorder = Recorder<Int, TestFailure>()
    retrying(upstream).subscribe(recorder)
    _ = subscribers[0].receive(1)
    subscribers[0].receive(completion: .failure(.transient))
    scheduler.advance(by: 1)
    expectEqual(subscribers.count, 2)
    let late = TestPublisher<Int, TestFailure>()
    late.subscribe(Recorder(requesting: .none))
    subscribers[0].receive(subscription: late.connections[0])
    expectEqual(late.cancelCount, 1)
    expectEqual(recorder.events, [.subscription])
  }

  @Test("names itself")
  func names() {
    var description: String?
    retrying(upstream).subscribe(
      AnySubscriber<Int, TestFailure>(receiveSubscription: { description = "\($0)" })
    )
    expectEqual(description, "RetryPolicy")
  }

  // MARK: Cancel

  @Test("stops the timer when it is cancelled during a wait")
  func cancelInWait() {
    let recorder = Recorder<Int, TestFailure>()
    retrying(upstream).subscribe(recorder)
    upstream.send(completion: .failure(.transient))
    expectEqual(scheduler.pendingCount, 1)
    recorder.cancel()
    expectEqual(scheduler.pendingCount, 0)
    scheduler.advance(by: 10)
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(recorder.events, [.subscription])
  }

  @Test("stops its timers itself, whatever becomes of a scheduler's handle that is released")
  func stopsTimers() {
    let lasting = LastingScheduler(base: scheduler)
    let retrying = upstream.retry(.constant(.seconds(1)), times: nil, time: TimeSource(lasting))
    let recorder = Recorder<Int, TestFailure>()
    retrying.subscribe(recorder)
    upstream.send(completion: .failure(.transient))
    expectEqual(scheduler.pendingCount, 1)
    // When it has fired …
    scheduler.advance(by: 1)
    expectEqual(scheduler.pendingCount, 0)
    // … when it is not needed any more …
    upstream.send(completion: .failure(.transient))
    recorder.cancel()
    expectEqual(scheduler.pendingCount, 0)
    // … and when that turns out while it is being made.
    let hasty = Recorder<Int, TestFailure>()
    retrying.subscribe(hasty)
    lasting.whileScheduling = hasty.cancel
    upstream.send(completion: .failure(.transient))
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("cancels the attempt that runs, once")
  func cancelInFlight() {
    let recorder = Recorder<Int, TestFailure>()
    retrying(upstream).subscribe(recorder)
    upstream.send(completion: .failure(.transient))
    scheduler.advance(by: 1)
    recorder.cancel()
    recorder.cancel()
    expectEqual(upstream.connections.map(\.cancelCount), [0, 1])
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("cancels the subscription that comes after it was cancelled")
  func cancelInSubscribe() {
    let recorder = Recorder<Int, TestFailure>()
    let late = TestPublisher<Int, TestFailure>()
    late.subscribe(Recorder(requesting: .none))
    let upstream = TestPublisher<Int, TestFailure> { subscriber in
      recorder.cancel()
      subscriber.receive(subscription: late.connections[0])
    }
    retrying(upstream).subscribe(recorder)
    expectEqual(late.connections[0].requests, [])
    expectEqual(late.cancelCount, 1)
  }

  @Test("does not subscribe to the upstream when it is cancelled on its own subscription")
  func cancelOnSubscription() {
    retrying(upstream).subscribe(
      AnySubscriber<Int, TestFailure>(receiveSubscription: { $0.cancel() })
    )
    expectEqual(upstream.subscriptionCount, 0)
  }

  @Test("does nothing more when it is cancelled while the policy is asked", arguments: [true, false], [0, 1])
  func cancelWhileDeciding(policyRetries: Bool, delay: Int) {
    let recorder = Recorder<Int, TestFailure>()
    let policy = RetryPolicy<TestFailure>(clamping: nil, backoff: .constant(.seconds(delay)))
      .when { _ in policyRetries }
      .onEvent { _ in recorder.cancel() }
    upstream.retry(policy, time: scheduler.time).subscribe(recorder)
    upstream.send(completion: .failure(.transient))
    expectEqual(scheduler.pendingCount, 0)
    expectEqual(recorder.events, [.subscription])
    expectEqual(upstream.subscriptionCount, 1)
  }

  @Test("stops at once when it is cancelled from inside a value")
  func cancelInValue() {
    let recorder = Recorder<Int, TestFailure>(
      answering: { _, recorder in
        recorder.cancel()
        return .unlimited
      })
    retrying(upstream).subscribe(recorder)
    expectEqual(upstream.send(1), .none)
    upstream.send(2)
    expectEqual(recorder.values, [1])
    expectEqual(upstream.cancelCount, 1)
  }

  // MARK: Stack and threads

  @Test("takes no stack for 10,000 synchronous failures", arguments: [true, false])
  func flatStack(schedulesAtOnce: Bool) {
    let done = DispatchSemaphore(value: 0)
    let recorder = Recorder<Int, TestFailure>()
    let upstream = TestPublisher<Int, TestFailure>(whenSubscribed: { $0.send(completion: .failure(.transient)) })
    let thread = Thread {
      if schedulesAtOnce {
        upstream.retry(10_000, after: .seconds(1), time: TimeSource(ImmediateScheduler.shared)).subscribe(recorder)
      } else {
        upstream.retry(10_000, after: .zero, time: TimeSource(DispatchQueue.main)).subscribe(recorder)
      }
      done.signal()
    }
    thread.stackSize = 128 * 1_024
    thread.start()
    done.wait()
    expectEqual(upstream.subscriptionCount, 10_001)
    expectEqual(recorder.failure, .transient)
  }

  @Test("takes no stack for 10,000 attempts that fail when they are asked for a value")
  func flatStackOnRequest() {
    let done = DispatchSemaphore(value: 0)
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    let upstream = FailsOnRequest()
    let thread = Thread {
      upstream.retry(10_000, after: .zero, time: TimeSource(DispatchQueue.main)).subscribe(recorder)
      recorder.request(.max(1))
      done.signal()
    }
    thread.stackSize = 128 * 1_024
    thread.start()
    done.wait()
    expectEqual(recorder.failure, .transient)
  }

  @Test("does not touch the scheduler's agenda for a delay of zero")
  func zeroDelay() {
    let recorder = Recorder<Int, TestFailure>()
    retrying(upstream, after: .zero).subscribe(recorder)
    upstream.send(completion: .failure(.transient))
    expectEqual(upstream.subscriptionCount, 2)
    expectEqual(scheduler.pendingCount, 0)
    upstream.send(4)
    expectEqual(recorder.values, [4])
  }

  @Test("loses no value on a concurrent queue: 1,000 of 1,000")
  func concurrentQueue() {
    let group = DispatchGroup()
    let recorders = (0..<1_000).map { number in
      group.enter()
      let recorder = Recorder<Int, TestFailure>(whenCompleted: group.leave)
      let upstream = TestPublisher<Int, TestFailure>()
      let attempts = TestPublisher<Int, TestFailure>(whenSubscribed: { connection in
        upstream.subscribe(Recorder(requesting: .none))
        if upstream.subscriptionCount == 1 {
          connection.send(completion: .failure(.transient))
        } else {
          connection.send(number)
          connection.send(completion: .finished)
        }
      })
      attempts.retry(1, after: .milliseconds(1), time: TimeSource(DispatchQueue.global())).subscribe(recorder)
      return recorder
    }
    group.wait()
    expectEqual(recorders.enumerated().filter { $1.values == [$0] && $1.isFinished }.count, 1_000)
  }

  @Test("survives cancels that race with the timer on a concurrent queue")
  func racingCancels() {
    let group = DispatchGroup()
    let queue = DispatchQueue.global()
    let pairs = (0..<500).map { number in
      let recorder = Recorder<Int, TestFailure>()
      let upstream = TestPublisher<Int, TestFailure>(whenSubscribed: { $0.send(completion: .failure(.transient)) })
      group.enter()
      upstream.retry(.constant(.microseconds(number % 50)), times: 20, time: TimeSource(queue)).subscribe(recorder)
      queue.async {
        recorder.cancel()
        group.leave()
      }
      return (recorder, upstream)
    }
    group.wait()
    for (recorder, upstream) in pairs {
      #expect(recorder.completions.count <= 1)
      #expect(upstream.subscriptionCount <= 21)
    }
  }

  // MARK: Release

  /// What is held by a policy's closures, so that a test sees when they are let go.
  private final class Token: Sendable {}

  private enum Ending: CaseIterable {
    case finish, failure, cancelInFlight, cancelInWait
  }

  @Test("lets go of upstream, downstream and policy when it is over", arguments: Ending.allCases)
  private func releases(ending: Ending) {
    weak var weakUpstream: TestPublisher<Int, TestFailure>?
    weak var weakDownstream: Recorder<Int, TestFailure>?
    weak var weakToken: Token?
    var subscription: (any Subscription)?
    do {
      let token = Token()
      let upstream = TestPublisher<Int, TestFailure>()
      let recorder = Recorder<Int, TestFailure>()
      (weakUpstream, weakDownstream, weakToken) = (upstream, recorder, token)
      let policy = RetryPolicy<TestFailure>(clamping: 1).when { [token] _ in withExtendedLifetime(token) { true } }
      upstream.retry(policy, time: scheduler.time)
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
      switch ending {
      case .finish: upstream.send(completion: .finished)
      case .failure:
        upstream.send(completion: .failure(.transient))
        scheduler.advance(by: 100)
        upstream.send(completion: .failure(.transient))
      case .cancelInFlight: recorder.cancel()
      case .cancelInWait:
        upstream.send(completion: .failure(.transient))
        recorder.cancel()
      }
      upstream.connections.forEach { $0.letGo() }
    }
    // Even while someone still holds the subscription.
    #expect(subscription != nil)
    #expect(weakUpstream == nil)
    #expect(weakDownstream == nil)
    #expect(weakToken == nil)
  }
}

/// Each attempt fails as soon as a value is requested, and not before.
private struct FailsOnRequest: Publisher {
  typealias Output = Int
  typealias Failure = TestFailure

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == TestFailure {
    subscriber.receive(subscription: Inner(subscriber))
  }

  private final class Inner<Downstream: Subscriber<Int, TestFailure>>: Subscription {
    private var downstream: Downstream?

    init(_ downstream: Downstream) {
      self.downstream = downstream
    }

    func request(_ demand: Subscribers.Demand) {
      let downstream = self.downstream
      self.downstream = nil
      downstream?.receive(completion: .failure(.transient))
    }

    func cancel() {
      downstream = nil
    }
  }
}
