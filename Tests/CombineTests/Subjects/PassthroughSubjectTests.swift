import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("PassthroughSubject")
struct PassthroughSubjectTests {
  @Test("who did not ask misses a value")
  func demand() {
    let subject = PassthroughSubject<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(
      requesting: .max(1),
      answering: { value, _ in value == 2 ? .max(1) : .none }
    )
    subject.subscribe(recorder)
    for value in [2, 3, 4] { subject.send(value) }
    expectEqual(recorder.values, [2, 3])
    recorder.request(.max(1))
    subject.send(5)
    expectEqual(recorder.values, [2, 3, 5])
  }

  @Test("ends once, and for those who come later, too")
  func end() {
    let subject = PassthroughSubject<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>(whenCompleted: { subject.send(completion: .finished) })
    subject.subscribe(recorder)
    subject.send(completion: .failure(.expected))
    subject.send(1)
    expectEqual(recorder.events, [.subscription, .completion(.failure(.expected))])

    let late = Recorder<Int, TestFailure>(requesting: .none)
    subject.subscribe(late)
    expectEqual(late.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("asks its upstreams for everything once somebody wants values, and cancels them when it goes")
  func upstream() {
    let spies = [SubscriptionSpy(), SubscriptionSpy()]
    do {
      let subject = PassthroughSubject<Int, Never>()
      subject.send(subscription: spies[0])
      #expect(spies[0].requests.isEmpty)
      let subscription = subject.sink { _ in }
      subject.send(subscription: spies[1])
      #expect(spies.allSatisfy { $0.requests == [.unlimited] && $0.cancelCount == 0 })
      subscription.cancel()
    }
    expectEqual(spies.map(\.cancelCount), [1, 1])
  }

  @Test("shows itself, its subscriber and the demand, which stays after a cancel")
  func reflection() {
    let subject = PassthroughSubject<Int, Never>()
    let labels = ["parent", "downstream", "demand", "subject"]
    let subscription = subject.subscriptionForTesting()
    subscription?.request(.max(3))
    expectEqual(SelfPortrait(of: subscription), SelfPortrait("PassthroughSubject", labels: labels))
    subscription?.cancel()
    subscription?.request(.max(1))
    expectEqual(toldText("demand", of: subscription), "max(3)")
    expectEqual(toldText("parent", of: subscription), "nil")
  }

  @Test("a publisher can be subscribed by a subject, until the handle goes")
  func subscribeSubject() {
    let upstream = TestPublisher<Int, TestFailure>()
    let subject = PassthroughSubject<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>()
    subject.subscribe(recorder)
    var handle: AnyCancellable? = upstream.subscribe(subject)
    expectEqual(upstream.requests, [.unlimited])
    expectEqual(upstream.send(1), Subscribers.Demand.none)
    #expect(handle != nil)
    handle = nil
    upstream.send(2)
    expectEqual(recorder.values, [1])
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("the same subscriber may come any number of times, with a subscription each")
  func sameSubscriber() {
    let subject = PassthroughSubject<Int, TestFailure>()
    var subscriptions: [any Subscription] = []
    let recorder = Recorder<Int, TestFailure>()
    let subscriber = AnySubscriber<Int, TestFailure>(
      receiveSubscription: {
        subscriptions.append($0)
        $0.request(.unlimited)
      },
      receiveValue: recorder.receive
    )
    for _ in 0..<3 { subject.subscribe(subscriber) }
    expectEqual(Set(subscriptions.map(\.combineIdentifier)).count, 3)
    subject.send(1)
    expectEqual(recorder.values, [1, 1, 1])
    subscriptions[0].cancel()
    subject.send(2)
    expectEqual(recorder.values, [1, 1, 1, 2, 2])
  }

  @Test("who is told of the end finds the subject over: values reach nobody, and who comes is told at once")
  func insideEnd() {
    let subject = PassthroughSubject<Int, TestFailure>()
    let (second, late) = (Recorder<Int, TestFailure>(), Recorder<Int, TestFailure>())
    var seenInside: [Int] = []
    subject.subscribe(
      Recorder<Int, TestFailure>(whenCompleted: {
        subject.send(1)
        subject.subscribe(late)
        seenInside = [second.events.count, late.events.count]
      })
    )
    subject.subscribe(second)
    subject.send(completion: .failure(.expected))
    expectEqual(seenInside, [1, 2])
    expectEqual(late.events, [.subscription, .completion(.failure(.expected))])
    expectEqual(second.events, [.subscription, .completion(.failure(.expected))])
  }

  @Test("it keeps who has subscribed, though nobody keeps the subscription")
  func keepsSubscribers() {
    let subject = PassthroughSubject<Int, TestFailure>()
    var events: [String] = []
    subject.subscribe(
      AnySubscriber(
        receiveSubscription: { $0.request(.unlimited) },
        receiveValue: {
          events.append("\($0)")
          return .none
        },
        receiveCompletion: { _ in events.append("end") }
      )
    )
    subject.send(1)
    subject.send(completion: .finished)
    expectEqual(events, ["1", "end"])
  }

  @Test("the end of one of its upstreams is its end")
  func oneOfTwoUpstreams() {
    let upstreams = [TestPublisher<Int, TestFailure>(), TestPublisher<Int, TestFailure>()]
    let subject = PassthroughSubject<Int, TestFailure>()
    let recorder = Recorder<Int, TestFailure>()
    subject.subscribe(recorder)
    let handles = upstreams.map { $0.subscribe(subject) }
    upstreams[0].send(1)
    upstreams[1].send(2)
    upstreams[1].send(completion: .failure(.expected))
    upstreams[0].send(3)
    expectEqual(recorder.events, [.subscription, .value(1), .value(2), .completion(.failure(.expected))])
    withExtendedLifetime(handles) {}
  }

  @Test("of values sent on a hundred threads, as many pass as are asked for, before and in answer to them")
  func answersCountOnAllThreads() {
    let subject = PassthroughSubject<Int, Never>()
    let count = Shared(0)
    let recorder = Recorder<Int, Never>(
      requesting: .max(5),
      answering: { _, _ in
        count.change { count in
          count += 1
          return count <= 10 ? .max(1) : .none
        }
      }
    )
    subject.subscribe(recorder)
    race(seed: 1, (0..<100).map { number in { _ in subject.send(number) } })
    expectEqual(recorder.values.count, 15)
  }
}
