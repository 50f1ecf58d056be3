import Combine
import Dispatch
import Expectations
import ReboundTesting
import Testing

@Suite("autoconnect")
struct AutoconnectTests {
  @Test("the first subscriber is attached and then connected, and the last who cancels disconnects")
  func counts() {
    let upstream = TestPublisher<Int, Never>()
    let shared = upstream.multicast(subject: PassthroughSubject()).autoconnect()
    let first = Recorder<Int, Never>()
    let second = Recorder<Int, Never>()

    shared.subscribe(first)
    shared.subscribe(second)
    expectEqual(upstream.subscriptionCount, 1)
    upstream.send(1)
    first.cancel()
    upstream.send(2)
    expectEqual(upstream.cancelCount, 0)
    second.cancel()
    expectEqual(upstream.cancelCount, 1)

    expectEqual(first.values, [1])
    expectEqual(second.values, [1, 2])
    shared.subscribe(first)
    expectEqual(upstream.subscriptionCount, 2)
  }

  @Test("who subscribes after all have left connects anew")
  func secondRound() {
    let upstream = TestPublisher<Int, Never>()
    let shared = upstream.multicast(subject: PassthroughSubject()).autoconnect()
    for round in 1...3 {
      let recorder = Recorder<Int, Never>()
      shared.subscribe(recorder)
      upstream.send(round)
      expectEqual(recorder.values, [round])
      recorder.cancel()
      expectEqual(upstream.connections.map(\.cancelCount), Array(repeating: 1, count: round))
    }
  }

  @Test("a subscriber that cancels twice counts once")
  func cancelsTwice() {
    let upstream = TestPublisher<Int, Never>()
    let shared = upstream.multicast(subject: PassthroughSubject()).autoconnect()
    var subscription: (any Subscription)?
    shared.subscribe(AnySubscriber(receiveSubscription: { subscription = $0 }))
    let other = Recorder<Int, Never>()
    shared.subscribe(other)

    subscription?.cancel()
    subscription?.cancel()

    expectEqual(upstream.cancelCount, 0)
    other.cancel()
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("every cancel reaches the subscription that is wrapped")
  func cancelsEachTime() {
    struct Lending: ConnectablePublisher {
      typealias Output = Int
      typealias Failure = Never
      let spy = SubscriptionSpy()
      func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
        subscriber.receive(subscription: spy)
      }
      func connect() -> any Cancellable { AnyCancellable {} }
    }
    let lending = Lending()
    let subscription = lending.autoconnect().subscriptionForTesting()
    subscription?.request(.none)
    subscription?.cancel()
    subscription?.cancel()
    expectEqual(lending.spy.requests, [.none])
    expectEqual(lending.spy.cancelCount, 2)
  }

  @Test("who cancels while the connection is being made ends it")
  func cancelsWhileConnecting() {
    let upstream = TestPublisher<Int, Never>(whenSubscribed: { $0.send(1) })
    let shared = upstream.multicast(subject: PassthroughSubject()).autoconnect()
    let recorder = Recorder<Int, Never>(answering: { _, recorder in
      recorder.cancel()
      return .none
    })

    shared.subscribe(recorder)

    expectEqual(recorder.values, [1])
    expectEqual(upstream.cancelCount, 1)
    shared.subscribe(Recorder<Int, Never>())
    expectEqual(upstream.subscriptionCount, 2)
  }

  @Test("a subscription from inside the connecting joins it")
  func subscribesWhileConnecting() {
    let late = Recorder<Int, Never>()
    let upstream = TestPublisher<Int, Never>(whenSubscribed: { connection in
      connection.send(1)
      connection.send(2)
    })
    let shared = upstream.multicast(subject: PassthroughSubject()).autoconnect()
    shared.subscribe(
      Recorder<Int, Never>(answering: { value, _ in
        if value == 1 { shared.subscribe(late) }
        return .none
      })
    )

    expectEqual(late.values, [2])
    expectEqual(upstream.subscriptionCount, 1)
  }

