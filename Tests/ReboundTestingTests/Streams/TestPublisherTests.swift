import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("TestPublisher")
struct TestPublisherTests {
  @Test("writes down subscriptions, requests and cancels, for each subscriber")
  func records() {
    let publisher = TestPublisher<Int, Never>()
    let (first, second) = (Recorder<Int, Never>(requesting: .max(1)), Recorder<Int, Never>(requesting: .max(2)))
    publisher.subscribe(first)
    publisher.subscribe(second)
    first.request(.max(3))
    second.cancel()
    expectEqual(publisher.subscriptionCount, 2)
    expectEqual(publisher.connections.map(\.requests), [[.max(1), .max(3)], [.max(2)]])
    expectEqual(publisher.requests, [.max(1), .max(3), .max(2)])
    expectEqual(publisher.connections.map(\.isCancelled), [false, true])
    expectEqual(publisher.cancelCount, 1)
  }

  @Test("sends on the latest connection, or on the one that is named")
  func sends() {
    let publisher = TestPublisher<Int, Never>()
    expectEqual(publisher.send(0), .none)
    let (first, second) = (Recorder<Int, Never>(), Recorder<Int, Never>())
    publisher.subscribe(first)
    publisher.subscribe(second)
    publisher.send(1)
    publisher.connections[0].send(2)
    publisher.send(completion: .finished)
    expectEqual(first.events, [.subscription, .value(2)])
    expectEqual(second.events, [.subscription, .value(1), .completion(.finished)])
  }

  @Test("sends nothing after a cancel, and lets go of the subscriber")
  func cancelled() {
    let publisher = TestPublisher<Int, Never>()
    weak var weakRecorder: Recorder<Int, Never>?
    do {
      let recorder = Recorder<Int, Never>()
      weakRecorder = recorder
      publisher.subscribe(recorder)
      recorder.cancel()
      publisher.send(1)
      expectEqual(recorder.events, [.subscription])
    }
    #expect(weakRecorder == nil)
  }

  @Test("counts what it sends to nobody")
  func unheard() {
    let publisher = TestPublisher<Int, Never>()
    publisher.send(0)
    let recorder = Recorder<Int, Never>()
    publisher.subscribe(recorder)
    publisher.send(1)
    expectEqual(publisher.unheardCount, 1)
    recorder.cancel()
    publisher.send(2)
    publisher.send(completion: .finished)
    expectEqual(publisher.unheardCount, 3)
  }

  @Test("calls back once each subscriber has its subscription")
  func whenSubscribed() {
    let publisher = TestPublisher<Int, Never>(whenSubscribed: { $0.send(completion: .finished) })
    let recorder = Recorder<Int, Never>()
    publisher.subscribe(recorder)
    expectEqual(recorder.events, [.subscription, .completion(.finished)])
  }

  @Test("hands its subscriber over, and does nothing else")
  func handsOver() {
    var subscribers: [AnySubscriber<Int, Never>] = []
    let publisher = TestPublisher<Int, Never>(handingOver: { subscribers.append($0) })
    let recorder = Recorder<Int, Never>()
    publisher.subscribe(recorder)
    expectEqual(recorder.events, [])
    _ = subscribers.first?.receive(3)
    subscribers.first?.receive(completion: .finished)
    expectEqual(recorder.events, [.value(3), .completion(.finished)])
    expectEqual(publisher.subscriptionCount, 1)
  }
}
