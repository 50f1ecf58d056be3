import Dispatch
import Expectations
import ReboundTesting
import Testing

@testable import Combine

@Suite("buffer")
struct BufferTests {
  private let upstream = TestPublisher<Int, TestFailure>()

  @Test("keeping full asks for the size, then for one more for each value that leaves")
  func keepFull() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    upstream.buffer(size: 3, prefetch: .keepFull, whenFull: .dropNewest).subscribe(recorder)
    for value in 1...3 { expectEqual(upstream.send(value), .none) }
    expectEqual(upstream.requests, [.max(3)])

    recorder.request(.max(2))
    expectEqual(recorder.values, [1, 2])
    expectEqual(upstream.requests, [.max(3), .max(2)])

    recorder.request(.max(2))
    expectEqual(upstream.requests, [.max(3), .max(2), .max(1)])
    expectEqual(upstream.send(4), .max(1))
    expectEqual(recorder.values, [1, 2, 3, 4])
    expectEqual(upstream.send(5), .none)
    expectEqual(recorder.values, [1, 2, 3, 4])
  }

  @Test("by request asks for everything, once")
  func byRequest() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1))
    upstream.buffer(size: 3, prefetch: .byRequest, whenFull: .dropNewest).subscribe(recorder)
    expectEqual(upstream.send(1), .none)
    expectEqual(upstream.send(2), .none)
    recorder.request(.max(5))

    expectEqual(upstream.requests, [.unlimited])
    expectEqual(recorder.values, [1, 2])
  }

  @Test("the upstream is asked before the subscriber has its subscription, and what it sends at once is kept")
  func prefetchFirst() {
    var requestsAtSubscription: [Subscribers.Demand] = []
    upstream.buffer(size: 2, prefetch: .keepFull, whenFull: .dropNewest).subscribe(
      AnySubscriber(receiveSubscription: { _ in requestsAtSubscription = upstream.requests })
    )
    expectEqual(requestsAtSubscription, [.max(2)])

    let recorder = Recorder<Int, Never>(requesting: .max(4))
    (1...9).publisher.eraseToAnyPublisher().buffer(size: 2, prefetch: .keepFull, whenFull: .dropNewest)
      .subscribe(recorder)
    expectEqual(recorder.events, [.subscription] + (1...4).map { .value($0) })
  }

  @Test("a failure that the upstream sends at once comes after the subscription")
  func immediateFailure() {
    let recorder = Recorder<Int, any Error>()
    [1].publisher.eraseToAnyPublisher().tryMap { _ -> Int in throw TestFailure.expected }
      .buffer(size: 2, prefetch: .keepFull, whenFull: .dropNewest)
      .subscribe(recorder)

    expectEqual(recorder.entries.count, 2)
    expectEqual(recorder.subscriptionCount, 1)
    #expect(throws: TestFailure.expected) { try recorder.completion?.rethrow() }
  }

  @Test("a full buffer drops the newest value, or the oldest")
  func dropping() {
    let (newest, oldest) = (
      Recorder<Int, TestFailure>(requesting: .none), Recorder<Int, TestFailure>(requesting: .none)
    )
    upstream.buffer(size: 2, prefetch: .byRequest, whenFull: .dropNewest).subscribe(newest)
    upstream.buffer(size: 2, prefetch: .byRequest, whenFull: .dropOldest).subscribe(oldest)
    for connection in upstream.connections {
      for value in 1...4 { connection.send(value) }
    }
    newest.request(.unlimited)
    oldest.request(.unlimited)

    expectEqual(newest.values, [1, 2])
    expectEqual(oldest.values, [3, 4])
  }

  @Test("an overflow cancels the upstream, and fails when the demand of a request is used up, or the values are")
  func overflow() {
    let (some, all) = (Recorder<Int, TestFailure>(requesting: .none), Recorder<Int, TestFailure>(requesting: .none))
    let buffered = upstream.buffer(size: 3, prefetch: .byRequest, whenFull: .customError { .other })
    for recorder in [some, all] {
      buffered.subscribe(recorder)
      for value in 1...5 { upstream.send(value) }
      #expect(recorder.completions.isEmpty)
    }
    expectEqual(upstream.connections.map(\.cancelCount), [1, 1])
    some.request(.max(2))
    all.request(.max(9))

    expectEqual(some.events, [.subscription, .value(1), .value(2), .completion(.failure(.other))])
    expectEqual(all.events, [.subscription, .value(1), .value(2), .value(3), .completion(.failure(.other))])
  }

  @Test("a buffer of no size delivers what is asked for, and fails at once on what is not")
  func noSize() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1))
    upstream.buffer(size: 0, prefetch: .byRequest, whenFull: .customError { .other }).subscribe(recorder)
    upstream.send(1)
    upstream.send(2)

    expectEqual(recorder.events, [.subscription, .value(1), .completion(.failure(.other))])
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("a buffer of no size that keeps itself full asks for nothing, and not for no values either")
  func noSizeKeptFull() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1))
    upstream.buffer(size: 0, prefetch: .keepFull, whenFull: .dropNewest).subscribe(recorder)
    #expect(upstream.requests.isEmpty)
    expectEqual(upstream.send(1), .max(1))
    expectEqual(recorder.values, [1])
  }

  @Test("a buffer of no size keeps no value, not in place of the oldest either")
  func noSizeDropsOldest() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    upstream.buffer(size: 0, prefetch: .byRequest, whenFull: .dropOldest).subscribe(recorder)
    upstream.send(1)
    recorder.request(.max(1))
    expectEqual(recorder.events, [.subscription])

    upstream.send(2)
    expectEqual(recorder.values, [2])
  }

  @Test("a failure of the upstream comes at once, and values kept are lost")
  func failure() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    upstream.buffer(size: 3, prefetch: .keepFull, whenFull: .dropNewest).subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .failure(.expected))
    recorder.request(.max(1))

    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("a normal end comes after the values kept, upon one request more")
  func finish() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    upstream.buffer(size: 3, prefetch: .keepFull, whenFull: .dropNewest).subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .finished)
    upstream.send(completion: .failure(.other))
    recorder.request(.max(1))
    expectEqual(recorder.values, [1])
    #expect(recorder.completions.isEmpty)

    recorder.request(.max(1))
    expectEqual(recorder.completions, [.finished])
    expectEqual(upstream.requests, [.max(3)])
  }

  @Test("with demand left a normal end comes at once")
  func finishWithDemand() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2))
    upstream.buffer(size: 3, prefetch: .keepFull, whenFull: .dropNewest).subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .finished)

    expectEqual(recorder.events, [.subscription, .value(1), .completion(.finished)])
  }

  @Test("demand that comes with an answer or from inside a value is served in the same drain, one value at a time")
  func reentrantDemand() {
    var depth = 0
    var deepest = 0
    let recorder = Recorder<Int, TestFailure>(
      requesting: .none,
      answering: { value, recorder in
        depth += 1
        deepest = max(deepest, depth)
        recorder.request(.max(1))
        depth -= 1
        return value == 1 ? .max(1) : .none
      }
    )
    upstream.buffer(size: 9, prefetch: .keepFull, whenFull: .dropNewest).subscribe(recorder)
    for value in 1...3 { upstream.send(value) }
    recorder.request(.max(1))

    expectEqual(recorder.values, [1, 2, 3])
    expectEqual(deepest, 1)
    expectEqual(upstream.requests, [.max(9), .max(3)])
    expectEqual(upstream.send(4), .max(1))
  }

  @Test("a value sent from inside a value comes after it, and counts for the upstream's demand")
  func reentrantValue() {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .unlimited,
      answering: { value, _ in
        if value == 1 { expectEqual(self.upstream.send(2), .none) }
        return .none
      }
    )
    upstream.buffer(size: 9, prefetch: .keepFull, whenFull: .dropNewest).subscribe(recorder)

    expectEqual(upstream.send(1), .max(2))
    expectEqual(recorder.values, [1, 2])
  }

  @Test("values sent from inside a value take no room if they were asked for; those beyond that do")
  func reentrantValuesTakeNoRoom() {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(3),
      answering: { [upstream] value, _ in
        if value == 1 { for inner in 2...5 { upstream.send(inner) } }
        return .none
      }
    )
    upstream.buffer(size: 1, prefetch: .byRequest, whenFull: .dropNewest).subscribe(recorder)
    upstream.send(1)
    expectEqual(recorder.values, [1, 2, 3])

    recorder.request(.unlimited)
    expectEqual(recorder.values, [1, 2, 3, 4])
  }

  @Test(
    "values sent from inside a value do not take the place of older ones that were asked for",
    arguments: [(0, [Int]()), (1, [9]), (2, [8, 9])]
  )
  func reentrantValuesDropNothingOwed(size: Int, kept: [Int]) {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(4),
      answering: { [upstream] value, _ in
        if value == 1 { for inner in 2...9 { upstream.send(inner) } }
        return .none
      }
    )
    upstream.buffer(size: size, prefetch: .byRequest, whenFull: .dropOldest).subscribe(recorder)
    upstream.send(1)
    expectEqual(recorder.values, [1, 2, 3, 4])

    recorder.request(.unlimited)
    expectEqual(recorder.values, [1, 2, 3, 4] + kept)
  }

  @Test("a buffer does not overflow by what is sent from inside a value while everything was asked for")
  func reentrantValuesWithoutLimit() {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .unlimited,
      answering: { [upstream] value, _ in
        if value == 1 { for inner in 2...5 { upstream.send(inner) } }
        return .none
      }
    )
    upstream.buffer(size: 0, prefetch: .byRequest, whenFull: .customError { .other }).subscribe(recorder)
    upstream.send(1)

    expectEqual(recorder.events, [.subscription] + (1...5).map { .value($0) })
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("a buffer keeps its bound while everything was asked for and another thread is faster than the drain")
  func boundBesideDrain() {
    let (inside, sent) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let recorder = Recorder<Int, TestFailure>(
      requesting: .unlimited,
      answering: { value, _ in
        guard value == 1 else { return .none }
        inside.signal()
        sent.wait()
        return .none
      }
    )
    upstream.buffer(size: 2, prefetch: .byRequest, whenFull: .dropNewest).subscribe(recorder)
    DispatchQueue(label: "other").async { [upstream] in
      inside.wait()
      for value in 2...9 { upstream.send(value) }
      sent.signal()
    }
    upstream.send(1)

    expectEqual(recorder.values, [1, 2, 3])
  }

  @Test("a cancel from inside a value stops the delivery and drops the rest")
  func cancelInside() {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .none,
      answering: { _, recorder in
        recorder.cancel()
        return .none
      }
    )
    upstream.buffer(size: 9, prefetch: .keepFull, whenFull: .dropNewest).subscribe(recorder)
    for value in 1...3 { upstream.send(value) }
    recorder.request(.unlimited)

    expectEqual(recorder.values, [1])
    expectEqual(upstream.cancelCount, 1)
    expectEqual(upstream.requests, [.max(9)])
  }

  @Test("a cancel lets go of what is kept, whoever still holds the subscription")
  func cancelReleases() {
    weak var kept: Token?
    var subscription: (any Subscription)?
    let upstream = PassthroughSubject<Token, Never>()
    upstream.buffer(size: 3, prefetch: .keepFull, whenFull: .dropNewest)
      .subscribe(AnySubscriber(receiveSubscription: { subscription = $0 }))
    do {
      let token = Token {}
      kept = token
      upstream.send(token)
    }
    #expect(kept != nil)
    subscription?.cancel()
    #expect(kept == nil)
    withExtendedLifetime(subscription) {}
  }

  @Test("events before the subscription are ignored")
  func early() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>()
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 })
      .buffer(size: 9, prefetch: .keepFull, whenFull: .dropNewest).subscribe(recorder)
    _ = subscriber?.receive(1)
    subscriber?.receive(completion: .finished)
    subscriber?.receive(subscription: SubscriptionSpy())
    _ = subscriber?.receive(2)

    expectEqual(recorder.events, [.subscription, .value(2)])
  }

  @Test("values after a normal end are kept and delivered before it")
  func valuesAfterEnd() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 })
      .buffer(size: 3, prefetch: .keepFull, whenFull: .dropNewest).subscribe(recorder)
    subscriber?.receive(subscription: SubscriptionSpy())
    _ = subscriber?.receive(1)
    subscriber?.receive(completion: .finished)
    _ = subscriber?.receive(2)
    recorder.request(.max(3))

    expectEqual(recorder.events, [.subscription, .value(1), .value(2), .completion(.finished)])
  }

  @Test("a failure of the upstream from inside a value drops what waits, also what was asked for")
  func failureInside() {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .none,
      answering: { [upstream] value, _ in
        if value == 1 { upstream.send(completion: .failure(.expected)) }
        return .none
      }
    )
    upstream.buffer(size: 3, prefetch: .keepFull, whenFull: .dropNewest).subscribe(recorder)
    for value in 1...3 { upstream.send(value) }
    recorder.request(.max(3))

    expectEqual(recorder.events, [.subscription, .value(1), .completion(.failure(.expected))])
  }

  @Test("a cancel before the subscription, by who takes the subscriber for one, changes nothing")
  func earlyCancel() {
    let spy = SubscriptionSpy()
    let recorder = Recorder<Int, TestFailure>()
    TestPublisher<Int, TestFailure>(handingOver: {
      let subscription = $0.erased.subject as? any Subscription
      #expect(subscription != nil)
      subscription?.cancel()
      $0.receive(subscription: spy)
      _ = $0.receive(1)
    })
    .buffer(size: 3, prefetch: .keepFull, whenFull: .dropNewest).subscribe(recorder)

    expectEqual(spy.cancelCount, 0)
    expectEqual(recorder.values, [1])
  }

  @Test("a negative size stops the process")
  func negativeSize() async {
    await #expect(processExitsWith: .failure) {
      Just(1).buffer(size: -1, prefetch: .keepFull, whenFull: .dropNewest).subscribe(Recorder<Int, Never>())
    }
  }

  @Test("many values come out in order, however they go in and out")
  func order() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    upstream.buffer(size: 1000, prefetch: .byRequest, whenFull: .dropNewest).subscribe(recorder)
    var sent = 0
    for step in 1...60 {
      for _ in 0..<(step % 7) * 3 {
        upstream.send(sent)
        sent += 1
      }
      recorder.request(.max((step % 5) * 3 + 1))
    }
    recorder.request(.unlimited)

    expectEqual(recorder.values, Array(0..<sent))
  }

  @Test("no value and no request is lost when they come from two threads")
  func twoThreads() {
    let count = 20_000
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    upstream.buffer(size: count, prefetch: .keepFull, whenFull: .dropNewest).subscribe(recorder)
    DispatchQueue.concurrentPerform(iterations: 2) { [upstream] thread in
      for value in 0..<count {
        if thread == 0 { upstream.send(value) } else { recorder.request(.max(1)) }
      }
    }

    expectEqual(recorder.values, Array(0..<count))
  }

  @Test("requests for no values change nothing, and strategies compare")
  func harmless() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    upstream.buffer(size: 1, prefetch: .keepFull, whenFull: .dropNewest).subscribe(recorder)
    upstream.send(1)
    recorder.request(.none)

    #expect(recorder.values.isEmpty)
    expectEqual(Set([Publishers.PrefetchStrategy.keepFull, .byRequest, .keepFull]).count, 2)
  }

  @Test("it holds one subscription, cancels it once and lets go")
  func laws() {
    SubscriptionLaws.check(named: "Buffer", children: ["values", "state", "downstreamDemand", "terminal"]) {
      $0.buffer(size: 5, prefetch: .keepFull, whenFull: .dropNewest)
    }
  }

  @Test("a buffer that keeps itself full asks for nothing more once it was cancelled from inside a value")
  func asksNothingAfterCancel() {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .none,
      answering: { _, recorder in
        recorder.cancel()
        return .none
      }
    )
    var subscriber: AnySubscriber<Int, TestFailure>?
    let spy = SubscriptionSpy()
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 })
      .buffer(size: 2, prefetch: .keepFull, whenFull: .dropNewest).subscribe(recorder)
    subscriber?.receive(subscription: spy)
    _ = subscriber?.receive(1)
    recorder.request(.max(2))
    expectEqual(recorder.values, [1])
    #expect(spy.requests == [.max(2)] && spy.cancelCount == 1)
    expectEqual(subscriber?.receive(2), Subscribers.Demand.none)
  }
}
