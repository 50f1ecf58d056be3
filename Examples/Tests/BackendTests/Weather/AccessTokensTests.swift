import Testing

@testable import Backend

@Suite("AccessTokens")
struct AccessTokensTests {
  private let start = ContinuousClock.now

  @Test("a token is valid until its life is over, then expired, and at last forgotten")
  func life() throws {
    var tokens = AccessTokens(lifetime: .seconds(60))
    let issued = tokens.issue(for: AccessTokens.defaultKey, at: start)
    let token = try #require(issued)
    #expect(tokens.judge(token, at: start + .seconds(59)) == .valid)
    #expect(tokens.judge(token, at: start + .seconds(60)) == .expired)
    _ = tokens.issue(for: AccessTokens.defaultKey, at: start + .seconds(1000))
    #expect(tokens.judge(token, at: start + .seconds(1000)) == .unknown)
  }

  @Test("another key gets no token, and is not counted")
  func wrongKey() {
    var tokens = AccessTokens(lifetime: .seconds(60))
    #expect(tokens.issue(for: "guess", at: start) == nil)
    #expect(tokens.issued == 0)
  }

  @Test("a new key ends the tokens of the old one")
  func newKey() throws {
    var tokens = AccessTokens(lifetime: .seconds(60))
    let issued = tokens.issue(for: AccessTokens.defaultKey, at: start)
    let token = try #require(issued)
    tokens.changeKey(to: "other", at: start + .seconds(1))
    #expect(tokens.judge(token, at: start + .seconds(1)) == .expired)
    #expect(tokens.issue(for: AccessTokens.defaultKey, at: start) == nil)
    #expect(tokens.issue(for: "other", at: start) != nil)
  }

  @Test("ending all tokens does not prolong those that are over already")
  func expireAll() throws {
    var tokens = AccessTokens(lifetime: .seconds(1))
    let issued = tokens.issue(for: AccessTokens.defaultKey, at: start)
    let token = try #require(issued)
    tokens.expireAll(at: start + .seconds(100))
    #expect(tokens.judge(token, at: start + .seconds(50)) == .expired)
  }
}
