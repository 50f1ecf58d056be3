import Expectations
import ReboundTesting
import Testing

@testable import Combine

@Suite("handleEvents")
struct HandleEventsTests {
  private final class Log {
    var lines: [String] = []
  }

  private func watch<P: Publisher>(_ publisher: P, _ log: Log) -> Publishers.HandleEvents<P> {
    publisher.handleEvents(
      receiveSubscription: { _ in log.lines.append("subscription") },
      receiveOutput: { log.lines.append("value \($0)") },
      receiveCompletion: { log.lines.append("end \($0)") },
      receiveCancel: { log.lines.append("cancel") },
      receiveRequest: { log.lines.append("request \($0)") }
    )
  }

  @Test("closures run before the events pass, and for answers after the value")
  func order() {
    let log = Log()
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(2),
      answering: { value, _ in
        log.lines.append("passed")
        return value == 1 ? .max(3) : .none
      },
      whenCompleted: { log.lines.append("passed") }
    )
    watch(upstream, log).subscribe(recorder)
    expectEqual(upstream.send(1), .max(3))
    expectEqual(upstream.send(2), .none)
    upstream.send(completion: .finished)

    expectEqual(
      log.lines,
      [
        "subscription", "request max(2)", "value 1", "passed", "request max(3)", "value 2", "passed", "end finished",
        "passed",
      ]
    )
    expectEqual(upstream.requests, [.max(2)])
  }

  @Test("subscriptions, requests and cancels are told before they pass on, too")
  func toldFirst() {
    final class Watching: Subscription {
      let log: Log
      init(_ log: Log) { self.log = log }
      func request(_ demand: Subscribers.Demand) { log.lines.append("passed") }
      func cancel() { log.lines.append("passed") }
    }
    let log = Log()
    watch(TestPublisher<Int, TestFailure>(handingOver: { $0.receive(subscription: Watching(log)) }), log).subscribe(
      AnySubscriber(receiveSubscription: {
        log.lines.append("passed")
        $0.request(.max(1))
        $0.cancel()
      })
    )
    expectEqual(log.lines, ["subscription", "passed", "request max(1)", "passed", "cancel", "passed"])
  }

  @Test("a cancel is told once, and not after the end")
  func cancel() {
    let log = Log()
    let upstream = TestPublisher<Int, TestFailure>()
    var held: (any Subscription)?
    let subscriber = AnySubscriber<Int, TestFailure>(receiveSubscription: { held = $0 })
    watch(upstream, log).subscribe(subscriber)
    held?.cancel()
    held?.cancel()
    expectEqual(log.lines, ["subscription", "cancel"])

    log.lines = []
    watch(upstream, log).subscribe(subscriber)
    upstream.send(completion: .failure(.expected))
    held?.cancel()
    expectEqual(log.lines, ["subscription", "end failure(CombineTests.TestFailure.expected)"])
  }

  @Test("a further subscription is told and then cancelled")
  func furtherSubscription() {
    let log = Log()
    let upstream = TestPublisher<Int, TestFailure>()
    watch(upstream, log).subscribe(Recorder<Int, TestFailure>(requesting: .none))
    let second = SubscriptionSpy()
    upstream.connections.first?.send(subscription: second)

    expectEqual(log.lines, ["subscription", "subscription"])
    expectEqual(second.cancelCount, 1)
  }

  @Test("values and ends pass in any state, after the end without closures")
  func outOfTurn() {
    let log = Log()
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>()
    watch(TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }), log).subscribe(recorder)
    _ = subscriber?.receive(1)
    subscriber?.receive(completion: .finished)
    _ = subscriber?.receive(2)

    expectEqual(recorder.events, [.value(1), .completion(.finished), .value(2)])
    expectEqual(log.lines, ["value 1", "end finished"])
  }

  @Test("the closures are released after the end, while the subscription is still held")
  func release() {
    let upstream = TestPublisher<Int, TestFailure>()
    weak var weakLog: Log?
    var held: (any Subscription)?
    do {
      let log = Log()
      weakLog = log
      watch(upstream, log).subscribe(AnySubscriber<Int, TestFailure>(receiveSubscription: { held = $0 }))
    }
    #expect(weakLog != nil)
    upstream.send(completion: .finished)

    #expect(weakLog == nil)
    withExtendedLifetime(held) {}
  }

  @Test("the closures are released by a cancel, and a request after it is neither told nor passed on")
  func releaseOnCancel() {
    let upstream = TestPublisher<Int, TestFailure>()
    weak var weakLog: Log?
    var held: (any Subscription)?
    do {
      let log = Log()
      weakLog = log
      watch(upstream, log).subscribe(AnySubscriber<Int, TestFailure>(receiveSubscription: { held = $0 }))
      held?.cancel()
      held?.request(.max(1))
      expectEqual(log.lines, ["subscription", "cancel"])
    }
    #expect(weakLog == nil)
    #expect(upstream.requests.isEmpty)
    withExtendedLifetime(held) {}
  }

  @Test("requests for nothing, and such before the upstream's subscription, are told; the latter go nowhere")
  func oddRequests() {
    let log = Log()
    let spy = SubscriptionSpy()
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    watch(
      TestPublisher<Int, TestFailure>(handingOver: {
        ($0.erased.subject as? any Subscription)?.request(.max(7))
        $0.receive(subscription: spy)
      }),
      log
    )
    .subscribe(recorder)
    recorder.request(.none)
    expectEqual(log.lines, ["request max(7)", "subscription", "request max(0)"])
    expectEqual(spy.requests, [.none])
  }

  @Test("later ends pass on, without closures")
  func laterEnds() {
    let log = Log()
    var ends = 0
    watch(
      TestPublisher<Int, TestFailure>(handingOver: {
        $0.receive(subscription: SubscriptionSpy())
        for _ in 0..<2 { $0.receive(completion: .finished) }
      }),
      log
    )
    .subscribe(AnySubscriber<Int, TestFailure>(receiveCompletion: { _ in ends += 1 }))
    expectEqual(ends, 2)
    expectEqual(log.lines, ["subscription", "end finished"])
  }

  @Test("without closures everything passes, and closures can be set on the publisher")
  func settable() {
    let upstream = TestPublisher<Int, TestFailure>()
    var watched = upstream.handleEvents()
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2), answering: { _, _ in .max(3) })
    watched.subscribe(recorder)
    expectEqual(upstream.send(1), .max(3))
    var values: [Int] = []
    watched.receiveOutput = { values.append($0) }
    watched.subscribe(Recorder<Int, TestFailure>())
    upstream.send(2)

    expectEqual(recorder.values, [1])
    expectEqual(values, [2])
  }

  @Test("it holds one subscription, cancels it once and lets go")
  func laws() {
    SubscriptionLaws.check(named: "HandleEvents") { $0.handleEvents(receiveOutput: { _ in }) }
  }
}
