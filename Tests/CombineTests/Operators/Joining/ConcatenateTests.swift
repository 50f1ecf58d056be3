import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("append and prepend")
struct ConcatenateTests {
  let first = TestPublisher<Int, TestFailure>()
  let second = TestPublisher<Int, TestFailure>()

  @Test("the second publisher is subscribed to after the first has finished, with what is still owed")
  func values() {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(3),
      answering: { value, _ in value == 1 ? .max(2) : .none }
    )
    first.append(second).subscribe(recorder)
    expectEqual(first.requests, [.max(3)])
    expectEqual(second.subscriptionCount, 0)
    expectEqual(first.send(1), .max(2))
    expectEqual(first.send(2), .none)
    first.send(completion: .finished)
    expectEqual(second.requests, [.max(3)])
    recorder.request(.max(1))
    expectEqual(second.requests, [.max(3), .max(1)])
    expectEqual(first.requests, [.max(3)])
    first.send(9)
    second.send(3)
    second.send(completion: .finished)
    expectEqual(recorder.events, [.subscription, .value(1), .value(2), .value(3), .completion(.finished)])
  }

  @Test("if nothing is owed, the second publisher is subscribed to and asked later")
  func nothingOwed() {
    let recorder = Recorder<Int, TestFailure>(requesting: .none)
    first.append(second).subscribe(recorder)
    first.send(7)
    first.send(completion: .finished)
    expectEqual(second.subscriptionCount, 1)
    expectEqual(second.requests, [])
    recorder.request(.none)
    expectEqual(second.requests, [.none])
    recorder.request(.max(1))
    expectEqual(second.requests, [.none, .max(1)])
    expectEqual(recorder.values, [])
  }

  @Test("requests between the two publishers add up, and go to the second when its subscription comes")
  func requestsBetween() {
    var subscriber: AnySubscriber<Int, TestFailure>?
    let recorder = Recorder<Int, TestFailure>(requesting: .max(1))
    first.append(TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 })).subscribe(recorder)
    first.send(completion: .finished)
    recorder.request(.max(2))
    recorder.request(.max(3))
    let subscription = SubscriptionSpy()
    subscriber?.receive(subscription: subscription)
    expectEqual(first.requests, [.max(1)])
    expectEqual(subscription.requests, [.max(6)])
  }

  @Test("a failure of the first publisher ends the stream without the second")
  func fails() {
    let recorder = Recorder<Int, TestFailure>()
    first.append(second).subscribe(recorder)
    first.send(completion: .failure(.expected))
    expectEqual(second.subscriptionCount, 0)
    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("a failure of the second publisher passes")
  func secondFails() {
    let recorder = Recorder<Int, TestFailure>()
    first.append(second).subscribe(recorder)
    first.send(completion: .finished)
    second.send(completion: .failure(.expected))
    second.send(completion: .finished)
    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("cancelling reaches whichever is active; the second is not subscribed to after it")
  func cancels() {
    let early = Recorder<Int, TestFailure>()
    first.append(second).subscribe(early)
    let connection = first.connections[0]
    early.cancel()
    early.cancel()
    expectEqual(first.cancelCount, 1)
    connection.send(completion: .finished)
    expectEqual(second.subscriptionCount, 0)

    let late = Recorder<Int, TestFailure>()
    first.append(second).subscribe(late)
    first.send(completion: .finished)
    late.cancel()
    expectEqual(first.cancelCount, 1)
    expectEqual(second.cancelCount, 1)
  }

  @Test("second subscriptions are cancelled in both parts")
  func secondSubscriptions() {
    let spare = TestPublisher<Int, TestFailure>()
    spare.subscribe(Recorder<Int, TestFailure>())
    first.append(second).subscribe(Recorder<Int, TestFailure>())
    first.connections[0].send(subscription: spare.connections[0])
    first.send(completion: .finished)
    second.connections[0].send(subscription: spare.connections[0])
    expectEqual(spare.cancelCount, 2)
    expectEqual(first.cancelCount + second.cancelCount, 0)
  }

  @Test("values and sequences can be put before and behind")
  func elements() {
    func values(_ publisher: some Publisher<Int, Never>) -> [Int] {
      let recorder = Recorder<Int, Never>()
      publisher.subscribe(recorder)
      #expect(recorder.isFinished)
      return recorder.values
    }
    let five = [5].publisher.eraseToAnyPublisher()
    expectEqual(values(five.append(6, 7)), [5, 6, 7])
    expectEqual(values(five.append(6...7)), [5, 6, 7])
    expectEqual(values(five.prepend(3, 4)), [3, 4, 5])
    expectEqual(values(five.prepend(3...4)), [3, 4, 5])
    expectEqual(values(five.prepend([4].publisher)), [4, 5])
    expectEqual(values(five.prepend(1).append(9)), [1, 5, 9])
  }

  @Test("a thousand parts in a row arrive in order", arguments: [true, false])
  func manyParts(appends: Bool) {
    onDefaultStack {
      let recorder = Recorder<Int, Never>()
      var publisher = [0].publisher.eraseToAnyPublisher()
      for part in 1...1_000 {
        publisher =
          appends ? publisher.append(part).eraseToAnyPublisher() : publisher.prepend(-part).eraseToAnyPublisher()
      }
      publisher.subscribe(recorder)
      expectEqual(recorder.values, appends ? Array(0...1_000) : Array(-1_000...0))
      #expect(recorder.isFinished)
    }
  }

  @Test("the second publisher is let go when it is subscribed to, and by a cancel")
  func releasesSecond() {
    for isCancelled in [true, false] {
      weak var released: PassthroughSubject<Int, TestFailure>?
      var held: (any Subscription)?
      let first = TestPublisher<Int, TestFailure>()
      do {
        let second = PassthroughSubject<Int, TestFailure>()
        released = second
        first.append(second.prefix(1)).subscribe(
          AnySubscriber<Int, TestFailure>(receiveSubscription: { held = $0 })
        )
        #expect(released != nil)
        if isCancelled {
          held?.cancel()
        } else {
          first.send(completion: .finished)
          second.send(completion: .finished)
        }
      }
      #expect(released == nil)
      withExtendedLifetime(held) {}
    }
  }

  @Test("a Just behind is delivered as soon as it is asked for", arguments: [1, 2, 3])
  func justBehind(demand: Int) {
    let just = Just(2).setFailureType(to: TestFailure.self)
    let recorder = Recorder<Int, TestFailure>(requesting: .max(demand))
    first.append(just).subscribe(recorder)
    first.send(1)
    first.send(completion: .finished)
    if demand == 1 {
      expectEqual(recorder.events, [.subscription, .value(1)])
      recorder.request(.max(1))
    }
    expectEqual(recorder.events, [.subscription, .value(1), .value(2), .completion(.finished)])

    let leaver = Recorder<Int, TestFailure>(
      requesting: .max(demand + 1),
      answering: { value, recorder in
        if value == 2 { recorder.cancel() }
        return .max(1)
      }
    )
    first.append(just).append(3).subscribe(leaver)
    first.send(1)
    first.send(completion: .finished)
    expectEqual(leaver.events, [.subscription, .value(1), .value(2)])
  }

  @Test("what follows a Just behind is asked for what was answered to it")
  func justBetween() {
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(2),
      answering: { value, _ in value == 2 ? .max(3) : .none }
    )
    first.append(Just(2).setFailureType(to: TestFailure.self)).append(second).subscribe(recorder)
    first.send(1)
    first.send(completion: .finished)
    expectEqual(second.requests, [.max(3)])
  }

  @Test("publishers with equal parts are equal, and subscription and sides are called Concatenate")
  func naming() {
    let one = [1].publisher
    expectEqual(Publishers.Concatenate(prefix: one, suffix: one), Publishers.Concatenate(prefix: one, suffix: one))
    var identifier: CombineIdentifier?
    var side: AnySubscriber<Int, TestFailure>?
    TestPublisher<Int, TestFailure>(handingOver: {
      side = $0
      $0.receive(subscription: Subscriptions.empty)
    })
    .append(second).subscribe(
      AnySubscriber<Int, TestFailure>(receiveSubscription: {
        identifier = $0.combineIdentifier
        expectEqual("\($0)", "Concatenate")
      })
    )
    expectEqual(side?.description, "Concatenate")
    expectEqual(side?.combineIdentifier, identifier)
  }

  @Test("values, ends, requests and cancellation on different threads keep the laws", arguments: 0..<60)
  func stress(seed: Int) {
    let first = PassthroughSubject<Int, TestFailure>()
    let second = PassthroughSubject<Int, TestFailure>()
    let keeper = LawKeeper<Int, TestFailure>(answering: seed % 3 == 0 ? .max(1) : .none)
    first.append(second).subscribe(keeper)
    race(
      seed: UInt64(seed),
      [
        { numbers in
          for value in 0..<Int.random(in: 50..<200, using: &numbers) { first.send(value) }
          first.send(completion: .finished)
          for value in 0..<200 { second.send(value) }
          second.send(completion: .finished)
        },
        { numbers in
          for _ in 0..<Int.random(in: 10..<100, using: &numbers) { keeper.request(.max(3)) }
          if seed % 4 == 0 { keeper.cancel() }
        },
      ]
    )
    expectEqual(keeper.breaches, [])
    if seed % 4 != 0 { #expect(keeper.isOver) }
  }
}
