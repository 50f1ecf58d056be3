import Expectations
import Rebound
import Testing

@Suite("TimeoutPolicy")
struct TimeoutPolicyTests {
  @Test("brings limits into range where it cannot refuse them")
  func clamps() {
    expectEqual(TimeoutPolicy.total(.seconds(-1)).total, .zero)
    expectEqual(TimeoutPolicy.betweenValues(.seconds(Int64.max)).betweenValues, .seconds(1_000_000_000))
  }
}
