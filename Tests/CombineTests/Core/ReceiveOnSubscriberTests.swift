import Combine
import Expectations
import ReboundTesting
import Testing

/// What `receive(on:)` and `delay` have in common.
@Suite("A hop through a scheduler")
struct ReceiveOnSubscriberTests {
  let upstream = TestPublisher<Int, TestFailure>()
  let scheduler = TestScheduler()

  enum Operator: CaseIterable {
    case receive, delay

    func apply(_ upstream: TestPublisher<Int, TestFailure>, _ scheduler: some Scheduler)
      -> AnyPublisher<Int, TestFailure>
    {
      switch self {
      case .receive: upstream.receive(on: scheduler).eraseToAnyPublisher()
      case .delay: upstream.delay(for: 1, scheduler: scheduler).eraseToAnyPublisher()
      }
    }
  }

  @Test("the subscription comes at once, and requests pass as they are, at once", arguments: Operator.allCases)
  func requests(hop: Operator) {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2))
    hop.apply(upstream, scheduler).subscribe(recorder)
    recorder.request(.none)
    recorder.request(.unlimited)

    expectEqual(recorder.subscriptionCount, 1)
    expectEqual(upstream.requests, [.max(2), .none, .unlimited])
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test(
    "one job is scheduled for each value and one for the end; the answer is a request",
    arguments: Operator.allCases
  )
  func jobs(hop: Operator) throws {
    let recorder = Recorder<Int, TestFailure>(requesting: .none, answering: { value, _ in .max(value) })
    hop.apply(upstream, scheduler).subscribe(recorder)

    expectEqual(upstream.send(0), .none)
    expectEqual(upstream.send(3), .none)
    upstream.send(4)
    upstream.send(completion: .failure(.expected))
    expectEqual(scheduler.pendingCount, 4)
    #expect(recorder.values.isEmpty)

    try expectEqual(scheduler.run(), 4)
    expectEqual(recorder.values, [0, 3, 4])
    expectEqual(recorder.failure, .expected)
    #expect(upstream.requests.isEmpty, "the upstream is over, so nothing can be asked of it")
  }

  @Test("what a subscriber answers is asked of the upstream", arguments: Operator.allCases)
  func answers(hop: Operator) {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1), answering: { value, _ in .max(value) })
    hop.apply(upstream, scheduler).subscribe(recorder)
    for value in [2, 0, 5] { upstream.send(value) }
    scheduler.advance(by: 1)
    expectEqual(upstream.requests, [.max(1), .max(2), .max(5)])
  }

  @Test("a scheduler that does the last job first changes nothing in the order", arguments: Operator.allCases)
  func backward(hop: Operator) {
    let backward = BackwardScheduler()
    let recorder = Recorder<Int, TestFailure>()
    hop.apply(upstream, backward).subscribe(recorder)
    for value in 0..<20 { upstream.send(value) }
    upstream.send(completion: .finished)
    expectEqual(backward.jobCount, 21)
    backward.run()
    expectEqual(recorder.values, Array(0..<20))
    expectEqual(recorder.entries.last?.event, .completion(.finished))
  }

  @Test("a cancel reaches the upstream at once and drops what waits", arguments: Operator.allCases)
  func cancels(hop: Operator) {
    weak var observed: Signal?
    let upstream = TestPublisher<Signal, TestFailure>()
    let recorder = Recorder<Signal, TestFailure>()
    switch hop {
    case .receive: upstream.receive(on: scheduler).subscribe(recorder)
    case .delay: upstream.delay(for: 1, scheduler: scheduler).subscribe(recorder)
    }
    do {
      let value = Signal()
      observed = value
      upstream.send(value)
    }
    #expect(observed != nil)

    recorder.cancel()

    #expect(observed == nil)
    expectEqual(upstream.cancelCount, 1)
    scheduler.advance(by: 1)
    #expect(recorder.values.isEmpty && recorder.completions.isEmpty)
  }

  @Test(
    "a cancel from inside a value drops the ones behind it, and a second cancel does nothing",
    arguments: Operator.allCases
  )
  func cancelsInside(hop: Operator) {
    let recorder = Recorder<Int, TestFailure>(answering: { _, recorder in
      recorder.cancel()
      recorder.cancel()
      return .max(1)
    })
    hop.apply(upstream, scheduler).subscribe(recorder)
    upstream.send(1)
    upstream.send(2)
    scheduler.advance(by: 1)
    expectEqual(recorder.values, [1])
    expectEqual(upstream.cancelCount, 1)
    expectEqual(upstream.requests, [.unlimited])
  }

  @Test("after the upstream has ended a cancel changes nothing", arguments: Operator.allCases)
  func cancelsLate(hop: Operator) throws {
    let recorder = Recorder<Int, TestFailure>()
    let keeper = Keeper<Int, TestFailure>(recorder)
    hop.apply(upstream, scheduler).subscribe(keeper)
    let subscription = try #require(keeper.subscription)
    upstream.send(1)
    upstream.send(completion: .finished)
    subscription.cancel()
    subscription.request(.max(1))
    scheduler.advance(by: 1)
    #expect(recorder.values == [1] && recorder.isFinished)
    expectEqual(upstream.cancelCount, 0)
    #expect(upstream.requests.isEmpty)
  }

  @Test("a second subscription is cancelled, and events after the end are ignored", arguments: Operator.allCases)
  func misbehaviour(hop: Operator) {
    let other = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>()
    hop.apply(upstream, scheduler).subscribe(recorder)
    other.subscribe(Recorder<Int, TestFailure>())
    upstream.connections[0].send(subscription: other.connections[0])
    expectEqual(other.cancelCount, 1)

    upstream.send(completion: .finished)
    upstream.send(1)
    upstream.send(completion: .failure(.other))
    scheduler.advance(by: 1)
    #expect(recorder.values.isEmpty)
    expectEqual(recorder.completions, [.finished])
  }

  @Test("events before the subscription are ignored", arguments: Operator.allCases)
  func early(hop: Operator) {
    let upstream = TestPublisher<Int, TestFailure>(handingOver: { subscriber in
      _ = subscriber.receive(1)
      subscriber.receive(completion: .finished)
      subscriber.receive(subscription: Subscriptions.empty)
    })
    let recorder = Recorder<Int, TestFailure>()
    hop.apply(upstream, scheduler).subscribe(recorder)
    scheduler.advance(by: 1)
    expectEqual(recorder.events, [.subscription])
  }

  @Test("a value sent from inside a value comes after it", arguments: Operator.allCases)
  func reenters(hop: Operator) {
    let recorder = Recorder<Int, TestFailure>(answering: { [upstream] value, _ in
      if value < 3 { upstream.send(value + 1) }
      return .none
    })
    hop.apply(upstream, scheduler).subscribe(recorder)
    upstream.send(1)
    scheduler.advance(by: 5)
    expectEqual(recorder.values, [1, 2, 3])
  }

  @Test("everything is let go after the end and after a cancel", arguments: Operator.allCases, [true, false])
  func releases(hop: Operator, byCancel: Bool) {
    weak var observed: Recorder<Int, TestFailure>?
    weak var observedUpstream: TestPublisher<Int, TestFailure>?
    do {
      let upstream = TestPublisher<Int, TestFailure>()
      let recorder = Recorder<Int, TestFailure>()
      (observed, observedUpstream) = (recorder, upstream)
      hop.apply(upstream, scheduler).subscribe(recorder)
      upstream.send(1)
      if byCancel {
        recorder.cancel()
      } else {
        upstream.send(completion: .finished)
        upstream.connections[0].letGo()
      }
      scheduler.advance(by: 1)
    }
    #expect(observed == nil)
    #expect(observedUpstream == nil)
  }

  @Test("what the last value is answered with is not asked of an upstream that has ended", arguments: Operator.allCases)
  func answerAfterTheEnd(hop: Operator) {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1), answering: { _, _ in .max(1) })
    hop.apply(upstream, scheduler).subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .finished)
    scheduler.advance(by: 1)
    #expect(recorder.values == [1] && recorder.isFinished)
    expectEqual(upstream.requests, [.max(1)])
  }
}
