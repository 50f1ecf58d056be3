import Rebound
import Testing

@Suite("TimeoutPolicy")
struct TimeoutPolicyTests {
  @Test("brings limits into range where it cannot refuse them")
  func clamps() {
    #expect(TimeoutPolicy.total(.seconds(-1)).total == .zero)
    #expect(TimeoutPolicy.betweenValues(.seconds(Int64.max)).betweenValues == .seconds(1_000_000_000))
  }
}
