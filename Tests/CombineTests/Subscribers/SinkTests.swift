import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Sink")
struct SinkTests {
  @Test("asks for everything once, and refuses a second subscription")
  func subscription() {
    let sink = Subscribers.Sink<Int, TestFailure>(receiveCompletion: { _ in }, receiveValue: { _ in })
    let spies = [SubscriptionSpy(), SubscriptionSpy()]
    for spy in spies { sink.receive(subscription: spy) }
    expectEqual(spies.map(\.requests), [[.unlimited], []])
    expectEqual(spies.map(\.cancelCount), [0, 1])
    sink.cancel()
    sink.cancel()
    expectEqual(spies.map(\.cancelCount), [1, 1])
  }

  @Test("takes values before the subscription, the end once, and nothing after it")
  func order() {
    var events: [String] = []
    let sink = Subscribers.Sink<Int, TestFailure>(
      receiveCompletion: { events.append("\($0 == .finished)") },
      receiveValue: { events.append("\($0)") }
    )
    expectEqual(sink.receive(1), .none)
    sink.receive(completion: .finished)
    sink.receive(completion: .failure(.expected))
    expectEqual(sink.receive(2), .none)
    expectEqual(events, ["1", "true"])
  }

  @Test("lets its closures go after the end and after a cancel, but not by a cancel before the subscription")
  func release() {
    final class Token {}
    for ends in [true, false] {
      weak var token: Token?
      let sink: Subscribers.Sink<Int, Never>
      do {
        let captured = Token()
        token = captured
        sink = .init(receiveCompletion: { _ in }, receiveValue: { _ in withExtendedLifetime(captured) {} })
      }
      sink.cancel()
      #expect(token != nil)
      sink.receive(subscription: SubscriptionSpy())
      if ends { sink.receive(completion: .finished) } else { sink.cancel() }
      #expect(token == nil)
    }
  }

  @Test(
    "of sink(), cancelled before the subscription, lets its closures go, and cancels the subscription when it comes"
  )
  func handleCancelledEarly() {
    final class Token {}
    weak var token: Token?
    var subscriber: AnySubscriber<Int, TestFailure>?
    var events: [String] = []
    let handle: AnyCancellable
    do {
      let captured = Token()
      token = captured
      handle = TestPublisher<Int, TestFailure>(handingOver: { subscriber = $0 }).sink(
        receiveCompletion: { _ in events.append("end") },
        receiveValue: { _ in withExtendedLifetime(captured) { events.append("value") } }
      )
    }
    #expect(token != nil)
    handle.cancel()
    #expect(token == nil)

    let spy = SubscriptionSpy()
    subscriber?.receive(subscription: spy)
    _ = subscriber?.receive(1)
    subscriber?.receive(completion: .finished)
    expectEqual(spy.cancelCount, 1)
    expectEqual(spy.requests, [])
    expectEqual(events, [])
  }

  @Test("lets its subscription go at the end and on a cancel", arguments: [true, false])
  func releasesSubscription(ends: Bool) {
    let sink = Subscribers.Sink<Int, Never>(receiveCompletion: { _ in }, receiveValue: { _ in })
    weak var released: SubscriptionSpy?
    do {
      let subscription = SubscriptionSpy()
      released = subscription
      sink.receive(subscription: subscription)
    }
    #expect(released != nil)
    if ends { sink.receive(completion: .finished) } else { sink.cancel() }
    #expect(released == nil)
  }

  @Test("is called Sink, and shows nothing")
  func reflection() {
    let sink = Subscribers.Sink<Int, Never>(receiveCompletion: { _ in }, receiveValue: { _ in })
    expectEqual(SelfPortrait(of: sink), SelfPortrait("Sink", labels: []))
  }

  @Test("shows its closures, and in their place, after the end, some that do nothing", arguments: [true, false])
  func closures(ends: Bool) {
    var events: [String] = []
    let sink = Subscribers.Sink<Int, Never>(
      receiveCompletion: { _ in events.append("end") },
      receiveValue: { events.append("\($0)") }
    )
    sink.receiveValue(1)
    sink.receiveCompletion(.finished)
    expectEqual(events, ["1", "end"])

    sink.receive(subscription: SubscriptionSpy())
    if ends { sink.receive(completion: .finished) } else { sink.cancel() }
    events = []
    sink.receiveValue(2)
    sink.receiveCompletion(.finished)
    expectEqual(events, [])
  }

  @Test("what its closures held may come back to it as it goes")
  func reentrantRelease() {
    final class Late {
      var whenGone: () -> Void = {}
      deinit { whenGone() }
    }
    var values: [Int] = []
    var hasGone = false
    let sink: Subscribers.Sink<Int, Never>
    do {
      let late = Late()
      sink = Subscribers.Sink(
        receiveCompletion: { _ in withExtendedLifetime(late) {} },
        receiveValue: {
          withExtendedLifetime(late) {}
          values.append($0)
        }
      )
      late.whenGone = { [weak sink] in
        _ = sink?.receive(9)
        sink?.cancel()
        sink?.receive(completion: .finished)
        hasGone = true
      }
    }
    sink.receive(subscription: SubscriptionSpy())
    _ = sink.receive(1)
    sink.receive(completion: .finished)
    expectEqual(values, [1])
    #expect(hasGone)
  }
}
