import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("ObservableObjectPublisher")
struct ObservableObjectPublisherTests {
  @Test("any request turns signals on for good")
  func demand() {
    let publisher = ObservableObjectPublisher()
    let recorder = Recorder<Void, Never>(requesting: .none)
    publisher.subscribe(recorder)

    publisher.send()
    recorder.request(.none)
    publisher.send()
    expectEqual(recorder.values.count, 0)
    recorder.request(.max(1))
    publisher.send()
    publisher.send()
    expectEqual(recorder.values.count, 2)
  }

  @Test("after a cancel nothing comes, and the subscriber is let go")
  func cancelling() {
    let publisher = ObservableObjectPublisher()
    weak var released: Recorder<Void, Never>?
    do {
      let recorder = Recorder<Void, Never>()
      released = recorder
      publisher.subscribe(recorder)
      recorder.cancel()
      publisher.send()
      recorder.request(.unlimited)
      publisher.send()
      expectEqual(recorder.values.count, 0)
    }

    #expect(released == nil)
  }

  @Test("signals reach all who were there, also from inside a subscriber")
  func nested() {
    let publisher = ObservableObjectPublisher()
    var depth = 0
    let first = publisher.sink {
      depth += 1
      if depth == 1 { publisher.send() }
    }
    let recorder = Recorder<Void, Never>()
    publisher.subscribe(recorder)

    publisher.send()

    expectEqual(recorder.values.count, 2)
    first.cancel()
  }

  @Test("the subscription shows its name and its subscriber")
  func reflection() {
    var subscription: (any Subscription)?
    ObservableObjectPublisher().subscribe(AnySubscriber(receiveSubscription: { subscription = $0 }))

    expectEqual(subscription.map { "\($0)" }, "ObservableObjectPublisher")
    expectEqual(subscription.map { Mirror(reflecting: $0).children.map(\.label) }, ["downstream"])
    subscription?.cancel()
  }
}
