import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("switchToLatest")
struct SwitchToLatestTests {
  typealias Inner = TestPublisher<Int, TestFailure>
  typealias Outer = TestPublisher<Inner, TestFailure>

  let outer = Outer()
  let first = Inner()
  let second = Inner()

  @Test("an inner publisher that subscribes and ends after the cancel does no harm")
  func lateInner() throws {
    let outer = PassthroughSubject<TestPublisher<Int, TestFailure>, TestFailure>()
    var side: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>()
    outer.switchToLatest().subscribe(recorder)
    outer.send(TestPublisher(handingOver: { side = $0 }))
    recorder.cancel()

    let subscription = SubscriptionSpy()
    let inner = try #require(side)
    inner.receive(subscription: subscription)
    inner.receive(completion: .failure(.expected))

    expectEqual(subscription.cancelCount, 1)
    #expect(recorder.completions.isEmpty)
  }

  @Test("values of the latest publisher arrive, and the one before is cancelled")
  func switches() {
    let recorder = Recorder<Int, TestFailure>()
    outer.switchToLatest().subscribe(recorder)
    expectEqual(outer.requests, [.unlimited])
    outer.send(first)
    first.send(1)
    expectEqual(outer.send(second), .none)
    expectEqual(first.cancelCount, 1)
    first.send(2)
    second.send(3)
    expectEqual(recorder.values, [1, 3])
    expectEqual(first.requests, [.unlimited])
    expectEqual(second.requests, [.unlimited])
  }

