import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("collect by count")
struct CollectByCountTests {
  @Test("values come in arrays, and demand and answers are multiplied by their length")
  func collects() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<[Int], TestFailure>(requesting: .max(2), answering: { _, _ in .max(3) })
    upstream.collect(2).subscribe(recorder)
    recorder.request(.unlimited)

    expectEqual(upstream.send(1), .none)
    expectEqual(upstream.send(2), .max(6))
    expectEqual(upstream.send(3), .none)

    expectEqual(upstream.requests, [.max(4), .unlimited])
    expectEqual(recorder.values, [[1, 2]])
  }

  @Test("a normal end publishes the rest without demand, and an end without a rest publishes nothing")
  func rest() {
    let upstream = TestPublisher<Int, TestFailure>()
    let collected = upstream.collect(2)
    let (first, second) = (Recorder<[Int], TestFailure>(requesting: .none), Recorder<[Int], TestFailure>())
    collected.subscribe(first)
    for value in 1...3 { upstream.send(value) }
    upstream.send(completion: .finished)
    collected.subscribe(second)
    upstream.send(completion: .finished)

    expectEqual(first.values, [[1, 2], [3]])
    #expect(first.isFinished)
    expectEqual(second.events, [.subscription, .completion(.finished)])
  }

  @Test("a failure drops the rest")
  func failure() {
    let upstream = TestPublisher<Int, TestFailure>()
    let recorder = Recorder<[Int], TestFailure>()
    upstream.collect(2).subscribe(recorder)
    upstream.send(1)
    upstream.send(completion: .failure(.expected))

    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("values before the subscription and after a cancel are ignored")
  func outOfTurn() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<[Int], TestFailure>()
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).collect(1).subscribe(recorder)
    expectEqual(subscriber?.receive(1), Subscribers.Demand.none)
    subscriber?.receive(subscription: SubscriptionSpy())
    _ = subscriber?.receive(2)
    recorder.cancel()
    _ = subscriber?.receive(3)

    expectEqual(recorder.values, [[2]])
  }

  @Test("a value that is sent from inside an array goes into the next one")
  func reentrantValue() {
    let subject = PassthroughSubject<Int, Never>()
    let recorder = Recorder<[Int], Never>(answering: { values, _ in
      if values == [1, 2] { subject.send(3) }
      return .none
    })
    subject.collect(2).subscribe(recorder)
    for value in [1, 2, 4] { subject.send(value) }

    expectEqual(recorder.values, [[1, 2], [3, 4]])
  }

  @Test("publishers of equal parts are equal")
  func equality() {
    typealias Arrays = Publishers.CollectByCount<Just<Int>>
    expectEqual(Arrays(upstream: Just(1), count: 2), Arrays(upstream: Just(1), count: 2))
    #expect(Arrays(upstream: Just(1), count: 2) != Arrays(upstream: Just(1), count: 3))
  }

  @Test("it holds one subscription, cancels it once and lets go")
  func laws() {
    SubscriptionLaws.check(
      named: "CollectByCount",
      children: ["downstream", "upstreamSubscription", "buffer", "count"]
    ) { $0.collect(2) }
  }

  @Test("a length of zero and a request for no values stop the process")
  func traps() async {
    await #expect(processExitsWith: .failure) { _ = PassthroughSubject<Int, Never>().collect(0) }
    await #expect(processExitsWith: .failure) {
      let recorder = Recorder<[Int], Never>()
      PassthroughSubject<Int, Never>().collect(1).subscribe(recorder)
      recorder.request(.none)
    }
  }

  @Test("a cancel lets go of what is kept, while the subscription is still held, and only the end passes after it")
  func cancelDropsTheRest() {
    weak var kept: Token?
    var subscriber: AnySubscriber<Token, TestFailure>?
    let recorder = Recorder<[Token], TestFailure>()
    TestPublisher<Token, TestFailure>(handingOver: { subscriber = $0 }).collect(3).subscribe(recorder)
    subscriber?.receive(subscription: SubscriptionSpy())
    do {
      let token = Token {}
      kept = token
      _ = subscriber?.receive(token)
    }
    #expect(kept != nil)
    recorder.cancel()
    #expect(kept == nil)
    subscriber?.receive(completion: .finished)
    #expect(recorder.values.isEmpty && recorder.isFinished)
  }

  @Test("a cancel between the upstream's end and its delivery drops what is kept")
  func cancelOnTheWay() throws {
    let scheduler = TestScheduler()
    let subject = PassthroughSubject<Int, Never>()
    let recorder = Recorder<[Int], Never>()
    let keeper = Keeper<[Int], Never>(recorder)
    subject.receive(on: scheduler).collect(4).subscribe(keeper)
    let subscription = try #require(keeper.subscription)
    subscription.request(.unlimited)
    for value in 1...3 { subject.send(value) }
    scheduler.advance()
    subject.send(completion: .finished)
    subscription.cancel()
    scheduler.advance()
    #expect(recorder.values.isEmpty && recorder.isFinished)
  }

  @Test("values, the end and a cancel on different threads keep the laws", arguments: 0..<60)
  func races(seed: UInt64) {
    let subject = PassthroughSubject<Int, Never>()
    let keeper = LawKeeper<[Int], Never>()
    subject.collect(3).subscribe(keeper)
    keeper.request(.unlimited)
    race(
      seed: seed,
      [
        { numbers in
          for value in 0..<UInt64.random(in: 1...90, using: &numbers) { subject.send(Int(value)) }
          subject.send(completion: .finished)
        },
        { numbers in
          for _ in 0..<UInt64.random(in: 0...40, using: &numbers) { keeper.request(.max(1)) }
          keeper.cancel()
        },
      ]
    )
    #expect(keeper.breaches.isEmpty)
  }
}
