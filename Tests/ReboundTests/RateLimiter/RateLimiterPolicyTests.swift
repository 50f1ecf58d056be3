import Rebound
import Testing

@Suite("RateLimiterPolicy")
struct RateLimiterPolicyTests {
  @Test("brings the numbers of the feedback into range")
  func feedback() {
    let low = RateLimiterPolicy.Feedback(decrease: .nan, scale: -1, floor: 0)
    #expect((low.decrease, low.scale, low.floor) == (0.01, 0, 0.001))
    let high = RateLimiterPolicy.Feedback(decrease: 9, scale: .infinity, floor: 9)
    #expect((high.decrease, high.scale, high.floor) == (1, 1e9, 1))
  }
}
