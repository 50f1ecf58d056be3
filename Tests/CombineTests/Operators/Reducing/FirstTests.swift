import Combine
import Testing

@Suite("first")
struct FirstTests {
  @Test("equals another over an equal upstream")
  func equality() {
    #expect(Publishers.First(upstream: Just(1)) == Publishers.First(upstream: Just(1)))
    #expect(Publishers.First(upstream: Just(1)) != Publishers.First(upstream: Just(2)))
  }

  @Test("stops a sequence without end")
  func endless() {
    var received: [Int] = []
    let subscription = (0...).publisher.first().sink { received.append($0) }
    #expect(received == [0])
    subscription.cancel()
  }
}
