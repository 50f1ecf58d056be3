import Combine
import Dispatch
import Expectations
import Foundation
import Rebound
import ReboundTesting
import Testing

@Suite("retry(when:)", .virtualTime)
struct RetryWhenTests {
  private let scheduler = TestScheduler.current
  private let upstream = TestPublisher<Int, TestFailure>()
  private let companion = TestPublisher<Void, TestFailure>()

  private func record<P: Publisher<Int, TestFailure>>(
    _ publisher: P,
    requesting demand: Subscribers.Demand = .unlimited
  ) -> Recorder<Int, TestFailure> {
    let recorder = Recorder<Int, TestFailure>(requesting: demand, on: scheduler)
    publisher.subscribe(recorder)
    return recorder
  }

  private var retrying: some Publisher<Int, TestFailure> {
    upstream.retry { [companion] _ in companion }
  }

  // MARK: The contract

  @Test("subscribes to the companion first, and to the upstream once")
  func order() {
    var order: [String] = []
    let upstream = TestPublisher<Int, TestFailure>(whenSubscribed: { _ in order.append("upstream") })
    let companion = TestPublisher<Void, TestFailure>(whenSubscribed: { _ in order.append("companion") })
    let recorder = record(upstream.retry { _ in companion })
    expectEqual(order, ["companion", "upstream"])
    expectEqual(companion.requests, [.unlimited])
    expectEqual(recorder.subscriptionCount, 1)
  }

