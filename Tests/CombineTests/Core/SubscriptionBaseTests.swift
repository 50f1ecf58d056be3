import Combine
import Expectations
import Testing

/// A subscription that is a structure, as others may write them, larger than what an existential has room for.
private struct PlainSubscription: Subscription {
  let spy: SubscriptionSpy
  let padding = (1, 2, 3, 4)
  let combineIdentifier = CombineIdentifier()

  func request(_ demand: Subscribers.Demand) { spy.request(demand) }
  func cancel() { spy.cancel() }
}

/// A publisher as others write them, which gives everyone the same subscription and sends nothing.
private struct Foreign<Output>: Publisher {
  typealias Failure = Never

  let subscription: any Subscription

  func receive<S>(subscriber: S) where S: Subscriber, Never == S.Failure, Output == S.Input {
    subscriber.receive(subscription: subscription)
  }
}

@Suite("subscriptions of others")
struct SubscriptionBaseTests {
  /// Chains whose first operator holds the subscription of its upstream.
  private let chains: [(name: String, build: (Foreign<Int>) -> AnyPublisher<Int, Never>)] = [
    ("map", { $0.map { $0 }.eraseToAnyPublisher() }),
    ("erased", { $0.eraseToAnyPublisher() }),
    ("removeDuplicates", { $0.removeDuplicates().eraseToAnyPublisher() }),
    ("scan", { $0.scan(0, +).eraseToAnyPublisher() }),
    ("dropFirst", { $0.dropFirst().eraseToAnyPublisher() }),
    ("prefix", { $0.prefix(2).eraseToAnyPublisher() }),
    ("collect", { $0.collect(2).map(\.count).eraseToAnyPublisher() }),
    ("buffer", { $0.buffer(size: 2, prefetch: .byRequest, whenFull: .dropNewest).eraseToAnyPublisher() }),
    ("handleEvents", { $0.handleEvents(receiveOutput: { _ in }).eraseToAnyPublisher() }),
    ("catch", { $0.setFailureType(to: TestFailure.self).catch { _ in Just(1) }.eraseToAnyPublisher() }),
    (
      "retry",
      { $0.setFailureType(to: TestFailure.self).retry(1).replaceError(with: 1).eraseToAnyPublisher() }
    ),
    ("append", { $0.append(1).eraseToAnyPublisher() }),
    ("flatMap", { $0.flatMap { Just($0) }.eraseToAnyPublisher() }),
    ("inside flatMap", { upstream in Just(1).flatMap { _ in upstream }.eraseToAnyPublisher() }),
    ("switchToLatest", { $0.map { Just($0) }.switchToLatest().eraseToAnyPublisher() }),
    ("inside switchToLatest", { Just($0).switchToLatest().eraseToAnyPublisher() }),
    ("zip", { $0.zip(Empty<Int, Never>(completeImmediately: false)).map(\.0).eraseToAnyPublisher() }),
    (
      "combineLatest",
      { $0.combineLatest(Empty<Int, Never>(completeImmediately: false)).map(\.0).eraseToAnyPublisher() }
    ),
    ("merge", { $0.merge(with: Empty<Int, Never>(completeImmediately: false)).eraseToAnyPublisher() }),
    ("share", { $0.share().eraseToAnyPublisher() }),
  ]

  @Test("objects and structures alike are asked, cancelled once, and let go, by whichever operator holds them")
  func pipes() {
    for (name, build) in chains {
      for isObject in [true, false] {
        let spy = SubscriptionSpy()
        let handle = build(Foreign(subscription: isObject ? spy : PlainSubscription(spy: spy))).sink { _ in }
        #expect(!spy.requests.isEmpty, "\(name) does not ask")
        expectEqual(spy.cancelCount, 0, "\(name) cancels too early")
        handle.cancel()
        expectEqual(spy.cancelCount, 1, "\(name) cancels \(spy.cancelCount) times")
      }
    }
  }

  @Test("pipes let go of them on a cancel, though the handle is kept")
  func release() {
    for (name, build) in chains {
      weak var released: SubscriptionSpy?
      let handle: AnyCancellable
      do {
        let spy = SubscriptionSpy()
        released = spy
        handle = build(Foreign(subscription: spy)).sink { _ in }
      }
      #expect(released != nil, "\(name) does not hold it")
      handle.cancel()
      withExtendedLifetime(handle) { #expect(released == nil, "\(name) keeps it") }
    }
  }

  @Test("a subscriber gets the very one that was given, however often types were erased on the way")
  func identity() {
    let spy = SubscriptionSpy()
    let plain = PlainSubscription(spy: spy)
    for given in [spy, plain] as [any Subscription] {
      let keeper = Keeper<Int, Never>()
      Foreign<Int>(subscription: given).eraseToAnyPublisher().map { $0 }.eraseToAnyPublisher()
        .receive(subscriber: AnySubscriber(AnySubscriber(keeper)))
      expectEqual(keeper.subscription?.combineIdentifier, given.combineIdentifier)
      expectEqual(keeper.subscription is PlainSubscription, given is PlainSubscription)
      expectEqual(keeper.subscription as? SubscriptionSpy === spy, given is SubscriptionSpy)
    }
  }

  @Test("one that holds others is shown by what it shares, and mirrors show the one that was given")
  func reflection() throws {
    let spy = SubscriptionSpy()
    let keeper = Keeper<Int, Never>()
    Foreign<Int>(subscription: spy).combineLatest(Foreign<Int>(subscription: spy)).map(\.0).subscribe(keeper)
    let mirror = Mirror(reflecting: try #require(keeper.subscription))
    let shown = try #require(mirror.children.first { $0.label == "upstreamSubscriptions" })
    expectEqual((shown.value as? [any Subscription])?.allSatisfy { $0 is SubscriptionSpy }, true)
  }
}
