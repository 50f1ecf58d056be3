import Combine
import Expectations
import Testing

@Suite("contains")
struct ContainsTests {
  @Test("equals another that looks for the same in an equal upstream")
  func equality() {
    expectEqual(Publishers.Contains(upstream: Just(1), output: 2), Publishers.Contains(upstream: Just(1), output: 2))
    #expect(Publishers.Contains(upstream: Just(1), output: 2) != Publishers.Contains(upstream: Just(1), output: 3))
  }
}
