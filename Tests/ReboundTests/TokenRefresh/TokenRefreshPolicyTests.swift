import Rebound
import Testing

@Suite("TokenRefreshPolicy")
struct TokenRefreshPolicyTests {
  @Test("renews 30 s early, at most five times in 30 s, unless told otherwise")
  func defaults() throws {
    #expect(try TokenRefreshPolicy() == .standard)
    #expect(TokenRefreshPolicy.standard.leeway == .seconds(30))
    #expect(TokenRefreshPolicy.standard.maxRefreshes == 5)
    #expect(TokenRefreshPolicy.standard.window == .seconds(30))
  }
}
