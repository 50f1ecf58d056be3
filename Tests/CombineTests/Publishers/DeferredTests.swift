import Combine
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
    #expect(made == 0)

    let first = Recorder<Int, Never>()
    let second = Recorder<Int, Never>()
    publisher.subscribe(first)
    publisher.subscribe(second)

    #expect(first.values == [1])
    #expect(second.values == [2])
    #expect(made == 2)
  }

  @Test("hands out the subscription of the publisher made")
  func subscription() {
    let upstream = TestPublisher<Int, TestFailure>()
    let subscription = Deferred { upstream }.subscriptionForTesting()
    #expect(subscription?.combineIdentifier == upstream.connections.first?.combineIdentifier)
  }
}
