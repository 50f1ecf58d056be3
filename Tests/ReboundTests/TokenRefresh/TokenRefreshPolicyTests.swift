import Expectations
import Rebound
import Testing

@Suite("TokenRefreshPolicy")
struct TokenRefreshPolicyTests {
  @Test("renews 30 s early, at most five times in 30 s, unless told otherwise")
  func defaults() throws {
    try expectEqual(TokenRefreshPolicy(), .standard)
    expectEqual(TokenRefreshPolicy.standard.leeway, .seconds(30))
    expectEqual(TokenRefreshPolicy.standard.maxRefreshes, 5)
    expectEqual(TokenRefreshPolicy.standard.window, .seconds(30))
  }
}
