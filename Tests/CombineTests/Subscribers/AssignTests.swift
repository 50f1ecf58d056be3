import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("assign(to:on:)")
struct AssignTests {
  final class Model {
    var number = 0
  }

  @Test("everything is asked for, each value is set, and no answer asks for more")
  func sets() {
    let upstream = TestPublisher<Int, Never>()
    let model = Model()
    let cancellable = upstream.assign(to: \.number, on: model)

    expectEqual(upstream.requests, [.unlimited])
    expectEqual(upstream.send(5), .none)
    expectEqual(model.number, 5)
    cancellable.cancel()
  }

  @Test("the object is kept until a cancel, which reaches the publisher once")
  func cancelling() {
    let upstream = TestPublisher<Int, Never>()
    weak var released: Model?
    let cancellable = {
      let model = Model()
      released = model
      return upstream.assign(to: \.number, on: model)
    }()
    #expect(released != nil)

    cancellable.cancel()
    cancellable.cancel()

    #expect(released == nil)
    expectEqual(upstream.cancelCount, 1)
  }

  @Test("the end lets the object go, without a cancel")
  func completion() {
    let upstream = TestPublisher<Int, Never>()
    let assign = Subscribers.Assign(object: Model(), keyPath: \.number)
    upstream.subscribe(assign)
    #expect(assign.object != nil)

    upstream.send(completion: .finished)
    upstream.send(completion: .finished)

    #expect(assign.object == nil)
    expectEqual(upstream.cancelCount, 0)
    expectEqual(upstream.send(1), .none)
  }

  @Test("its subscription goes at the end and on a cancel", arguments: [true, false])
  func releasesSubscription(ends: Bool) {
    let assign = Subscribers.Assign(object: Model(), keyPath: \.number)
    weak var released: SubscriptionSpy?
    do {
      let subscription = SubscriptionSpy()
      released = subscription
      assign.receive(subscription: subscription)
    }
    #expect(released != nil)
    if ends { assign.receive(completion: .finished) } else { assign.cancel() }
    #expect(released == nil)
  }

  @Test("values and an end before the subscription are ignored, and so is a cancel")
  func beforeSubscription() {
    let model = Model()
    let assign = Subscribers.Assign(object: model, keyPath: \.number)
    expectEqual(assign.receive(1), .none)
    assign.receive(completion: .finished)
    assign.cancel()

    let upstream = TestPublisher<Int, Never>()
    upstream.subscribe(assign)
    upstream.send(2)

    expectEqual(model.number, 2)
  }

  @Test(
    "a handle that is cancelled before the subscription lets the object go, and cancels the subscription when it comes"
  )
  func handleCancelledEarly() {
    var subscriber: AnySubscriber<Int, Never>?
    weak var released: Model?
    let handle = {
      let model = Model()
      released = model
      return TestPublisher<Int, Never>(handingOver: { subscriber = $0 }).assign(to: \.number, on: model)
    }()
    #expect(released != nil)
    handle.cancel()
    #expect(released == nil)

    let spy = SubscriptionSpy()
    subscriber?.receive(subscription: spy)
    expectEqual(spy.cancelCount, 1)
    expectEqual(spy.requests, [])
  }

  @Test("a second subscription is cancelled, and so is one after the end")
  func secondSubscription() {
    let first = TestPublisher<Int, Never>()
    let others = TestPublisher<Int, Never>()
    let assign = Subscribers.Assign(object: Model(), keyPath: \.number)
    first.subscribe(assign)
    others.subscribe(assign)
    expectEqual(others.cancelCount, 1)
    first.send(completion: .finished)
    others.subscribe(assign)

    expectEqual(others.cancelCount, 2)
    expectEqual(first.cancelCount, 0)
  }

  @Test("it names the type of the object, and shows object, key path and state")
  func reflection() {
    let model = Model()
    let assign = Subscribers.Assign(object: model, keyPath: \.number)

    expectEqual("\(assign)", "Assign Model.")
    expectEqual(assign.playgroundDescription as? String, "Assign Model.")
    let mirror = Mirror(reflecting: assign)
    expectEqual(mirror.children.map(\.label), ["object", "keyPath", "status"])
    #expect(mirror.descendant("object") as? Model === model)
    assign.receive(subscription: Subscriptions.empty)
    assign.receive(completion: .finished)
    #expect(mirror.descendant("object") as? Model === model)
    expectEqual(Mirror(reflecting: assign).children.first.map { "\($0.value)" }, "nil")
  }
}
