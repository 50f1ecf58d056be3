import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("zip")
struct ZipTests {
  let a = TestPublisher<Int, TestFailure>()
  let b = TestPublisher<String, TestFailure>()

  /// Writes rows down as text: tuples are not equatable.
  private func recorder(
    requesting demand: Subscribers.Demand = .unlimited,
    answering answer: @escaping (String, Recorder<String, TestFailure>) -> Subscribers.Demand = { _, _ in .none }
  ) -> Recorder<String, TestFailure> {
    Recorder(requesting: demand, answering: answer)
  }

  @Test("the n-th values of all come together, when the last of them has come")
  func pairs() {
    let recorder = recorder()
    a.zip(b) { "\($0)\($1)" }.subscribe(recorder)
    expectEqual(a.requests, [.unlimited])
    expectEqual(b.requests, [.unlimited])
    expectEqual(a.send(1), .none)
    a.send(2)
    expectEqual(recorder.values, [])
    b.send("a")
    b.send("b")
    b.send("c")
    a.send(3)
    expectEqual(recorder.values, ["1a", "2b", "3c"])
  }

  @Test("three and four publishers meet in the same way")
  func arities() {
    let c = TestPublisher<Int, TestFailure>()
    let d = TestPublisher<Int, TestFailure>()
    let three = recorder()
    let four = recorder()
    a.zip(b, c) { "\($0)\($1)\($2)" }.subscribe(three)
    a.send(1)
    b.send("x")
    c.send(2)
    expectEqual(three.values, ["1x2"])

    a.zip(b, c, d).map { "\($0)" }.subscribe(four)
    d.send(4)
    c.send(3)
    b.send("y")
    expectEqual(four.values, [])
    a.send(2)
    expectEqual(four.values, [#"(2, "y", 3, 4)"#])
    a.zip(b, c, d) { "\($0)\($1)\($2)\($3)" }.subscribe(recorder())
    expectEqual(a.subscriptionCount, 3)
    d.connections[0].send(completion: .failure(.expected))
    expectEqual(four.completions, [.failure(.expected)])
    expectEqual(a.connections[1].cancelCount + b.connections[1].cancelCount + c.connections[1].cancelCount, 3)
  }

  @Test("downstream gets its subscription when the last upstream's has come")
  func lateSubscription() {
    var subscriber: AnySubscriber<String, TestFailure>?
    let late = TestPublisher<String, TestFailure>(handingOver: { subscriber = $0 })
    let recorder = recorder(requesting: .max(2))
    a.zip(late) { "\($0)\($1)" }.subscribe(recorder)
    expectEqual(recorder.events, [])
    expectEqual(a.requests, [])
    b.subscribe(Recorder<String, TestFailure>(requesting: .none))
    subscriber?.receive(subscription: b.connections[0])
    expectEqual(recorder.events, [.subscription])
    expectEqual(a.requests, [.max(2)])
    expectEqual(b.requests, [.max(2)])
  }

  @Test("an end before the last subscription waits for it", arguments: [true, false])
  func earlyEnd(fails: Bool) {
    let early = TestPublisher<Int, TestFailure>(whenSubscribed: {
      $0.send(completion: fails ? .failure(.expected) : .finished)
    })
    let recorder = recorder()
    early.zip(b) { "\($0)\($1)" }.subscribe(recorder)
    expectEqual(recorder.events, [.subscription, .completion(fails ? .failure(.expected) : .finished)])
    expectEqual(b.cancelCount, 1)
  }

  @Test("of two failures before the last subscription the first is the one that comes")
  func earlyFailures() {
    let recorder = Recorder<String, TestFailure>()
    Publishers.Zip3(Fail<Int, TestFailure>(error: .expected), Fail<Int, TestFailure>(error: .other), a)
      .map { "\($0)" }.subscribe(recorder)
    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
    expectEqual(a.cancelCount, 1)
  }

  @Test("every request goes to all as it is, and demand is not counted")
  func demand() {
    let recorder = recorder(requesting: .max(1))
    a.zip(b) { "\($0)\($1)" }.subscribe(recorder)
    recorder.request(.max(2))
    expectEqual(a.requests, [.max(1), .max(2)])
    expectEqual(b.requests, [.max(1), .max(2)])
    for value in 0..<4 { a.send(value) }
    for _ in 0..<4 { b.send("") }
    expectEqual(recorder.values, ["0", "1", "2", "3"])
  }

  @Test("what a row is answered with, and asked from inside it, goes to the one that completed it and to the others")
  func answers() {
    let recorder = recorder(
      requesting: .max(1),
      answering: { _, recorder in
        recorder.request(.max(2))
        return .max(3)
      }
    )
    a.zip(b) { "\($0)\($1)" }.subscribe(recorder)
    a.send(1)
    expectEqual(b.send("x"), .max(5))
    expectEqual(a.requests, [.max(1), .max(5)])
    expectEqual(b.requests, [.max(1)])
  }

  @Test("a row completed from inside another leaves what was requested before it to the outer one")
  func answersAroundAnother() {
    let recorder = recorder(
      requesting: .max(2),
      answering: { [b] value, recorder in
        guard value == "1x" else { return .none }
        recorder.request(.max(2))
        expectEqual(b.send("y"), .none)
        return .max(1)
      }
    )
    a.zip(b) { "\($0)\($1)" }.subscribe(recorder)
    a.send(1)
    a.send(2)
    expectEqual(b.send("x"), .max(3))
    expectEqual(recorder.values, ["1x", "2y"])
    expectEqual(a.requests, [.max(2), .max(3)])
    expectEqual(b.requests, [.max(2)])
  }

  @Test("an upstream that finishes with nothing waiting ends the stream and cancels the others")
  func finishEmpty() {
    let recorder = recorder()
    a.zip(b) { "\($0)\($1)" }.subscribe(recorder)
    b.send("x")
    a.send(completion: .finished)
    expectEqual(recorder.completions, [.finished])
    expectEqual(a.cancelCount, 0)
    expectEqual(b.cancelCount, 1)
    a.send(1)
    b.send(completion: .failure(.other))
    expectEqual(recorder.values, [])
    expectEqual(recorder.completions.count, 1)
  }

  @Test("an upstream that finishes with values waiting ends the stream with the row that uses up the last")
  func finishWaiting() {
    let recorder = recorder()
    a.zip(b) { "\($0)\($1)" }.subscribe(recorder)
    a.send(1)
    a.send(2)
    a.send(completion: .finished)
    #expect(recorder.completion == nil)
    b.send("x")
    #expect(recorder.completion == nil)
    b.send("y")
    expectEqual(recorder.events, [.subscription, .value("1x"), .value("2y"), .completion(.finished)])
    expectEqual(b.cancelCount, 1)
  }

  @Test("an upstream that finishes is asked for its own waiting values, whichever of three or four it is")
  func finishWaitingAtEachPlace() {
    func events(finishing last: Int, of count: Int) -> [Recorder<[Int], TestFailure>.Event] {
      let sides = (0..<count).map { _ in TestPublisher<Int, TestFailure>() }
      let recorder = Recorder<[Int], TestFailure>()
      if count == 3 {
        sides[0].zip(sides[1], sides[2]) { [$0, $1, $2] }.subscribe(recorder)
      } else {
        sides[0].zip(sides[1], sides[2], sides[3]) { [$0, $1, $2, $3] }.subscribe(recorder)
      }
      sides[last].send(last)
      sides[last].send(completion: .finished)
      for index in sides.indices where index != last { sides[index].send(index) }
      return recorder.events
    }
    for count in [3, 4] {
      for last in 0..<count {
        expectEqual(
          events(finishing: last, of: count),
          [.subscription, .value(Array(0..<count)), .completion(.finished)],
          "the one at \(last) of \(count)"
        )
      }
    }
  }

  @Test("a failure cancels the others, drops what waits and ends the stream")
  func fails() {
    let recorder = recorder()
    a.zip(b) { "\($0)\($1)" }.subscribe(recorder)
    a.send(1)
    a.send(completion: .failure(.expected))
    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
    expectEqual(a.cancelCount, 0)
    expectEqual(b.cancelCount, 1)
  }

  @Test("cancelling, also from inside a row, cancels all once and drops what waits")
  func cancels() {
    final class Token {}
    weak var waiting: Token?
    let a = TestPublisher<Token, TestFailure>()
    let recorder = recorder(answering: { _, recorder in
      recorder.cancel()
      return .max(1)
    })
    a.zip(b) { $1 }.subscribe(recorder)
    a.send(Token())
    do {
      let token = Token()
      waiting = token
      a.send(token)
    }
    #expect(waiting != nil)
    b.send("x")
    b.send("y")
    #expect(waiting == nil)
    expectEqual(recorder.events, [.subscription, .value("x")])
    expectEqual(a.cancelCount, 1)
    expectEqual(b.cancelCount, 1)
  }

  @Test("a second subscription of an upstream is cancelled")
  func secondSubscription() {
    let spare = TestPublisher<Int, TestFailure>()
    spare.subscribe(Recorder<Int, TestFailure>())
    a.zip(b) { "\($0)\($1)" }.subscribe(recorder())
    a.connections[0].send(subscription: spare.connections[0])
    expectEqual(spare.cancelCount, 1)
    expectEqual(a.cancelCount, 0)
  }

  @Test("a value sent from inside a row is paired at once")
  func reentrant() {
    let subject = PassthroughSubject<Int, Never>()
    var rows: [String] = []
    let subscription = subject.zip(subject).sink {
      rows.append("\($0)\($1)"); if $0 < 3 { subject.send($0 + 1) }
    }
    subject.send(1)
    expectEqual(rows, ["11", "22", "33"])
    subscription.cancel()
  }

  @Test("one side a hundred thousand values ahead costs no more per value")
  func farAhead() {
    let a = PassthroughSubject<Int, Never>()
    let b = PassthroughSubject<Int, Never>()
    var sum = 0
    let subscription = a.zip(b).sink { sum += $0 - $1 }
    for value in 0..<100_000 { a.send(value) }
    for value in 0..<100_000 { b.send(value) }
    expectEqual(sum, 0)
    a.send(1)
    b.send(0)
    expectEqual(sum, 1)
    subscription.cancel()
  }

  @Test("publishers with equal parts are equal")
  func equality() {
    let one = [1].publisher
    expectEqual(one.zip(one), Publishers.Zip(one, one))
    expectEqual(one.zip(one, one), Publishers.Zip3(one, one, one))
    expectEqual(one.zip(one, one, one), Publishers.Zip4(one, one, one, one))
    #expect(one.zip([2].publisher) != Publishers.Zip(one, one))
  }

  @Test("subscription and sides are called Zip, and a side knows its parent")
  func reflection() {
    var side: AnySubscriber<String, TestFailure>?
    var parent: CombineIdentifier?
    let late = TestPublisher<String, TestFailure>(handingOver: { side = $0 })
    a.zip(late) { "\($0)\($1)" }.subscribe(
      AnySubscriber<String, TestFailure>(receiveSubscription: {
        parent = $0.combineIdentifier
        expectEqual("\($0)", "Zip")
        #expect(Mirror(reflecting: $0).children.isEmpty)
      })
    )
    side?.receive(subscription: Subscriptions.empty)
    expectEqual(side?.description, "Zip")
    expectEqual(side?.customMirror.children.first?.value as? CombineIdentifier, parent)
    #expect(parent != nil)
  }

  @Test("a request for no values stops the process")
  func requestNone() async {
    await #expect(processExitsWith: .failure) {
      Just(1).zip(Just(2)).subscribe(
        AnySubscriber<(Int, Int), Never>(receiveSubscription: { $0.request(.none) })
      )
    }
  }

  @Test("values, ends and cancellation on different threads keep the laws", arguments: 0..<60)
  func stress(seed: Int) {
    let sides = (0..<3).map { _ in PassthroughSubject<Int, TestFailure>() }
    let keeper = LawKeeper<(Int, Int, Int), TestFailure>()
    sides[0].zip(sides[1], sides[2]).subscribe(keeper)
    keeper.request(.unlimited)
    race(
      seed: UInt64(seed),
      sides.indices.map { index in
        { numbers in
          for value in 0..<100 { sides[index].send(value) }
          if Int.random(in: 0..<3, using: &numbers) > 0 {
            sides[index].send(completion: seed % 5 == 1 ? .failure(.expected) : .finished)
          }
        }
      } + [{ _ in if seed % 4 == 0 { keeper.cancel() } }]
    )
    for side in sides { side.send(completion: .finished) }
    expectEqual(keeper.breaches, [])
    if seed % 4 != 0 { #expect(keeper.isOver) }
    if seed % 4 != 0, seed % 5 != 1 { expectEqual(keeper.valueCount, 100) }
  }
}
