import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("AnyPublisher")
struct AnyPublisherTests {
  @Test("is called so whatever is inside, and shows nothing of it")
  func reflection() {
    let erased = Just(1).map { $0 + 1 }.eraseToAnyPublisher()
    expectEqual(erased.description, "AnyPublisher")
    expectEqual(erased.playgroundDescription as? String, "AnyPublisher")
    expectEqual("\(AnyPublisher(PassthroughSubject<Int, TestFailure>()))", "AnyPublisher")
    #expect(!((erased as Any) is any CustomReflectable))
  }

  @Test("hands out the subscription of the publisher inside, once for each subscriber")
  func subscription() {
    let upstream = TestPublisher<Int, TestFailure>()
    let erased = upstream.eraseToAnyPublisher()
    let subscription = erased.subscriptionForTesting()
    expectEqual(subscription?.combineIdentifier, upstream.connections.first?.combineIdentifier)
    erased.subscribe(Recorder<Int, TestFailure>())
    expectEqual(upstream.subscriptionCount, 2)
  }

  @Test("erased again it is the same: a subscriber is not wrapped once more")
  func erasedTwice() {
    var seen: [String] = []
    let upstream = TestPublisher<Int, TestFailure>(handingOver: { seen.append("\($0)") })
    let once = upstream.eraseToAnyPublisher()
    let twice = AnyPublisher(once.eraseToAnyPublisher())
    let subscriber = AnySubscriber<Int, TestFailure>()
    once.subscribe(subscriber)
    twice.subscribe(subscriber)
    expectEqual(seen, ["Anonymous AnySubscriber", "Anonymous AnySubscriber"])
    let identified = TestPublisher<Int, TestFailure>(handingOver: {
      expectEqual($0.combineIdentifier, subscriber.combineIdentifier)
    })
    AnyPublisher(identified.eraseToAnyPublisher()).subscribe(subscriber)
    expectEqual(identified.subscriptionCount, 1)
  }
}
