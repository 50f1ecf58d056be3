import Combine
import Expectations
import ReboundTesting
import Testing

/// What all reducing operators have in common.
@Suite("Reducing operators")
struct ReduceSubscriberTests {
  private typealias Upstream = TestPublisher<Int, TestFailure>
  private typealias Downstream = Recorder<String, any Error>

  private func send(to upstream: Upstream) {
    for value in [3, 1, 2] { expectEqual(upstream.send(value), .none) }
    upstream.send(completion: .finished)
  }

  @Test("ask for everything once, and publish one result and the end", arguments: Reducer.all)
  func result(_ reducer: Reducer) {
    let upstream = Upstream()
    let recorder = Downstream(requesting: .max(1), answering: { _, _ in .max(5) })
    reducer.subscribe(recorder, to: upstream)
    expectEqual(upstream.requests, [.unlimited])

    send(to: upstream)

    expectEqual(recorder.values, [reducer.result])
    expectEqual(recorder.completions.count, 1)
    #expect(recorder.isFinished)
    expectEqual(upstream.requests, [.unlimited])
  }

  @Test("cancel upstream as soon as the result is known, before they publish it", arguments: Reducer.all)
  func decides(_ reducer: Reducer) {
    let upstream = Upstream()
    var cancelCountAtResult: [Int] = []
    let recorder = Downstream(answering: { _, _ in
      cancelCountAtResult.append(upstream.cancelCount)
      return .none
    })
    reducer.subscribe(recorder, to: upstream)

    for (index, value) in [3, 1, 2].enumerated() {
      #expect(recorder.values.isEmpty)
      upstream.send(value)
      if index + 1 == reducer.decidesAfter {
        expectEqual(recorder.values, [reducer.result])
        #expect(recorder.isFinished)
        expectEqual(cancelCountAtResult, [1])
        return
      }
    }
    #expect(reducer.decidesAfter == nil)
    upstream.send(completion: .finished)
    expectEqual(cancelCountAtResult, [0])
  }

  @Test("keep result and end until the first request, of any size", arguments: Reducer.all)
  func waits(_ reducer: Reducer) {
    let upstream = Upstream()
    let recorder = Downstream(requesting: .none)
    reducer.subscribe(recorder, to: upstream)
    send(to: upstream)
    expectEqual(recorder.events.count, 1)

    recorder.request(.max(1))
    recorder.request(.max(1))
    expectEqual(recorder.values, [reducer.result])
    expectEqual(recorder.completions.count, 1)
  }

  @Test("without values, publish what they make of nothing, upon a request", arguments: Reducer.all)
  func nothing(_ reducer: Reducer) {
    let upstream = Upstream()
    let recorder = Downstream(requesting: .none)
    reducer.subscribe(recorder, to: upstream)
    upstream.send(completion: .finished)
    expectEqual(recorder.events.count, 1)

    recorder.request(.unlimited)
    expectEqual(recorder.values, [reducer.resultOfNothing].compactMap { $0 })
    #expect(recorder.isFinished)
  }

