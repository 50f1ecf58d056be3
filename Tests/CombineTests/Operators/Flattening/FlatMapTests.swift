import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("flatMap")
struct FlatMapTests {
  typealias Inner = TestPublisher<Int, TestFailure>
  typealias Outer = TestPublisher<Inner, TestFailure>

  let outer = Outer()
  let first = Inner()
  let second = Inner()

  @Test("the subscriber gets its subscription before the upstream is subscribed to")
  func selfFirst() {
    var order: [String] = []
    let outer = TestPublisher<Int, Never>(whenSubscribed: { _ in order.append("upstream") })
    outer.flatMap { Just($0) }.subscribe(
      AnySubscriber<Int, Never>(receiveSubscription: { order.append("downstream \($0)") })
    )
    expectEqual(order, ["downstream FlatMap", "upstream"])
  }

  @Test("values of all publishers made arrive as they come, and the end after the last of them")
  func values() {
    let recorder = Recorder<Int, TestFailure>()
    outer.flatMap { $0 }.subscribe(recorder)
    expectEqual(outer.send(first), .none)
    outer.send(second)
    expectEqual(outer.requests, [.unlimited])
    expectEqual(first.requests, [.unlimited])
    expectEqual(second.requests, [.unlimited])

    expectEqual(first.send(1), .none)
    second.send(2)
    first.send(3)
    expectEqual(recorder.values, [1, 2, 3])

    outer.send(completion: .finished)
    first.send(completion: .finished)
    #expect(recorder.completion == nil)
    second.send(completion: .finished)
    expectEqual(recorder.completions, [.finished])
    expectEqual(outer.cancelCount + first.cancelCount + second.cancelCount, 0)
  }

  @Test(
    "without demand values wait in the order of their arrival, and each one delivered asks its publisher for another"
  )
  func queue() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    outer.flatMap { $0 }.subscribe(recorder)
    outer.send(first)
    outer.send(second)
    expectEqual(first.requests, [.max(1)])
    expectEqual(second.send(20), .none)
    expectEqual(first.send(10), .none)
    expectEqual(recorder.values, [])

    recorder.request(.max(1))
    expectEqual(recorder.values, [20])
    expectEqual(second.requests, [.max(1), .max(1)])
    expectEqual(first.requests, [.max(1)])

