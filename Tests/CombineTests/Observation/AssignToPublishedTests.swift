import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("assign(to: &$property)")
struct AssignToPublishedTests {
  final class Model: ObservableObject {
    @Published var number = 0
    @Published var text = ""

    init() {}
    init<P: Publisher>(_ numbers: P) where P.Output == Int, P.Failure == Never {
      numbers.assign(to: &$number)
    }
  }

  @Test("each value is set as if by hand: announced, sent, kept")
  func sets() {
    let upstream = TestPublisher<Int, Never>()
    let model = Model(upstream)
    var changes = 0
    let announcing = model.objectWillChange.sink { changes += 1 }
    let recorder = Recorder<Int, Never>()
    model.$number.subscribe(recorder)

    upstream.send(1)
    upstream.send(2)

    expectEqual(upstream.requests, [.unlimited])
    expectEqual(recorder.values, [0, 1, 2])
    expectEqual(model.number, 2)
    expectEqual(changes, 2)
    announcing.cancel()
  }

  @Test("the end of the publisher is ignored, and another one may follow")
  func completion() {
    let upstream = TestPublisher<Int, Never>()
    let model = Model(upstream)
    upstream.send(1)
    upstream.send(completion: .finished)
    upstream.send(2)
    expectEqual(model.number, 1)

    Just(3).assign(to: &model.$number)
    expectEqual(model.number, 3)
  }

  @Test("a property keeps few of the subscriptions that have ended")
  func forgetsEnded() {
    let publisher = CensusPublisher(Just(1))
    let model = Model()
    for _ in 0..<200 { publisher.assign(to: &model.$number) }
    #expect(publisher.livingCount <= 16)
    expectEqual(model.number, 1)
  }

  @Test("a second subscription is cancelled, and the first goes on")
  func secondSubscription() {
    let (upstream, spy) = (TestPublisher<Int, Never>(), SubscriptionSpy())
    let model = Model(upstream)
    upstream.connections[0].send(subscription: spy)
    expectEqual(spy.cancelCount, 1)
    expectEqual(spy.requests, [])
    upstream.send(1)
    expectEqual(model.number, 1)
    expectEqual(upstream.cancelCount, 0)
  }

  @Test("the object is not kept, and the publisher is cancelled when it goes")
  func releases() {
    let upstream = TestPublisher<Int, Never>()
    weak var released: Model?
    do {
      let model = Model(upstream)
      released = model
      expectEqual(upstream.cancelCount, 0)
    }

    #expect(released == nil)
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("one property may follow another of the same object without keeping it alive")
  func withinOneObject() {
    weak var released: Model?
    do {
      let model = Model()
      released = model
      model.$number.map { "\($0)" }.assign(to: &model.$text)
      model.number = 5
      expectEqual(model.text, "5")
    }

    #expect(released == nil)
  }
}