  @Test("pass a failure at once, unasked, and no result", arguments: Reducer.all)
  func failure(_ reducer: Reducer) {
    let upstream = Upstream()
    let recorder = Downstream(requesting: .none)
    reducer.subscribe(recorder, to: upstream)
    upstream.connections.first?.send(completion: .failure(.expected))
    upstream.connections.first?.send(completion: .failure(.other))
    recorder.request(.max(1))

    #expect(recorder.values.isEmpty)
    expectEqual(recorder.completions.count, 1)
    #expect(throws: TestFailure.expected) { try recorder.completion?.rethrow() }
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("once cancelled, cancel upstream once and publish nothing", arguments: Reducer.all)
  func cancel(_ reducer: Reducer) {
    let upstream = Upstream()
    let recorder = Downstream(requesting: .none)
    var subscription: (any Subscription)?
    reducer.subscribe(recorder, to: upstream)
    subscription = recorder.subscription
    subscription?.cancel()
    subscription?.cancel()
    subscription?.request(.max(1))
    send(to: upstream)

    expectEqual(upstream.cancelCount, 1)
    expectEqual(recorder.events.count, 1)
  }

  @Test("drop a result that waits when they are cancelled", arguments: Reducer.all)
  func cancelWhileWaiting(_ reducer: Reducer) {
    let upstream = Upstream()
    let recorder = Downstream(requesting: .none)
    reducer.subscribe(recorder, to: upstream)
    let subscription = recorder.subscription
    send(to: upstream)
    subscription?.cancel()
    subscription?.request(.max(1))

    expectEqual(recorder.events.count, 1)
    expectEqual(upstream.cancelCount, reducer.decidesAfter == nil ? 0 : 1)
  }

  @Test("send no end to who cancels from inside the value", arguments: Reducer.all)
  func cancelInside(_ reducer: Reducer) {
    let upstream = Upstream()
    let recorder = Downstream(answering: { _, recorder in
      recorder.cancel()
      return .none
    })
    reducer.subscribe(recorder, to: upstream)
    send(to: upstream)
    expectEqual(recorder.values, [reducer.result])
    #expect(recorder.completions.isEmpty)
  }

  @Test("ask nothing of upstream for who cancels from inside the subscription", arguments: Reducer.all)
  func cancelInsideSubscription(_ reducer: Reducer) {
    let upstream = Upstream()
    upstream.count().subscribe(AnySubscriber(receiveSubscription: { $0.cancel() }))
    #expect(upstream.requests.isEmpty)
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("refuse a second subscription, and one after the end", arguments: Reducer.all)
  func secondSubscription(_ reducer: Reducer) {
    let upstream = Upstream()
    let recorder = Downstream()
    let spies = [SubscriptionSpy(), SubscriptionSpy()]
    reducer.subscribe(recorder, to: upstream)
    let connection = upstream.connections.first
    connection?.send(subscription: spies[0])
    connection?.send(completion: .finished)
    connection?.send(subscription: spies[1])

    expectEqual(spies.map(\.cancelCount), [1, 1])
    #expect(spies.allSatisfy { $0.requests.isEmpty })
    expectEqual(recorder.subscriptionCount, 1)
  }

  @Test("ignore what comes before the subscription", arguments: Reducer.all)
  func tooEarly(_ reducer: Reducer) {
    let recorder = Downstream()
    let spy = SubscriptionSpy()
    var subscriber: AnySubscriber<Int, TestFailure>?
    let upstream = Upstream(handingOver: { subscriber = $0 })
    reducer.subscribe(recorder, to: upstream)

    expectEqual(subscriber?.receive(100), Subscribers.Demand.none)
    subscriber?.receive(completion: .failure(.expected))
    subscriber?.receive(subscription: spy)
    for value in [3, 1, 2] { _ = subscriber?.receive(value) }
    subscriber?.receive(completion: .finished)

    expectEqual(spy.requests, [.unlimited])
    expectEqual(recorder.values, [reducer.result])
    #expect(recorder.isFinished)
  }

  @Test("ignore values and ends after the end", arguments: Reducer.all)
  func tooLate(_ reducer: Reducer) {
    let upstream = Upstream()
    let recorder = Downstream(requesting: .none)
    reducer.subscribe(recorder, to: upstream)
    let connection = upstream.connections.first
    var subscriber: AnySubscriber<Int, TestFailure>?
    let late = Upstream(handingOver: { subscriber = $0 })
    let lateRecorder = Downstream()
    reducer.subscribe(lateRecorder, to: late)
    subscriber?.receive(subscription: SubscriptionSpy())
    subscriber?.receive(completion: .finished)
    expectEqual(subscriber?.receive(3), Subscribers.Demand.none)
    subscriber?.receive(completion: .failure(.expected))

    expectEqual(lateRecorder.values, [reducer.resultOfNothing].compactMap { $0 })
    expectEqual(lateRecorder.completions.count, 1)
    expectEqual(connection?.requests, [.unlimited])
  }

  @Test("let go of downstream and upstream after the end, and after a cancel", arguments: Reducer.all)
  func release(_ reducer: Reducer) {
    for cancels in [true, false] {
      weak var downstream: Downstream?
      weak var upstream: Upstream?
      do {
        let publisher = Upstream()
        let recorder = Downstream()
        downstream = recorder
        upstream = publisher
        reducer.subscribe(recorder, to: publisher)
        publisher.send(3)
        if cancels { recorder.cancel() } else { publisher.send(completion: .finished) }
        publisher.connections.first?.letGo()
      }
      #expect(downstream == nil)
      #expect(upstream == nil)
    }
  }

  @Test("show their names, and what they hold", arguments: Reducer.all)
  func reflection(_ reducer: Reducer) {
    let upstream = Upstream()
    let recorder = Downstream(requesting: .none)
    reducer.subscribe(recorder, to: upstream)
    let subscription = recorder.subscription
    expectEqual(SelfPortrait(of: subscription), SelfPortrait(reducer.name, labels: reducer.labels))

    upstream.send(completion: .finished)
    expectEqual(SelfPortrait(of: subscription), SelfPortrait(reducer.name, labels: reducer.labels))
  }

  @Test("show result, initial result and status")
  func children() {
    let upstream = Upstream()
    let subscription = upstream.reduce(10, +).subscriptionForTesting()
    upstream.send(5)
    expectEqual(toldText("result", of: subscription), "Optional(15)")
    expectEqual(toldText("initial", of: subscription), "Optional(10)")
    expectEqual(toldText("status", of: subscription)?.hasPrefix("subscribed"), true)

    upstream.send(completion: .finished)
    expectEqual(toldText("status", of: subscription), "terminal")
  }

  @Test("a request or cancel before the subscription changes nothing")
  func beforeSubscription() {
    let catcher = SubscriberCatcher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    let spy = SubscriptionSpy()
    catcher.count().subscribe(recorder)
    let pipe = catcher.caught
    (pipe as? any Subscription)?.request(.unlimited)
    (pipe as? any Subscription)?.cancel()
    pipe?.receive(subscription: spy)
    pipe?.receive(completion: .finished)

    expectEqual(spy.requests, [.unlimited])
    expectEqual(spy.cancelCount, 0)
    expectEqual(recorder.events, [.subscription])
    recorder.request(.max(1))
    expectEqual(recorder.events, [.subscription, .value(0), .completion(.finished)])
  }

  @Test("a request for nothing stops the process")
  func requestNone() async {
    await #expect(processExitsWith: .failure) {
      TestPublisher<Int, Never>().count().subscriptionForTesting()?.request(.none)
    }
  }

  @Test("closures are not called any more once the result is known")
  func silentAfterDecision() {
    var calls: [String] = []
    func note(_ name: String, _ answer: Bool) -> (Int) -> Bool {
      { _ in
        calls.append(name)
        return answer
      }
    }
    func run(_ build: (TestPublisher<Int, TestFailure>) -> some Publisher) {
      let upstream = TestPublisher<Int, TestFailure>(handingOver: {
        $0.receive(subscription: SubscriptionSpy())
        for value in 0..<3 { _ = $0.receive(value) }
      })
      _ = build(upstream).subscriptionForTesting()
    }
    run { $0.contains(where: note("contains", true)) }
    run { $0.tryContains(where: note("tryContains", true)) }
    run { $0.allSatisfy(note("allSatisfy", false)) }
    run { $0.tryAllSatisfy(note("tryAllSatisfy", false)) }
    run { $0.first(where: note("first", true)) }
    run { $0.tryFirst(where: note("tryFirst", true)) }
    expectEqual(calls, ["contains", "tryContains", "allSatisfy", "tryAllSatisfy", "first", "tryFirst"])
  }

  @Test("a value sent from inside a closure counts, and a decision made inside stands")
  func reentrant() {
    let upstream = PassthroughSubject<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>()
    upstream.first { value in
      if value == 1 { upstream.send(2) }
      return true
    }
    .subscribe(recorder)

    upstream.send(1)

    expectEqual(recorder.events, [.subscription, .value(2), .completion(.finished)])
  }
}

/// Keeps the subscriber that it gets as it is, and sends nothing.
private final class SubscriberCatcher<Output, Failure: Error>: Publisher {
  private(set) var caught: (any Subscriber<Output, Failure>)?

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    caught = subscriber
  }
}
