import Combine
import Expectations
import Testing

@Suite("count")
struct CountTests {
  @Test("equals another over an equal upstream")
  func equality() {
    expectEqual(Publishers.Count(upstream: Just(1)), Publishers.Count(upstream: Just(1)))
    #expect(Publishers.Count(upstream: Just(1)) != Publishers.Count(upstream: Just(2)))
  }
}