  @Test("tries again on a value, one attempt at a time")
  func value() {
    let recorder = record(retrying)
    upstream.send(1)
    upstream.send(completion: .failure(.transient))
    expectEqual(upstream.subscriptionCount, 1)
    companion.send(())
    companion.send(())
    expectEqual(upstream.subscriptionCount, 2)
    upstream.send(2)
    upstream.send(completion: .finished)
    expectEqual(recorder.values, [1, 2])
    #expect(recorder.isFinished)
    expectEqual(companion.cancelCount, 1)
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("retryWhen is another spelling, with a companion that can fail and with one that cannot")
  func otherSpelling() {
    let signal = TestPublisher<Void, Never>()
    for (retrying, allow) in [
      (
        upstream.retryWhen { [companion] _ in companion }.eraseToAnyPublisher(),
        { [companion] in _ = companion.send(()) }
      ),
      (upstream.retryWhen { _ in signal }.eraseToAnyPublisher(), { _ = signal.send(()) }),
    ] {
      let before = upstream.subscriptionCount
      let recorder = record(retrying)
      upstream.send(completion: .failure(.transient))
      allow()
      expectEqual(upstream.subscriptionCount, before + 2)
      #expect(recorder.completion == nil)
    }
  }

  @Test("an asynchronous function tries again on each value, too")
  func asynchronously() async throws {
    let (companion, calls) = (companion, Log<Void>())
    let policy = upstream.retry { _ in companion }.policy
    let task = Task {
      try await policy.run { () async throws(TestFailure) -> Int in
        let number = calls.number(())
        if number < 4 { throw .transient }
        return number
      }
    }
    while calls.count < 4 {
      companion.send(())
      await Task.yield()
    }
    try await expectEqual(task.value, 4)
  }

  @Test("ignores values of the companion while no failure waits")
  func ignoresEarlyValues() {
    let recorder = record(retrying)
    companion.send(())
    upstream.send(completion: .failure(.transient))
    expectEqual(upstream.subscriptionCount, 1)
    recorder.cancel()
    companion.send(())
    expectEqual(upstream.subscriptionCount, 1)
  }

  @Test("fails with the companion's failure, whether a failure waits or not", arguments: [true, false])
  func companionFails(isWaiting: Bool) {
    let recorder = record(retrying)
    if isWaiting { upstream.send(completion: .failure(.transient)) }
    companion.send(completion: .failure(.permanent))
    companion.send(())
    expectEqual(recorder.failure, .permanent)
    expectEqual(recorder.completions.count, 1)
    expectEqual(upstream.cancelCount, isWaiting ? 0 : 1)
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(companion.cancelCount, 0)
  }

  @Test("finishes when the companion finishes, whether a failure waits or not", arguments: [true, false])
  func companionFinishes(isWaiting: Bool) {
    let recorder = record(retrying)
    if isWaiting { upstream.send(completion: .failure(.transient)) }
    companion.send(completion: .finished)
    #expect(recorder.isFinished)
    expectEqual(upstream.cancelCount, isWaiting ? 0 : 1)
    expectEqual(companion.cancelCount, 0)
  }

  @Test("does not subscribe to the upstream when the companion ends at once")
  func companionEndsAtOnce() {
    let recorder = record(upstream.retry { _ in Fail<Void, TestFailure>(error: .permanent) })
    expectEqual(recorder.failure, .permanent)
    expectEqual(upstream.subscriptionCount, 0)
  }

  @Test("makes three subscriptions with the first two failures as companion, however soon it ends")
  func prefix() {
    let recorder = record(upstream.retry { $0.prefix(2) })
    upstream.send(completion: .failure(.transient))
    expectEqual(upstream.subscriptionCount, 2)
    upstream.send(completion: .failure(.transient))
    expectEqual(upstream.subscriptionCount, 3)
    expectEqual(upstream.connections.map(\.cancelCount), [0, 0, 1])
    #expect(recorder.isFinished)

    let hasty = TestPublisher<Int, TestFailure>(whenSubscribed: { $0.send(completion: .failure(.transient)) })
    let other = record(hasty.retry { $0.prefix(2) })
    expectEqual(hasty.subscriptionCount, 3)
    #expect(other.isFinished)
    expectEqual(other.completions.count, 1)
  }

  @Test("ends with the original failure when the companion does")
  func originalFailure() {
    let upstream = TestPublisher<Int, TestFailure>(whenSubscribed: { $0.send(completion: .failure(.transient)) })
    let recorder = record(
      upstream.retry { errors in
        errors.zip([1, 2, 3].publisher).flatMap { (error: TestFailure, count: Int) -> AnyPublisher<Void, TestFailure> in
          guard count <= 2 else { return Fail(error: error).eraseToAnyPublisher() }
          return Just(()).setFailureType(to: TestFailure.self).eraseToAnyPublisher()
        }
      }
    )
    expectEqual(upstream.subscriptionCount, 3)
    expectEqual(recorder.failure, .transient)
  }

  @Test("waits as the companion says: 1, 3 and 5 s, then no more")
  func growingDelays() {
    let recorder = record(
      upstream.retry { [scheduler] errors in
        errors.zip([1, 3, 5].publisher)
          .flatMap { Just($0.1).delay(for: .seconds($0.1), scheduler: scheduler) }
      }
    )
    for (attempt, second) in [1, 4, 9].enumerated() {
      upstream.send(completion: .failure(.transient))
      expectEqual(scheduler.nextDue, VirtualTime(nanoseconds: second * 1_000_000_000))
      scheduler.advance(to: VirtualTime(nanoseconds: second * 1_000_000_000))
      #expect(recorder.completion == nil || attempt == 2)
    }
  }

  @Test("makes a companion for each subscriber")
  func isolation() {
    var made = 0
    let retrying = upstream.retry { [companion] _ in
      made += 1
      return companion
    }
    _ = record(retrying)
    _ = record(retrying)
    expectEqual(made, 2)
    expectEqual(companion.subscriptionCount, 2)
  }

  // MARK: The failures

  @Test("keeps a failure until the companion asks for it, and forgets it once answered")
  func keepsFailure() {
    var errors: AnyPublisher<TestFailure, Never>?
    _ = record(
      upstream.retry { [companion] in
        errors = $0
        return companion
      }
    )
    let slow = Recorder<TestFailure, Never>(requesting: .none)
    errors?.subscribe(slow)
    upstream.send(completion: .failure(.numbered(1)))
    expectEqual(slow.values, [])
    slow.request(.max(1))
    expectEqual(slow.values, [.numbered(1)])
    companion.send(())
    let late = Recorder<TestFailure, Never>()
    errors?.subscribe(late)
    expectEqual(late.values, [])
    upstream.send(completion: .failure(.numbered(2)))
    expectEqual(late.values, [.numbered(2)])
    expectEqual(slow.values, [.numbered(1)])
    slow.request(.max(1))
    expectEqual(slow.values, [.numbered(1), .numbered(2)])
  }

  @Test("retries when a signal comes, for as long as it takes")
  func signal() {
    let restored = PassthroughSubject<String, Never>()
    let recorder = record(upstream.retry(when: restored))
    restored.send("too early")
    for attempt in 1...3 {
      upstream.send(completion: .failure(.transient))
      scheduler.advance(by: 3_600)
      expectEqual(upstream.subscriptionCount, attempt)
      restored.send("now")
      expectEqual(upstream.subscriptionCount, attempt + 1)
    }
    upstream.send(7)
    expectEqual(recorder.values, [7])
    #expect(recorder.completion == nil)
  }

  // MARK: Demand

  @Test("carries over what is owed, and drops what is sent beyond it or by an earlier attempt")
  func demand() {
    let recorder = record(retrying, requesting: .max(2))
    upstream.send(1)
    upstream.send(completion: .failure(.transient))
    recorder.request(.max(1))
    companion.send(())
    expectEqual(upstream.connections.map(\.requests), [[.max(2)], [.max(2)]])
    upstream.connections[0].send(9)
    upstream.connections[0].send(completion: .finished)
    upstream.send(2)
    upstream.send(3)
    upstream.send(4)
    expectEqual(recorder.values, [1, 2, 3])
    #expect(recorder.completion == nil)
  }

  // MARK: Cancel

  @Test("cancels the upstream and the companion while an attempt runs")
  func cancelWhileRunning() {
    let recorder = record(retrying)
    recorder.cancel()
    expectEqual(upstream.cancelCount, 1)
    expectEqual(companion.cancelCount, 1)
    #expect(recorder.completion == nil)
  }

  @Test("cancels the companion while a failure waits")
  func cancelWhileWaiting() {
    let recorder = record(retrying)
    upstream.send(completion: .failure(.transient))
    recorder.cancel()
    expectEqual(upstream.cancelCount, 0)
    expectEqual(companion.cancelCount, 1)
  }

  @Test("begins nothing when it is cancelled on its own subscription")
  func cancelOnSubscription() {
    retrying.subscribe(AnySubscriber<Int, TestFailure>(receiveSubscription: { $0.cancel() }))
    expectEqual(companion.subscriptionCount, 0)
    expectEqual(upstream.subscriptionCount, 0)
  }

  @Test("cancels a companion that comes after the cancel, and its second subscription")
  func lateCompanion() {
    let recorder = Recorder<Int, TestFailure>()
    let late = TestPublisher<Void, TestFailure>()
    for _ in 0..<2 { late.subscribe(Recorder(requesting: .none)) }
    let companion = TestPublisher<Void, TestFailure> { subscriber in
      recorder.cancel()
      subscriber.receive(subscription: late.connections[0])
    }
    upstream.retry { _ in companion }.subscribe(recorder)
    expectEqual(late.connections[0].cancelCount, 1)
    expectEqual(late.connections[0].requests, [])
    expectEqual(upstream.subscriptionCount, 0)

    _ = record(retrying)
    self.companion.connections[0].send(subscription: late.connections[1])
    expectEqual(late.connections[1].cancelCount, 1)
  }

  // MARK: Stack, threads, release

  @Test("takes no stack for 10,000 synchronous failures")
  func flatStack() {
    let done = DispatchSemaphore(value: 0)
    let recorder = Recorder<Int, TestFailure>()
    let upstream = TestPublisher<Int, TestFailure>(whenSubscribed: { $0.send(completion: .failure(.transient)) })
    let thread = Thread {
      upstream.retry { $0.prefix(10_000) }.subscribe(recorder)
      done.signal()
    }
    thread.stackSize = 128 * 1_024
    thread.start()
    done.wait()
    expectEqual(upstream.subscriptionCount, 10_001)
    #expect(recorder.isFinished)
  }

  @Test("survives signals, failures and a cancel that race")
  func race() {
    for _ in 0..<200 {
      let upstream = TestPublisher<Int, TestFailure>()
      let signal = TestPublisher<Void, Never>()
      let recorder = Recorder<Int, TestFailure>()
      upstream.retry(when: signal).subscribe(recorder)
      DispatchQueue.concurrentPerform(iterations: 3) { index in
        for _ in 0..<20 {
          switch index {
          case 0: upstream.send(completion: .failure(.transient))
          case 1: signal.send(())
          default: break
          }
        }
        if index == 2 { recorder.cancel() }
      }
      let count = upstream.subscriptionCount
      upstream.send(completion: .failure(.transient))
      signal.send(())
      expectEqual(upstream.subscriptionCount, count)
      #expect(recorder.completions.isEmpty)
    }
  }

  @Test("lets go of everything at the end, even while someone holds the subscription", arguments: [true, false])
  func releases(cancels: Bool) {
    weak var weakRecorder: Recorder<Int, TestFailure>?
    weak var weakCompanion: TestPublisher<Void, TestFailure>?
    var subscription: (any Subscription)?
    do {
      let recorder = Recorder<Int, TestFailure>()
      let companion = TestPublisher<Void, TestFailure>()
      (weakRecorder, weakCompanion) = (recorder, companion)
      let upstream = TestPublisher<Int, TestFailure>()
      upstream.retry { _ in companion }
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
      if cancels { recorder.cancel() } else { upstream.send(completion: .finished) }
      upstream.connections.forEach { $0.letGo() }
    }
    expectEqual(subscription.map { "\($0)" }, "RetryWhenPolicy")
    #expect(weakRecorder == nil)
    #expect(weakCompanion == nil)
  }
}
