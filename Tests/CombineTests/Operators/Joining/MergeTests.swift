import Combine
import Expectations
import Foundation
import ReboundTesting
import Testing

@Suite("merge")
struct MergeTests {
  let a = TestPublisher<Int, TestFailure>()
  let b = TestPublisher<Int, TestFailure>()

  @Test("values of all arrive as they come, and the end when all have finished")
  func values() {
    let recorder = Recorder<Int, TestFailure>()
    Publishers.Merge(a, b).subscribe(recorder)
    expectEqual(a.requests, [.unlimited])
    expectEqual(b.requests, [.unlimited])
    expectEqual(a.send(1), .none)
    b.send(2)
    a.send(completion: .finished)
    a.send(3)
    #expect(recorder.completion == nil)
    b.send(4)
    b.send(completion: .finished)
    expectEqual(recorder.values, [1, 2, 3, 4])
    expectEqual(recorder.completions, [.finished])
    expectEqual(a.cancelCount + b.cancelCount, 0)
  }

  @Test("each upstream is asked for one value at a time, which waits until it is owed, in the order of upstreams")
  func demand() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    Publishers.Merge(a, b).subscribe(recorder)
    expectEqual(a.requests, [.max(1)])
    expectEqual(b.send(20), .none)
    expectEqual(a.send(10), .none)
    recorder.request(.max(1))
    expectEqual(recorder.values, [10])
    expectEqual(a.requests, [.max(1), .max(1)])
    expectEqual(b.requests, [.max(1)])
    recorder.request(.max(2))
    expectEqual(recorder.values, [10, 20])
    expectEqual(a.send(11), .max(1))
    expectEqual(a.send(12), .none)
    expectEqual(recorder.values, [10, 20, 11])
  }

  @Test("a value beyond what was asked for takes the place of the one that waits")
  func overwrites() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    Publishers.Merge(a, b).subscribe(recorder)
    a.send(1)
    a.send(2)
    recorder.request(.max(5))
    expectEqual(recorder.values, [2])
  }

  @Test("a value that waits goes first when its upstream is told from another thread that there is no limit any more")
  func noLimitFromAnotherThread() {
    let (a, b, requested) = (a, b, Signal())
    let recorder = Recorder<Int, TestFailure>(
      requesting: .none,
      answering: { value, recorder in
        guard value == 1 else { return .none }
        Thread.detachNewThread {
          recorder.request(.unlimited)
          requested.send()
        }
        #expect(requested.wait())
        b.send(3)
        return .none
      }
    )
    Publishers.Merge(a, b).subscribe(recorder)
    a.send(1)
    b.send(2)
    recorder.request(.max(1))
    expectEqual(b.requests, [.max(1), .unlimited])
    expectEqual(recorder.values, [1, 2, 3])
  }

  @Test("once there is no limit, what waits is delivered and all upstreams are told")
  func unlimited() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none, answering: { _, _ in .max(7) })
    Publishers.Merge(a, b).subscribe(recorder)
    b.send(2)
    a.send(1)
    recorder.request(.unlimited)
    expectEqual(recorder.values, [1, 2])
    expectEqual(a.requests, [.max(1), .unlimited])
    expectEqual(b.requests, [.max(1), .unlimited])
    expectEqual(a.send(3), .max(7))
    recorder.request(.max(1))
    expectEqual(a.requests, [.max(1), .unlimited])
  }

  @Test("demand that a value is answered with releases what waits")
  func answers() {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .none,
      answering: { value, _ in value == 1 ? .unlimited : .none }
    )
    Publishers.Merge(a, b).subscribe(recorder)
    a.send(1)
    b.send(2)
    recorder.request(.max(1))
    expectEqual(recorder.values, [1, 2])
    expectEqual(b.requests, [.max(1), .unlimited])
  }

  @Test("synchronous upstreams lose nothing when the limit falls away from inside a value")
  func synchronous() {
    let recorder = Recorder<Int, Never>(requesting: .max(1), answering: { _, _ in .unlimited })
    (0..<4).publisher.merge(with: (10..<14).publisher, (20..<24).publisher).subscribe(recorder)
    expectEqual(recorder.values.sorted(), Array(0..<4) + Array(10..<14) + Array(20..<24))
    #expect(recorder.isFinished)
  }

  @Test("a request from inside a value is served after it")
  func requestInside() {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .none,
      answering: { _, recorder in
        recorder.request(.max(1))
        return .none
      }
    )
    Publishers.Merge(a, b).subscribe(recorder)
    a.send(1)
    b.send(2)
    recorder.request(.max(1))
    expectEqual(recorder.values, [1, 2])
  }

  @Test("values that wait are delivered before the end")
  func endWaits() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    Publishers.Merge(a, b).subscribe(recorder)
    a.send(1)
    a.send(completion: .finished)
    b.send(completion: .finished)
    #expect(recorder.completion == nil)
    recorder.request(.max(1))
    expectEqual(recorder.events, [.subscription, .value(1), .completion(.finished)])
  }

  @Test("an upstream that finishes twice counts once")
  func finishesTwice() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>()
    Publishers.Merge(TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }), b).subscribe(recorder)
    subscriber?.receive(subscription: SubscriptionSpy())
    for _ in 0..<2 { subscriber?.receive(completion: .finished) }
    b.send(1)
    expectEqual(recorder.events, [.subscription, .value(1)])
    b.send(completion: .finished)
    #expect(recorder.isFinished)
  }

  @Test("a failure cancels the others, drops what waits and ends the stream")
  func fails() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    Publishers.Merge(a, b).subscribe(recorder)
    a.send(1)
    b.send(completion: .failure(.expected))
    expectEqual(a.cancelCount, 1)
    expectEqual(b.cancelCount, 0)
    recorder.request(.max(1))
    a.send(completion: .failure(.other))
    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("after a failure nobody keeps the values that waited, however long the subscription is kept")
  func failureReleasesWaiting() {
    final class Token {}
    weak var waiting: Token?
    let (a, b) = (TestPublisher<Token, TestFailure>(), TestPublisher<Token, TestFailure>())
    let keeper = Keeper<Token, TestFailure>()
    Publishers.Merge(a, b).subscribe(keeper)
    do {
      let token = Token()
      waiting = token
      a.send(token)
    }
    #expect(waiting != nil)
    b.send(completion: .failure(.expected))
    #expect(waiting == nil)
    #expect(keeper.subscription != nil)
  }

  @Test("when all finish from inside the last value that waited, the end comes after it")
  func endInsideWaiting() {
    var order: [String] = []
    let recorder = Recorder<Int, TestFailure>(
      requesting: .none,
      answering: { [a, b] _, _ in
        a.send(completion: .finished)
        b.send(completion: .finished)
        order.append("value")
        return .none
      },
      whenCompleted: { order.append("end") }
    )
    Publishers.Merge(a, b).subscribe(recorder)
    a.send(1)
    recorder.request(.max(1))
    expectEqual(order, ["value", "end"])
  }

  @Test("cancelling, also from inside a value, cancels all once; an upstream that comes later is cancelled")
  func cancels() {
    let recorder = Recorder<Int, TestFailure>(answering: { _, recorder in
      recorder.cancel()
      return .none
    })
    let talkative = TestPublisher<Int, TestFailure>(whenSubscribed: { $0.send(1) })
    a.merge(with: talkative, b).subscribe(recorder)
    expectEqual(recorder.events, [.subscription, .value(1)])
    expectEqual(a.cancelCount, 1)
    expectEqual(talkative.cancelCount, 1)
    expectEqual(b.cancelCount, 1)
    expectEqual(b.requests, [])
  }

  @Test("what an answer made it want to ask is not asked any more after a cancel from inside the next value")
  func cancelBeforeAsking() {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .none,
      answering: { value, recorder in
        if value == 2 { recorder.cancel() }
        return value == 1 ? .unlimited : .none
      }
    )
    Publishers.Merge(a, b).subscribe(recorder)
    a.send(1)
    b.send(2)
    recorder.request(.max(1))
    expectEqual(recorder.values, [1, 2])
    #expect(a.requests == [.max(1)] && b.requests == [.max(1)])
    #expect(a.cancelCount == 1 && b.cancelCount == 1)
  }

  @Test("a second subscription of an upstream is cancelled")
  func secondSubscription() {
    let spare = TestPublisher<Int, TestFailure>()
    spare.subscribe(Recorder<Int, TestFailure>())
    Publishers.Merge(a, b).subscribe(Recorder<Int, TestFailure>())
    a.connections[0].send(subscription: spare.connections[0])
    expectEqual(spare.cancelCount, 1)
    expectEqual(a.cancelCount, 0)
  }

  @Test("two to eight publishers, joined at once or one after another, are one flat publisher")
  func arities() {
    let one = [1].publisher
    let two = Just(2)
    let m2: Publishers.Merge<Publishers.Sequence<[Int], Never>, Just<Int>> = one.merge(with: two)
    let m3: Publishers.Merge3 = m2.merge(with: one)
    let m4: Publishers.Merge4 = m3.merge(with: two)
    let m5: Publishers.Merge5 = m4.merge(with: one)
    let m6: Publishers.Merge6 = m5.merge(with: two)
    let m7: Publishers.Merge7 = m6.merge(with: one)
    let m8: Publishers.Merge8 = m7.merge(with: two)
    expectEqual(m3, one.merge(with: two, one))
    expectEqual(m4, one.merge(with: two, one, two))
    expectEqual(m5, one.merge(with: two, one, two, one))
    expectEqual(m6, one.merge(with: two, one, two, one, two))
    expectEqual(m7, one.merge(with: two, one, two, one, two, one))
    expectEqual(m8, one.merge(with: two, one, two, one, two, one, two))
    expectEqual(m8, m2.merge(with: one, two, one, two, one, two))
    expectEqual(m8, m3.merge(with: two, one, two, one, two))
    expectEqual(m8, m4.merge(with: one, two, one, two))
    expectEqual(m8, m5.merge(with: two, one, two))
    expectEqual(m8, m6.merge(with: one, two))
    expectEqual(m7, m2.merge(with: one, two, one, two, one))
    expectEqual(m6, m3.merge(with: two, one, two))
    expectEqual(m5, m3.merge(with: two, one))
    expectEqual(m4, m2.merge(with: one, two))

    // Eight is the most: what is added to them goes beside.
    #expect("\(type(of: m8.merge(with: two)))".hasPrefix("Merge<Merge8<"))
    func check(_ publisher: some Publisher<Int, Never>, count: Int) {
      let recorder = Recorder<Int, Never>()
      publisher.subscribe(recorder)
      expectEqual(recorder.values.count, count)
      #expect(recorder.isFinished)
    }
    check(m2, count: 2)
    check(m3, count: 3)
    check(m4, count: 4)
    check(m5, count: 5)
    check(m6, count: 6)
    check(m7, count: 7)
    check(m8, count: 8)
  }

  @Test("publishers of one type are merged in any number")
  func many() {
    let many: Publishers.MergeMany<TestPublisher<Int, TestFailure>> = a.merge(with: b)
    expectEqual(many.publishers.count, 2)
    expectEqual([1].publisher.merge(with: [2].publisher), Publishers.MergeMany([1].publisher, [2].publisher))
    let recorder = Recorder<Int, Never>()
    let sequences = Publishers.MergeMany((0..<5_000).map { [$0].publisher }).merge(with: [5_000].publisher)
    expectEqual(sequences.publishers.count, 5_001)
    sequences.subscribe(recorder)
    expectEqual(recorder.values, Array(0...5_000))
    #expect(recorder.isFinished)
  }

  @Test("upstreams are subscribed to in the order written, after the subscription downstream")
  func order() {
    var order: [String] = []
    func side(_ name: String) -> TestPublisher<Int, TestFailure> {
      TestPublisher(whenSubscribed: { _ in order.append(name) })
    }
    Publishers.Merge4(side("a"), side("b"), side("c"), side("d")).subscribe(
      AnySubscriber<Int, TestFailure>(receiveSubscription: { _ in order.append("downstream") })
    )
    Publishers.MergeMany(side("e"), side("f")).subscribe(AnySubscriber<Int, TestFailure>())
    expectEqual(order, ["downstream", "a", "b", "c", "d", "e", "f"])
  }

  @Test("a subscriber that asked for everything before has each upstream asked for everything at once")
  func unlimitedFromTheStart() {
    let recorder = Recorder<Int, TestFailure>()
    a.merge(with: b).subscribe(recorder)
    #expect(a.requests == [.unlimited] && b.requests == [.unlimited])
  }

  @Test("thousands of upstreams that wait are served one by one in linear time, and together without a deep stack")
  func manyWaiting() {
    let recorder = Recorder<Int, Never>(requesting: .none)
    Publishers.MergeMany((0..<5_000).map { [$0, -$0].publisher }).subscribe(recorder)
    for _ in 0..<2_000 { recorder.request(.max(1)) }
    recorder.request(.max(8_000))
    expectEqual(recorder.values.count, 10_000)
    #expect(recorder.isFinished)
  }

  @Test("no publishers finish upon the first request")
  func none() {
    let recorder = Recorder<Int, Never>(requesting: .none)
    Publishers.MergeMany([Just<Int>]()).subscribe(recorder)
    expectEqual(recorder.events, [.subscription])
    recorder.request(.max(1))
    expectEqual(recorder.events, [.subscription, .completion(.finished)])
  }

  @Test("subscription and sides are called Merge, and a side knows its parent")
  func reflection() {
    var side: AnySubscriber<Int, TestFailure>?
    var parent: CombineIdentifier?
    a.merge(with: TestPublisher<Int, TestFailure>(handingOver: { side = $0 })).subscribe(
      AnySubscriber<Int, TestFailure>(receiveSubscription: {
        parent = $0.combineIdentifier
        expectEqual("\($0)", "Merge")
      })
    )
    expectEqual(side?.description, "Merge")
    expectEqual(side?.customMirror.children.first?.label, "parentSubscription")
    expectEqual(side?.customMirror.children.first?.value as? CombineIdentifier, parent)
  }

  @Test("after end and cancellation nobody keeps the subscriber", arguments: [true, false])
  func release(isCancelled: Bool) {
    weak var released: Recorder<Int, Never>?
    let first = PassthroughSubject<Int, Never>()
    let second = PassthroughSubject<Int, Never>()
    do {
      let recorder = Recorder<Int, Never>()
      released = recorder
      first.merge(with: second).subscribe(recorder)
      if isCancelled {
        recorder.cancel()
      } else {
        first.send(completion: .finished)
        second.send(completion: .finished)
      }
    }
    #expect(released == nil)
  }

  @Test("values, ends, requests and cancellation on different threads keep the laws", arguments: 0..<60)
  func stress(seed: Int) {
    let sides = (0..<3).map { _ in PassthroughSubject<Int, TestFailure>() }
    let keeper = LawKeeper<Int, TestFailure>(answering: seed % 3 == 0 ? .max(1) : .none)
    sides[0].merge(with: sides[1], sides[2]).subscribe(keeper)
    race(
      seed: UInt64(seed),
      sides.indices.map { index in
        { numbers in
          for value in 0..<Int.random(in: 50..<200, using: &numbers) { sides[index].send(value) }
          sides[index].send(completion: seed % 5 == 1 && index == 0 ? .failure(.expected) : .finished)
        }
      } + [
        { numbers in
          for _ in 0..<Int.random(in: 10..<100, using: &numbers) { keeper.request(.max(3)) }
          if seed % 4 == 0 { keeper.cancel() } else { keeper.request(.unlimited) }
        }
      ]
    )
    expectEqual(keeper.breaches, [])
    if seed % 4 != 0 { #expect(keeper.isOver) }
  }
}
