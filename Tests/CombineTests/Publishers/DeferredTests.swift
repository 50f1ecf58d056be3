import Combine
import Expectations
import ReboundTesting
import Testing

@Suite("Deferred")
struct DeferredTests {
  @Test("makes its publisher when a subscriber comes, anew for each")
  func makesAnew() {
    var made = 0
    let publisher = Deferred {
      made += 1
      return Just(made)
    }
    expectEqual(made, 0)

    let first = Recorder<Int, Never>()
    let second = Recorder<Int, Never>()
    publisher.subscribe(first)
    publisher.subscribe(second)

    expectEqual(first.values, [1])
    expectEqual(second.values, [2])
    expectEqual(made, 2)
  }

  @Test("hands out the subscription of the publisher made")
  func subscription() {
    let upstream = TestPublisher<Int, TestFailure>()
    let subscription = Deferred { upstream }.subscriptionForTesting()
    expectEqual(subscription?.combineIdentifier, upstream.connections.first?.combineIdentifier)
  }
}