  @Test("who subscribes while the first, which has left already, is being attached shares its connection")
  func firstLeavesAtOnce() {
    let upstream = TestPublisher<Int, Never>()
    let shared = upstream.multicast(subject: PassthroughSubject()).autoconnect()
    let second = Recorder<Int, Never>()
    shared.subscribe(
      AnySubscriber<Int, Never>(receiveSubscription: { subscription in
        subscription.cancel()
        shared.subscribe(second)
      })
    )
    upstream.send(1)

    expectEqual(second.values, [1])
    expectEqual(upstream.subscriptionCount, 1)
    expectEqual(upstream.cancelCount, 0)
    second.cancel()
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("who subscribes after the only one has left while connecting connects anew")
  func connectsAnewWhenAllHaveLeft() {
    var connections = 0
    let source = Deferred {
      connections += 1
      return Just(connections)
    }
    let shared = source.multicast(subject: PassthroughSubject()).autoconnect()
    let recorder = Recorder<Int, Never>()
    shared.first().append(shared.first()).subscribe(recorder)

    expectEqual(recorder.events, [.subscription, .value(1), .value(2), .completion(.finished)])
  }

  @Test("the end counts nobody out: a connection that has ended is not made again")
  func completion() {
    let upstream = TestPublisher<Int, Never>()
    let shared = upstream.multicast(subject: PassthroughSubject()).autoconnect()
    let first = Recorder<Int, Never>()
    shared.subscribe(first)
    upstream.send(completion: .finished)
    let late = Recorder<Int, Never>()

    shared.subscribe(late)

    #expect(first.isFinished)
    expectEqual(late.events, [.subscription, .completion(.finished)])
    expectEqual(upstream.subscriptionCount, 1)
  }

  @Test("the subscription looks like the one it wraps, and the subscriber shows its name and parts")
  func reflection() {
    let connectable = Bare()
    let shared = connectable.autoconnect()
    var subscription: (any Subscription)?
    shared.subscribe(AnySubscriber(receiveSubscription: { subscription = $0 }))

    expectEqual(connectable.subscriberDescription.value, "Autoconnect")
    expectEqual(connectable.subscriberChildren.value, ["parent", "downstream"])
    expectEqual(subscription.map { "\($0)" }, "Empty")
    expectEqual(subscription?.combineIdentifier, Subscriptions.empty.combineIdentifier)
    expectEqual(subscription.map { $0 is any CustomReflectable }, false)
    let playground = (subscription as? any CustomPlaygroundDisplayConvertible)?.playgroundDescription
    expectEqual(playground as? String, "Empty")
  }

  @Test("subscribers coming and going on many threads share one connection at a time")
  func threads() {
    let subject = PassthroughSubject<Int, Never>()
    // Subscribing and cancelling on any thread is what is tested.
    nonisolated(unsafe) let shared = subject.multicast(subject: PassthroughSubject()).autoconnect()
    let staying = Recorder<Int, Never>()
    DispatchQueue.concurrentPerform(iterations: 4) { index in
      for _ in 0..<200 {
        let recorder = Recorder<Int, Never>()
        shared.subscribe(recorder)
        recorder.cancel()
      }
      if index == 0 { shared.subscribe(staying) }
    }

    subject.send(1)

    expectEqual(staying.values, [1])
  }
}

private final class Mutable<Value> {
  var value: Value?
}

/// A connectable publisher that writes down what its subscriber looks like.
private struct Bare: ConnectablePublisher {
  typealias Output = Int
  typealias Failure = Never

  let subscriberDescription = Mutable<String>()
  let subscriberChildren = Mutable<[String?]>()

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    subscriberDescription.value = "\(subscriber)"
    subscriberChildren.value = Mirror(reflecting: subscriber).children.map(\.label)
    subscriber.receive(subscription: Subscriptions.empty)
  }

  func connect() -> any Cancellable { AnyCancellable {} }
}