  @Test("what is owed downstream passes to the next publisher")
  func demand() {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(3),
      answering: { $0 < 2 ? .max($1.values.count) : .none }
    )
    outer.switchToLatest().subscribe(recorder)
    outer.send(first)
    expectEqual(first.requests, [.max(3)])
    expectEqual(first.send(1), .max(1))
    expectEqual(first.send(2), .none)
    recorder.request(.max(2))
    expectEqual(first.requests, [.max(3), .max(2)])
    outer.send(second)
    expectEqual(second.requests, [.max(4)])
  }

  @Test("without demand nothing is asked of a publisher until there is some")
  func noDemand() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    outer.switchToLatest().subscribe(recorder)
    outer.send(first)
    expectEqual(first.requests, [])
    recorder.request(.max(1))
    expectEqual(first.requests, [.max(1)])
  }

  @Test(
    "the stream ends when the upstream and the latest publisher have ended, in either order",
    arguments: [true, false]
  )
  func finishes(upstreamFirst: Bool) {
    let recorder = Recorder<Int, TestFailure>()
    outer.switchToLatest().subscribe(recorder)
    outer.send(first)
    if upstreamFirst { outer.send(completion: .finished) } else { first.send(completion: .finished) }
    #expect(recorder.completion == nil)
    if upstreamFirst { first.send(completion: .finished) } else { outer.send(completion: .finished) }
    expectEqual(recorder.completions, [.finished])
    expectEqual(outer.cancelCount + first.cancelCount, 0)
    outer.send(completion: .finished)
    first.send(completion: .failure(.other))
    expectEqual(recorder.completions, [.finished])
  }

  @Test("an upstream without publishers ends the stream as it ends")
  func empty() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    outer.switchToLatest().subscribe(recorder)
    outer.send(completion: .finished)
    expectEqual(recorder.completions, [.finished])
  }

  @Test("an inner publisher that has not handed over its subscription is not over: the end waits for it")
  func endWaitsForSubscription() {
    let scheduler = TestScheduler()
    let recorder = Recorder<Int, Never>()
    Just(Just(1).subscribe(on: scheduler)).switchToLatest().subscribe(recorder)
    expectEqual(recorder.events, [.subscription])
    scheduler.advance()
    expectEqual(recorder.events, [.subscription, .value(1), .completion(.finished)])
  }

  @Test("after one publisher has ended, the next is taken")
  func nextAfterEnd() {
    let recorder = Recorder<Int, TestFailure>()
    outer.switchToLatest().subscribe(recorder)
    outer.send(first)
    first.send(completion: .finished)
    outer.send(second)
    second.send(1)
    expectEqual(recorder.values, [1])
    expectEqual(first.cancelCount, 0)
  }

  @Test("a failure of the latest publisher cancels the upstream and ends the stream")
  func innerFails() {
    let recorder = Recorder<Int, TestFailure>()
    outer.switchToLatest().subscribe(recorder)
    outer.send(first)
    first.send(completion: .failure(.expected))
    expectEqual(outer.cancelCount, 1)
    expectEqual(first.cancelCount, 0)
    expectEqual(recorder.completions, [.failure(.expected)])
  }

  @Test("a failure of the upstream cancels the latest publisher and ends the stream")
  func outerFails() {
    let recorder = Recorder<Int, TestFailure>()
    outer.switchToLatest().subscribe(recorder)
    outer.send(first)
    outer.send(completion: .failure(.expected))
    expectEqual(first.cancelCount, 1)
    first.send(1)
    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("who is still there is cancelled before a failure is passed on")
  func orderOfCancels() {
    func order(failing isOuter: Bool) -> [String] {
      var order: [String] = []
      var outer: AnySubscriber<Inner, TestFailure>?
      var side: AnySubscriber<Int, TestFailure>?
      TestPublisher<Inner, TestFailure>(handingOver: { outer = $0 }).switchToLatest().subscribe(
        AnySubscriber<Int, TestFailure>(receiveCompletion: { _ in order.append("end") })
      )
      outer?.receive(subscription: NotedSubscription { order.append("outer") })
      _ = outer?.receive(Inner(handingOver: { side = $0 }))
      side?.receive(subscription: NotedSubscription { order.append("inner") })
      if isOuter {
        outer?.receive(completion: .failure(.expected))
      } else {
        side?.receive(completion: .failure(.expected))
      }
      return order
    }
    expectEqual(order(failing: true), ["inner", "end"])
    expectEqual(order(failing: false), ["outer", "end"])
  }

  @Test("of two publishers that subscribe late, the one that is not the latest is cancelled, whoever comes first")
  func lateSubscriptions() throws {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(2))
    var sides: [AnySubscriber<Int, TestFailure>] = []
    outer.switchToLatest().subscribe(recorder)
    for _ in 0..<2 { outer.send(Inner(handingOver: { sides.append($0) })) }
    try #require(sides.count == 2)
    let (old, latest) = (SubscriptionSpy(), SubscriptionSpy())
    sides[0].receive(subscription: old)
    sides[1].receive(subscription: latest)
    #expect(old.requests == [] && old.cancelCount == 1)
    #expect(latest.requests == [.max(2)] && latest.cancelCount == 0)
  }

  @Test("the latest publisher may begin anew after its end: its subscription is taken, with what is owed")
  func beginsAnew() {
    var side: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>(requesting: .max(3))
    outer.switchToLatest().subscribe(recorder)
    outer.send(Inner(handingOver: { side = $0 }))
    let (once, again) = (SubscriptionSpy(), SubscriptionSpy())
    side?.receive(subscription: once)
    _ = side?.receive(1)
    side?.receive(completion: .finished)
    side?.receive(subscription: again)
    _ = side?.receive(2)
    expectEqual(once.requests, [.max(3)])
    #expect(again.requests == [.max(2)] && again.cancelCount == 0)
    expectEqual(recorder.values, [1, 2])
    outer.send(completion: .finished)
    #expect(recorder.completion == nil)
    side?.receive(completion: .finished)
    expectEqual(recorder.completions, [.finished])
  }

  @Test("a failure of a publisher that was left is ignored")
  func leftFails() {
    let recorder = Recorder<Int, TestFailure>()
    var left: AnySubscriber<Int, TestFailure>?
    let first = Inner(handingOver: { left = $0 })
    outer.switchToLatest().subscribe(recorder)
    outer.send(first)
    outer.send(second)
    left?.receive(subscription: Subscriptions.empty)
    expectEqual(left?.receive(7), Subscribers.Demand.none)
    left?.receive(completion: .failure(.other))
    second.send(1)
    expectEqual(recorder.events, [.subscription, .value(1)])
  }

  @Test("cancelling cancels the latest publisher and the upstream, once")
  func cancels() {
    let recorder = Recorder<Int, TestFailure>()
    outer.switchToLatest().subscribe(recorder)
    outer.send(first)
    recorder.cancel()
    recorder.cancel()
    expectEqual(first.cancelCount, 1)
    expectEqual(outer.cancelCount, 1)
    #expect(recorder.completion == nil)
  }

  @Test("second subscriptions are cancelled, on either side")
  func secondSubscriptions() {
    let other = Inner()
    other.subscribe(Recorder<Int, TestFailure>())
    outer.switchToLatest().subscribe(Recorder<Int, TestFailure>())
    outer.connections[0].send(subscription: other.connections[0])
    expectEqual(other.cancelCount, 1)
    outer.send(first)
    first.connections[0].send(subscription: other.connections[0])
    expectEqual(other.cancelCount, 2)
    expectEqual(outer.cancelCount + first.cancelCount, 0)
  }

  @Test("a publisher sent from inside a value takes over at once")
  func reentrant() {
    let subject = PassthroughSubject<AnyPublisher<Int, Never>, Never>()
    let recorder = Recorder<Int, Never>(answering: { value, _ in
      if value == 2 { subject.send([20, 21].publisher.eraseToAnyPublisher()) }
      return .none
    })
    subject.switchToLatest().subscribe(recorder)
    subject.send([1, 2, 3].publisher.eraseToAnyPublisher())
    expectEqual(recorder.values, [1, 2, 20, 21])
  }

  @Test("a publisher that is sent while one is cancelled for another is the latest, and the other is not used")
  func sentFromInsideACancel() {
    let subject = PassthroughSubject<AnyPublisher<Int, TestFailure>, TestFailure>()
    let recorder = Recorder<Int, TestFailure>()
    subject.switchToLatest().subscribe(recorder)
    let insistent = first.handleEvents(receiveCancel: { [second] in subject.send(second.eraseToAnyPublisher()) })
    subject.send(insistent.eraseToAnyPublisher())

    subject.send(Fail(error: .expected).eraseToAnyPublisher())
    #expect(recorder.completion == nil)
    second.send(1)
    subject.send(completion: .finished)
    second.send(2)
    expectEqual(recorder.events, [.subscription, .value(1), .value(2)])
    recorder.cancel()
    expectEqual(second.cancelCount, 1)
  }

  /// What happened, for a `Just` as the compiler sees it and for one that it can't see.
  private func eventsOfJust(
    isVisible: Bool,
    requesting demand: Subscribers.Demand,
    answering answer:
      @escaping (Int, Recorder<Int, TestFailure>, PassthroughSubject<Int, TestFailure>)
      -> Subscribers.Demand
  ) -> [Recorder<Int, TestFailure>.Event] {
    let outer = PassthroughSubject<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: demand, answering: { answer($0, $1, outer) })
    if isVisible {
      outer.map { Just($0) }.switchToLatest().subscribe(recorder)
    } else {
      outer.map { Just($0).setFailureType(to: TestFailure.self).eraseToAnyPublisher() }.switchToLatest()
        .subscribe(recorder)
    }
    for value in 1...3 { outer.send(value) }
    recorder.request(.max(1))
    outer.send(4)
    outer.send(completion: .finished)
    recorder.request(.max(5))
    return recorder.events
  }

  @Test(
    "the short way for Just is not to be told from a subscription to it",
    arguments: [Subscribers.Demand.none, .max(1), .max(2), .unlimited],
    0..<5
  )
  func justIsLikeOthers(demand: Subscribers.Demand, variant: Int) {
    let answer: (Int, Recorder<Int, TestFailure>, PassthroughSubject<Int, TestFailure>) -> Subscribers.Demand = {
      value,
      recorder,
      outer in
      switch (variant, value) {
      case (1, 1): outer.send(10)
      case (1, 2): recorder.request(.max(2))
      case (2, 2): outer.send(completion: .finished)
      case (3, 2): recorder.cancel()
      case (4, _): return value < 3 ? .max(1) : .none
      default: break
      }
      return .none
    }
    let short = eventsOfJust(isVisible: true, requesting: demand, answering: answer)
    let long = eventsOfJust(isVisible: false, requesting: demand, answering: answer)
    expectEqual(short, long)
    expectEqual(short.first, .subscription)
  }

  @Test("failures of different types meet, whichever side can't fail")
  func overloads() {
    let both: Publishers.SwitchToLatest<Just<Int>, TestPublisher<Just<Int>, Never>> =
      TestPublisher<Just<Int>, Never>().switchToLatest()
    _ = both
    let outerNever:
      Publishers.SwitchToLatest<Inner, Publishers.SetFailureType<TestPublisher<Inner, Never>, TestFailure>> =
        TestPublisher<Inner, Never>().switchToLatest()
    _ = outerNever
    let upstream = TestPublisher<Just<Int>, TestFailure>()
    let recorder = Recorder<Int, TestFailure>()
    upstream.switchToLatest().subscribe(recorder)
    upstream.send(Just(5))
    upstream.send(completion: .failure(.expected))
    expectEqual(recorder.events, [.subscription, .value(5), .completion(.failure(.expected))])
  }

  @Test("subscription and inner side are called SwitchToLatest")
  func reflection() {
    var side: AnySubscriber<Int, TestFailure>?
    let inner = Inner(handingOver: { side = $0 })
    let recorder = AnySubscriber<Int, TestFailure>(receiveSubscription: { expectEqual("\($0)", "SwitchToLatest") })
    outer.switchToLatest().subscribe(recorder)
    outer.send(inner)
    expectEqual(side?.description, "SwitchToLatest")
  }

  @Test("a value beyond the demand stops the process")
  func beyondDemand() async {
    await #expect(processExitsWith: .failure) {
      let inner = TestPublisher<Int, Never>()
      let outer = TestPublisher<TestPublisher<Int, Never>, Never>()
      outer.switchToLatest().subscribe(Recorder<Int, Never>(requesting: .max(1)))
      outer.send(inner)
      inner.send(1)
      inner.send(2)
    }
  }

  @Test("the end of a publisher before its subscription stops the process")
  func endBeforeSubscription() async {
    await #expect(processExitsWith: .failure) {
      let inner = TestPublisher<Int, Never>(handingOver: { $0.receive(completion: .finished) })
      let outer = TestPublisher<TestPublisher<Int, Never>, Never>()
      outer.switchToLatest().subscribe(Recorder<Int, Never>())
      outer.send(inner)
    }
  }

  @Test("after end and cancellation nobody keeps the subscriber", arguments: [true, false])
  func release(isCancelled: Bool) {
    weak var released: Recorder<Int, Never>?
    let outer = PassthroughSubject<PassthroughSubject<Int, Never>, Never>()
    let inner = PassthroughSubject<Int, Never>()
    do {
      let recorder = Recorder<Int, Never>()
      released = recorder
      outer.switchToLatest().subscribe(recorder)
      outer.send(inner)
      if isCancelled {
        recorder.cancel()
      } else {
        outer.send(completion: .finished)
        inner.send(completion: .finished)
      }
    }
    #expect(released == nil)
  }

  @Test("switches, values, ends, requests and cancellation on different threads keep the laws", arguments: 0..<60)
  func stress(seed: Int) {
    let outer = PassthroughSubject<PassthroughSubject<Int, TestFailure>, TestFailure>()
    let inners = (0..<2).map { _ in PassthroughSubject<Int, TestFailure>() }
    let keeper = LawKeeper<Int, TestFailure>(answering: seed % 3 == 0 ? .max(1) : .none)
    outer.switchToLatest().subscribe(keeper)
    race(
      seed: UInt64(seed),
      inners.indices.map { index in
        { numbers in
          for value in 0..<Int.random(in: 50..<200, using: &numbers) { inners[index].send(value) }
        }
      } + [
        { numbers in
          for _ in 0..<Int.random(in: 10..<60, using: &numbers) {
            outer.send(inners[Int.random(in: 0..<2, using: &numbers)])
          }
          outer.send(completion: seed % 5 == 1 ? .failure(.expected) : .finished)
        },
        { numbers in
          for _ in 0..<Int.random(in: 10..<100, using: &numbers) { keeper.request(.max(3)) }
          if seed % 4 == 0 { keeper.cancel() }
        },
      ]
    )
    for inner in inners { inner.send(completion: .finished) }
    expectEqual(keeper.breaches, [])
    if seed % 4 != 0 { #expect(keeper.isOver) }
  }

  @Test("an inner subscription that comes after the outer publisher has failed is cancelled")
  func lateInnerSubscription() {
    var side: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>()
    outer.switchToLatest().subscribe(recorder)
    outer.send(Inner(handingOver: { side = $0 }))
    outer.send(completion: .failure(.expected))
    let spy = SubscriptionSpy()
    side?.receive(subscription: spy)
    #expect(spy.cancelCount == 1 && spy.requests.isEmpty)
    expectEqual(recorder.completions, [.failure(.expected)])
  }
}
