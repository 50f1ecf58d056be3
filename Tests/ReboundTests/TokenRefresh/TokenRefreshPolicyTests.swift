import Rebound
import Testing

@Suite("TokenRefreshPolicy")
struct TokenRefreshPolicyTests {
  @Test("refuses numbers that make no sense, and says which and what to give")
  func invalid() {
    let cases: [(() throws -> TokenRefreshPolicy, InvalidTokenRefreshPolicy, String)] = [
      ({ try TokenRefreshPolicy(leeway: .seconds(-1)) }, .negativeDuration(.seconds(-1)), "-1.0 seconds"),
      ({ try TokenRefreshPolicy(cooldown: .seconds(-2)) }, .negativeDuration(.seconds(-2)), "zero for none"),
      ({ try TokenRefreshPolicy(maxRefreshes: 0) }, .noRefreshes(0), "at least 1"),
      ({ try TokenRefreshPolicy(window: .zero) }, .windowNotPositive(.zero), "positive"),
      (
        { try TokenRefreshPolicy(cooldown: .seconds(9), maxCooldown: .seconds(3)) },
        .maxBelowCooldown(.seconds(3), cooldown: .seconds(9)), "Raise one or lower the other"
      ),
    ]
    for (make, error, text) in cases {
      #expect(throws: error) { try make() }
      #expect("\(error)".contains(text))
    }
  }

  @Test("renews 30 s early, at most five times in 30 s, unless told otherwise")
  func defaults() throws {
    #expect(try TokenRefreshPolicy() == .standard)
    #expect(TokenRefreshPolicy.standard.leeway == .seconds(30))
    #expect(TokenRefreshPolicy.standard.maxRefreshes == 5)
    #expect(TokenRefreshPolicy.standard.window == .seconds(30))
  }
}
