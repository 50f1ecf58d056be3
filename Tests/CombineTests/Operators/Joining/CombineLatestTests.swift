import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("combineLatest")
struct CombineLatestTests {
  let a = TestPublisher<Int, TestFailure>()
  let b = TestPublisher<String, TestFailure>()

  @Test("once each has sent a value, every value comes with the latest of the others")
  func latest() {
    let recorder = Recorder<String, TestFailure>()
    a.combineLatest(b) { "\($0)\($1)" }.subscribe(recorder)
    a.send(1)
    a.send(2)
    expectEqual(recorder.values, [])
    expectEqual(b.send("x"), .none)
    b.send("y")
    a.send(3)
    expectEqual(recorder.values, ["2x", "2y", "3y"])
  }

  @Test("three and four publishers combine in the same way")
  func arities() {
    let c = TestPublisher<Int, TestFailure>()
    let d = TestPublisher<Int, TestFailure>()
    let three = Recorder<String, TestFailure>()
    a.combineLatest(b, c) { "\($0)\($1)\($2)" }.subscribe(three)
    a.send(1)
    b.send("x")
    c.send(2)
    b.send("y")
    expectEqual(three.values, ["1x2", "1y2"])

    let four = Recorder<String, TestFailure>()
    a.combineLatest(b, c, d).map { "\($0)" }.subscribe(four)
    a.combineLatest(b, c, d) { "\($0)\($1)\($2)\($3)" }.subscribe(Recorder<String, TestFailure>())
    expectEqual(d.subscriptionCount, 2)
    a.connections[1].send(1)
    b.connections[1].send("z")
    c.connections[1].send(3)
    expectEqual(four.values, [])
    d.connections[0].send(4)
    expectEqual(four.values, [#"(1, "z", 3, 4)"#])
  }

  @Test("synchronous publishers run dry one after another")
  func synchronous() {
    var rows: [String] = []
    _ = [1, 2].publisher.combineLatest([8, 9].publisher).sink { rows.append("\($0)\($1)") }
    expectEqual(rows, ["28", "29"])
  }

  @Test("demand goes to all, and is lowered by what is delivered; a value beyond it is only kept")
  func demand() {
    let recorder = Recorder<String, TestFailure>(requesting: .max(1))
    a.combineLatest(b) { "\($0)\($1)" }.subscribe(recorder)
    expectEqual(a.requests, [.max(1)])
    expectEqual(b.requests, [.max(1)])
    a.send(1)
    b.send("x")
    a.send(2)
    expectEqual(recorder.values, ["1x"])
    recorder.request(.max(1))
    expectEqual(recorder.values, ["1x"])
    expectEqual(a.requests, [.max(1), .max(1)])
    b.send("y")
    expectEqual(recorder.values, ["1x", "2y"])
  }

  @Test("what a value is answered with goes to the one that sent it only")
  func answers() {
    let recorder = Recorder<String, TestFailure>(requesting: .max(1), answering: { _, _ in .max(3) })
    a.combineLatest(b) { "\($0)\($1)" }.subscribe(recorder)
    a.send(1)
    expectEqual(b.send("x"), .max(3))
    expectEqual(a.requests, [.max(1)])
    expectEqual(b.requests, [.max(1)])
  }

  @Test("what is asked from inside a row is asked of all once, and not again after later rows")
  func requestInside() {
    var answers = 0
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(3),
      answering: { _, recorder in
        answers += 1
        if answers == 1 { recorder.request(.max(2)) }
        return .none
      }
    )
    let (a, b) = (TestPublisher<Int, TestFailure>(), TestPublisher<Int, TestFailure>())
    a.combineLatest(b) { $0 + $1 }.subscribe(recorder)
    a.send(1)
    b.send(10)
    a.send(2)
    b.send(20)
    expectEqual(recorder.values, [11, 12, 22])
    expectEqual(a.requests, [.max(3), .max(2)])
    expectEqual(b.requests, [.max(3), .max(2)])
  }

  @Test("a value sent from inside another is only kept")
  func reentrant() {
    let first = PassthroughSubject<Int, Never>()
    let second = PassthroughSubject<Int, Never>()
    var rows: [String] = []
    let subscription = first.combineLatest(second).sink {
      rows.append("\($0)\($1)")
      if $0 == 1 { first.send(2) }
    }
    first.send(1)
    second.send(1)
    second.send(5)
    expectEqual(rows, ["11", "25"])
    subscription.cancel()
  }

  @Test("the stream finishes when all have, also one without a value")
  func finishes() {
    let recorder = Recorder<String, TestFailure>()
    a.combineLatest(b) { "\($0)\($1)" }.subscribe(recorder)
    a.send(completion: .finished)
    b.send("x")
    #expect(recorder.completion == nil)
    b.send(completion: .finished)
    expectEqual(recorder.events, [.subscription, .completion(.finished)])
    expectEqual(a.cancelCount + b.cancelCount, 0)
  }

  @Test("an upstream that finishes twice counts once")
  func finishesTwice() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<String, TestFailure>()
    TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).combineLatest(b) { "\($0)\($1)" }
      .subscribe(recorder)
    subscriber?.receive(subscription: SubscriptionSpy())
    _ = subscriber?.receive(1)
    for _ in 0..<2 { subscriber?.receive(completion: .finished) }
    b.send("x")
    expectEqual(recorder.events, [.subscription, .value("1x")])
    b.send(completion: .finished)
    #expect(recorder.isFinished)
  }

  @Test("a failure cancels the others and ends the stream")
  func fails() {
    let recorder = Recorder<String, TestFailure>()
    a.combineLatest(b) { "\($0)\($1)" }.subscribe(recorder)
    a.send(completion: .failure(.expected))
    expectEqual(a.cancelCount, 0)
    expectEqual(b.cancelCount, 1)
    b.send(completion: .failure(.other))
    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("an end before the last subscription waits for it", arguments: [true, false])
  func earlyEnd(fails: Bool) {
    let early = TestPublisher<Int, TestFailure>(whenSubscribed: {
      $0.send(completion: fails ? .failure(.expected) : .finished)
    })
    let recorder = Recorder<String, TestFailure>()
    early.combineLatest(b) { "\($0)\($1)" }.subscribe(recorder)
    b.send(completion: .finished)
    expectEqual(recorder.events, [.subscription, .completion(fails ? .failure(.expected) : .finished)])
  }

  @Test("of two failures before the last subscription the first is the one that comes")
  func earlyFailures() {
    let recorder = Recorder<String, TestFailure>()
    Publishers.CombineLatest3(Fail<Int, TestFailure>(error: .expected), Fail<Int, TestFailure>(error: .other), a)
      .map { "\($0)" }.subscribe(recorder)
    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
    expectEqual(a.cancelCount, 1)
  }

  @Test("cancelling, also from inside a value, cancels all once and lets the latest values go")
  func cancels() {
    final class Token {}
    weak var latest: Token?
    let a = TestPublisher<Token, TestFailure>()
    let recorder = Recorder<String, TestFailure>(answering: { _, recorder in
      recorder.cancel()
      return .none
    })
    a.combineLatest(b) { $1 }.subscribe(recorder)
    do {
      let token = Token()
      latest = token
      a.send(token)
    }
    #expect(latest != nil)
    b.send("x")
    b.send("y")
    #expect(latest == nil)
    expectEqual(recorder.events, [.subscription, .value("x")])
    expectEqual(a.cancelCount, 1)
    expectEqual(b.cancelCount, 1)
  }

  @Test("a value that sends as it goes finds the new one in its place")
  func displacedValue() {
    final class Talker {
      let say: () -> Void
      init(_ say: @escaping () -> Void) { self.say = say }
      deinit { say() }
    }
    let talkers = PassthroughSubject<Talker, Never>()
    let numbers = PassthroughSubject<Int, Never>()
    var received: [Int] = []
    let subscription = talkers.combineLatest(numbers).sink { received.append($1) }
    talkers.send(Talker { numbers.send(7) })
    numbers.send(1)
    talkers.send(Talker {})
    expectEqual(received, [1, 1, 7])
    subscription.cancel()
  }

  @Test("a second subscription of an upstream is cancelled")
  func secondSubscription() {
    let spare = TestPublisher<Int, TestFailure>()
    spare.subscribe(Recorder<Int, TestFailure>())
    a.combineLatest(b) { "\($0)\($1)" }.subscribe(Recorder<String, TestFailure>())
    a.connections[0].send(subscription: spare.connections[0])
    expectEqual(spare.cancelCount, 1)
    expectEqual(a.cancelCount, 0)
  }

  @Test("publishers with equal parts are equal")
  func equality() {
    let one = [1].publisher
    expectEqual(one.combineLatest(one), Publishers.CombineLatest(one, one))
    expectEqual(one.combineLatest(one, one), Publishers.CombineLatest3(one, one, one))
    expectEqual(one.combineLatest(one, one, one), Publishers.CombineLatest4(one, one, one, one))
  }

  @Test("the subscription is called CombineLatest and shows its parts")
  func reflection() {
    Publishers.CombineLatest(a, b).subscribe(
      AnySubscriber<(Int, String), TestFailure>(receiveSubscription: {
        expectEqual("\($0)", "CombineLatest")
        let labels = Mirror(reflecting: $0).children.map(\.label)
        expectEqual(labels, ["downstream", "upstreamSubscriptions", "demand", "buffers"])
      })
    )
    expectEqual(a.subscriptionCount, 1)
  }

  @Test("a request for no values stops the process")
  func requestNone() async {
    await #expect(processExitsWith: .failure) {
      Just(1).combineLatest(Just(2)).subscribe(
        AnySubscriber<(Int, Int), Never>(receiveSubscription: { $0.request(.none) })
      )
    }
  }

  @Test("values, ends, requests and cancellation on different threads keep the laws", arguments: 0..<60)
  func stress(seed: Int) {
    let sides = (0..<3).map { _ in PassthroughSubject<Int, TestFailure>() }
    let keeper = LawKeeper<(Int, Int, Int), TestFailure>()
    sides[0].combineLatest(sides[1], sides[2]).subscribe(keeper)
    race(
      seed: UInt64(seed),
      sides.indices.map { index in
        { numbers in
          for value in 0..<Int.random(in: 50..<200, using: &numbers) { sides[index].send(value) }
          sides[index].send(completion: seed % 5 == 1 ? .failure(.expected) : .finished)
        }
      } + [
        { numbers in
          for _ in 0..<Int.random(in: 10..<100, using: &numbers) { keeper.request(.max(3)) }
          if seed % 4 == 0 { keeper.cancel() }
        }
      ]
    )
    expectEqual(keeper.breaches, [])
    if seed % 4 != 0 { #expect(keeper.isOver) }
  }
}