    recorder.request(.max(2))
    expectEqual(recorder.values, [20, 10])
    expectEqual(first.send(11), .max(1))
    expectEqual(first.send(12), .none)
    expectEqual(recorder.values, [20, 10, 11])
  }

  @Test("once there is no limit, what waits is delivered and all publishers made are told")
  func unlimited() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1))
    outer.flatMap { $0 }.subscribe(recorder)
    outer.send(first)
    outer.send(second)
    expectEqual(first.send(1), .max(1))
    first.send(2)
    second.send(3)
    recorder.request(.unlimited)
    expectEqual(recorder.values, [1, 2, 3])
    expectEqual(first.requests, [.max(1), .unlimited])
    expectEqual(second.requests, [.max(1), .unlimited])
    expectEqual(first.send(4), .none)
    expectEqual(recorder.values, [1, 2, 3, 4])
  }

  @Test("unlimited demand returned for a value counts like a request")
  func unlimitedAnswer() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1), answering: { _, _ in .unlimited })
    outer.flatMap { $0 }.subscribe(recorder)
    outer.send(first)
    first.send(1)
    expectEqual(first.requests, [.max(1), .unlimited])
    first.send(2)
    expectEqual(recorder.values, [1, 2])
  }

  @Test("demand returned for a value releases what waits")
  func answers() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none, answering: { value, _ in value < 3 ? .max(1) : .none })
    outer.flatMap { $0 }.subscribe(recorder)
    outer.send(first)
    for value in 1...4 { first.send(value) }
    recorder.request(.max(1))
    expectEqual(recorder.values, [1, 2, 3])
  }

  @Test("a request from inside a value is served after it, in order")
  func requestInside() {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .none,
      answering: { _, recorder in
        recorder.request(.max(1))
        return .none
      }
    )
    outer.flatMap { $0 }.subscribe(recorder)
    outer.send(first)
    for value in 1...4 { first.send(value) }
    recorder.request(.max(1))
    expectEqual(recorder.values, [1, 2, 3, 4])
    expectEqual(first.send(5), .max(1))
    expectEqual(recorder.values, [1, 2, 3, 4, 5])
  }

  @Test(
    "a value sent from inside a value comes behind those that wait",
    arguments: [Subscribers.Demand.max(3), .unlimited],
    [true, false]
  )
  func sendInsideQueue(demand: Subscribers.Demand, isJust: Bool) {
    let outer = PassthroughSubject<Int, TestFailure>()
    let (first, second) = (first, second)
    let recorder = Recorder<Int, TestFailure>(
      requesting: .none,
      answering: { value, _ in
        if value == 1 { if isJust { outer.send(9) } else { second.send(9) } }
        return .none
      }
    )
    if isJust {
      outer.flatMap { Just($0) }.subscribe(recorder)
      for value in 1...2 { outer.send(value) }
    } else {
      let inners = [first, second]
      outer.flatMap { inners[$0] }.subscribe(recorder)
      for index in 0...1 { outer.send(index) }
      for value in 1...2 { first.send(value) }
    }
    recorder.request(demand)
    expectEqual(recorder.values, [1, 2, 9])
  }

  @Test("a limit on active publishers limits what is asked of the upstream", arguments: [true, false])
  func maxPublishers(usesJust: Bool) {
    let outer = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>()
    if usesJust {
      outer.flatMap(maxPublishers: .max(2)) { Just($0) }.subscribe(recorder)
    } else {
      outer.flatMap(maxPublishers: .max(2)) { Just($0).setFailureType(to: TestFailure.self).eraseToAnyPublisher() }
        .subscribe(recorder)
    }
    expectEqual(outer.requests, [.max(2)])
    outer.send(1)
    expectEqual(outer.requests, [.max(2), .max(1)])
    outer.send(2)
    outer.send(completion: .finished)
    expectEqual(recorder.values, [1, 2])
    expectEqual(recorder.completions, [.finished])
    expectEqual(outer.requests, [.max(2), .max(1), .max(1)])
  }

  @Test("once the upstream has ended nothing more is asked of it", arguments: [true, false])
  func nothingAskedAfterEnd(usesJust: Bool) {
    let outer = TestPublisher<Int, TestFailure>()
    let subject = PassthroughSubject<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    if usesJust {
      outer.flatMap(maxPublishers: .max(1)) { Just($0) }.subscribe(recorder)
    } else {
      outer.flatMap(maxPublishers: .max(1)) { _ in subject }.subscribe(recorder)
    }
    outer.send(1)
    outer.send(completion: .finished)
    subject.send(completion: .finished)
    recorder.request(.max(3))
    #expect(recorder.isFinished)
    expectEqual(outer.requests.filter { $0 == .max(1) }.count, usesJust ? 2 : 1)
  }

  @Test("a cancel reaches the publishers made and then the upstream; a failure of that the former, and then downstream")
  func orderOfCancels() {
    func order(_ end: (AnySubscriber<Int, TestFailure>?, any Subscription) -> Void) -> [String] {
      var order: [String] = []
      var subscriber: AnySubscriber<Int, TestFailure>?
      var held: any Subscription = Subscriptions.empty
      let inner = Inner(handingOver: { $0.receive(subscription: NotedSubscription { order.append("inner") }) })
      TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).flatMap { _ in inner }.subscribe(
        AnySubscriber<Int, TestFailure>(
          receiveSubscription: { held = $0 },
          receiveCompletion: { _ in order.append("end") }
        )
      )
      subscriber?.receive(subscription: NotedSubscription { order.append("outer") })
      _ = subscriber?.receive(1)
      end(subscriber, held)
      return order
    }
    expectEqual(order { $1.cancel() }, ["inner", "outer"])
    expectEqual(order { outer, _ in outer?.receive(completion: .failure(.expected)) }, ["inner", "end"])
  }

  @Test("no publishers at a time is asked of the upstream as it is")
  func maxNone() {
    let outer = TestPublisher<Int, Never>()
    outer.flatMap(maxPublishers: .none) { Just($0) }.subscribe(Recorder<Int, Never>())
    expectEqual(outer.requests, [.none])
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
      outer.flatMap { Just($0) }.subscribe(recorder)
    } else {
      outer.flatMap { Just($0).setFailureType(to: TestFailure.self).eraseToAnyPublisher() }.subscribe(recorder)
    }
    for value in 1...3 { outer.send(value) }
    recorder.request(.max(1))
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

  @Test("an end that comes from inside the value of a Just waits for the value")
  func endInsideJust() {
    var log: [String] = []
    let outer = PassthroughSubject<Int, Never>()
    let subscription = outer.flatMap { Just($0) }.sink(
      receiveCompletion: { _ in log.append("end") },
      receiveValue: { _ in
        outer.send(completion: .finished)
        log.append("value")
      }
    )
    outer.send(1)
    expectEqual(log, ["value", "end"])
    subscription.cancel()
  }

  @Test("a failure of one publisher made cancels the others, not the upstream, and ends the stream")
  func childFails() {
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1))
    outer.flatMap { $0 }.subscribe(recorder)
    outer.send(first)
    outer.send(second)
    second.send(1)
    second.send(2)
    first.send(completion: .failure(.expected))
    expectEqual(recorder.completions, [.failure(.expected)])
    expectEqual(recorder.values, [1])
    expectEqual(first.cancelCount, 0)
    expectEqual(second.cancelCount, 1)
    expectEqual(outer.cancelCount, 0)

    outer.send(Inner())
    outer.send(completion: .failure(.other))
    first.send(9)
    expectEqual(recorder.completions, [.failure(.expected)])
    expectEqual(recorder.values, [1])
  }

  @Test("a publisher made that finishes twice counts once")
  func finishesTwice() {
    var side: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>()
    outer.flatMap(maxPublishers: .max(2)) { $0 }.subscribe(recorder)
    outer.send(Inner(handingOver: { side = $0 }))
    outer.send(second)
    side?.receive(subscription: SubscriptionSpy())
    for _ in 0..<2 { side?.receive(completion: .finished) }
    expectEqual(outer.requests, [.max(2), .max(1)])
    outer.send(completion: .finished)
    second.send(1)
    expectEqual(recorder.events, [.subscription, .value(1)])
    second.send(completion: .finished)
    #expect(recorder.isFinished)
  }

  @Test("a failure of the upstream cancels the publishers made and ends the stream")
  func outerFails() {
    let recorder = Recorder<Int, TestFailure>()
    outer.flatMap { $0 }.subscribe(recorder)
    outer.send(first)
    outer.send(completion: .failure(.expected))
    expectEqual(first.cancelCount, 1)
    expectEqual(recorder.completions, [.failure(.expected)])
    outer.send(completion: .finished)
    expectEqual(recorder.completions.count, 1)
  }

  @Test("a publisher made that ends the others from inside its cancellation does no harm")
  func cancelReenters() {
    let recorder = Recorder<Int, TestFailure>()
    let reentrant = PassthroughSubject<Int, TestFailure>()
    let inners = [
      reentrant.eraseToAnyPublisher(), first.eraseToAnyPublisher(),
      second.eraseToAnyPublisher(),
    ]
    let outer = PassthroughSubject<Int, TestFailure>()
    outer.flatMap { inners[$0] }.subscribe(
      Recorder<Int, TestFailure>(whenCompleted: {
        outer.send(0)
        outer.send(completion: .failure(.other))
        reentrant.send(completion: .failure(.other))
        recorder.cancel()
      })
    )
    for index in inners.indices { outer.send(index) }
    outer.send(completion: .failure(.expected))
    expectEqual(first.cancelCount, 1)
  }

  @Test("a publisher made whose subscription has not come counts: the end waits for it")
  func awaitedChild() {
    var side: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>()
    outer.flatMap { $0 }.subscribe(recorder)
    outer.send(Inner(handingOver: { side = $0 }))
    outer.send(completion: .finished)
    #expect(recorder.completion == nil)
    side?.receive(subscription: SubscriptionSpy())
    _ = side?.receive(1)
    side?.receive(completion: .finished)
    expectEqual(recorder.events, [.subscription, .value(1), .completion(.finished)])
  }

  @Test("values that wait are delivered after the end of all upstreams, before the end")
  func endWaitsForQueue() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    outer.flatMap { $0 }.subscribe(recorder)
    outer.send(first)
    first.send(1)
    first.send(completion: .finished)
    outer.send(completion: .finished)
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    expectEqual(recorder.events, [.subscription, .value(1), .completion(.finished)])
  }

  @Test("an upstream that finishes without a value finishes the stream without demand")
  func empty() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    outer.flatMap { $0 }.subscribe(recorder)
    outer.send(completion: .finished)
    outer.send(completion: .finished)
    expectEqual(recorder.completions, [.finished])
  }

  @Test("cancelling cancels the publishers made and then the upstream, once")
  func cancels() {
    let recorder = Recorder<Int, TestFailure>()
    outer.flatMap { $0 }.subscribe(recorder)
    outer.send(first)
    recorder.cancel()
    recorder.cancel()
    expectEqual(first.cancelCount, 1)
    expectEqual(outer.cancelCount, 1)
    #expect(recorder.completion == nil)
  }

  @Test("cancelled from inside a value, the rest of a queue stays undelivered")
  func cancelInside() {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .none,
      answering: { _, recorder in
        recorder.cancel()
        return .max(3)
      }
    )
    outer.flatMap { $0 }.subscribe(recorder)
    outer.send(first)
    for value in 1...3 { first.send(value) }
    recorder.request(.unlimited)
    expectEqual(recorder.values, [1])
    expectEqual(first.cancelCount, 1)
  }

  @Test("an upstream whose subscription comes after cancellation is cancelled, and so is a second one")
  func lateSubscriptions() {
    var subscriber: AnySubscriber<Int, Never>?
    let late = TestPublisher<Int, Never>(handingOver: { subscriber = $0 })
    let recorder = Recorder<Int, Never>()
    late.flatMap { Just($0) }.subscribe(recorder)
    let other = TestPublisher<Int, Never>()
    let used = TestPublisher<Int, Never>()
    used.flatMap { Just($0) }.subscribe(Recorder<Int, Never>())
    other.subscribe(Recorder<Int, Never>())
    used.connections[0].send(subscription: other.connections[0])
    expectEqual(other.cancelCount, 1)
    expectEqual(used.cancelCount, 0)

    recorder.cancel()
    other.subscribe(Recorder<Int, Never>())
    subscriber?.receive(subscription: other.connections[1])
    expectEqual(other.connections[1].cancelCount, 1)
  }

  @Test("a publisher made gets one subscription kept and the others cancelled")
  func secondChildSubscription() {
    let recorder = Recorder<Int, TestFailure>()
    outer.flatMap { $0 }.subscribe(recorder)
    outer.send(first)
    second.subscribe(Recorder<Int, TestFailure>())
    first.connections[0].send(subscription: second.connections[0])
    expectEqual(second.cancelCount, 1)
    expectEqual(first.cancelCount, 0)
  }

  @Test("failures of different types meet, whichever side can't fail")
  func overloads() {
    let never: Publishers.FlatMap<Just<Int>, TestPublisher<Int, Never>> = TestPublisher<Int, Never>().flatMap {
      Just($0)
    }
    _ = never
    let innerNever:
      Publishers.FlatMap<Publishers.SetFailureType<Just<Int>, TestFailure>, TestPublisher<Int, TestFailure>> =
        TestPublisher<Int, TestFailure>().flatMap { Just($0) }
    _ = innerNever
    let outerNever: Publishers.FlatMap<Inner, Publishers.SetFailureType<TestPublisher<Int, Never>, TestFailure>> =
      TestPublisher<Int, Never>().flatMap { _ in Inner() }
    let recorder = Recorder<Int, TestFailure>()
    outerNever.subscribe(recorder)
    outerNever.upstream.upstream.send(3)
    outerNever.upstream.upstream.send(completion: .finished)
    #expect(recorder.completion == nil)
  }

  @Test("subscription and publishers' sides are called FlatMap, and a side knows its parent")
  func reflection() {
    var parent: CombineIdentifier?
    let recorder = AnySubscriber<Int, TestFailure>(receiveSubscription: {
      parent = $0.combineIdentifier
      expectEqual("\($0)", "FlatMap")
      #expect(Mirror(reflecting: $0).children.isEmpty)
    })
    var side: AnySubscriber<Int, TestFailure>?
    let inner = Inner(handingOver: { side = $0 })
    outer.flatMap { $0 }.subscribe(recorder)
    outer.send(inner)
    expectEqual(side?.description, "FlatMap")
    let child = side?.customMirror.children.first
    expectEqual(child?.label, "parentSubscription")
    expectEqual(child?.value as? CombineIdentifier, parent)
  }

  @Test("a request for no values stops the process")
  func requestNone() async {
    await #expect(processExitsWith: .failure) {
      TestPublisher<Int, Never>().flatMap { Just($0) }.subscribe(
        AnySubscriber<Int, Never>(receiveSubscription: { $0.request(.none) })
      )
    }
  }

  @Test("after end and cancellation nobody keeps the subscriber", arguments: [true, false])
  func release(isCancelled: Bool) {
    weak var released: Recorder<Int, Never>?
    let outer = PassthroughSubject<Int, Never>()
    let inner = PassthroughSubject<Int, Never>()
    do {
      let recorder = Recorder<Int, Never>()
      released = recorder
      outer.flatMap { _ in inner }.subscribe(recorder)
      outer.send(1)
      if isCancelled {
        recorder.cancel()
      } else {
        outer.send(completion: .finished)
        inner.send(completion: .finished)
      }
    }
    #expect(released == nil)
  }

  @Test("a long row of synchronous publishers is flattened in one go, with any limit", arguments: [1, 3, nil])
  func manySynchronous(limit: Int?) {
    let recorder = Recorder<Int, Never>()
    (0..<20_000).publisher
      .flatMap(maxPublishers: limit.map { .max($0) } ?? .unlimited) { [$0, -$0].publisher }
      .subscribe(recorder)
    expectEqual(recorder.values.count, 40_000)
    expectEqual(recorder.values.last, -19_999)
    #expect(recorder.isFinished)
  }

  @Test("values, ends, requests and cancellation on different threads keep the laws", arguments: 0..<60)
  func stress(seed: Int) {
    let outer = PassthroughSubject<Int, TestFailure>()
    let inners = (0..<3).map { _ in PassthroughSubject<Int, TestFailure>() }
    let keeper = LawKeeper<Int, TestFailure>(answering: seed % 3 == 0 ? .max(1) : .none)
    outer.flatMap { inners[$0] }.subscribe(keeper)
    for index in inners.indices { outer.send(index) }
    race(
      seed: UInt64(seed),
      inners.indices.map { index in
        { numbers in
          for value in 0..<Int.random(in: 50..<200, using: &numbers) { inners[index].send(value) }
          inners[index].send(completion: seed % 5 == 1 && index == 0 ? .failure(.expected) : .finished)
        }
      } + [
        { numbers in
          for _ in 0..<Int.random(in: 10..<100, using: &numbers) { keeper.request(.max(3)) }
          if seed % 4 == 0 { keeper.cancel() } else { keeper.request(.unlimited) }
          if seed % 2 == 0 { outer.send(completion: .finished) }
        }
      ]
    )
    outer.send(completion: .finished)
    expectEqual(keeper.breaches, [])
    if seed % 4 != 0 { #expect(keeper.isOver) }
  }
}
