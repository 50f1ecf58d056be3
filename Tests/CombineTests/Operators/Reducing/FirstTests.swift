import Combine
import Expectations
import Testing

@Suite("first")
struct FirstTests {
  @Test("equals another over an equal upstream")
  func equality() {
    expectEqual(Publishers.First(upstream: Just(1)), Publishers.First(upstream: Just(1)))
    #expect(Publishers.First(upstream: Just(1)) != Publishers.First(upstream: Just(2)))
  }

  @Test("stops a sequence without end")
  func endless() {
    var received: [Int] = []
    let subscription = (0...).publisher.first().sink { received.append($0) }
    expectEqual(received, [0])
    subscription.cancel()
  }
}
