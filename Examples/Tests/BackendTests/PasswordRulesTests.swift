import Testing

@testable import Backend

@Suite("PasswordRules")
struct PasswordRulesTests {
  @Test(
    "eight characters to 1024 bytes are fine",
    arguments: ["12345678", "👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦", String(repeating: "a", count: 1024)]
  )
  func fine(password: String) {
    #expect(PasswordRules.objection(to: password) == nil)
  }

  @Test("fewer characters aren't, whatever their bytes", arguments: ["", "1234567", "👨‍👩‍👧‍👦👨‍👩‍👧‍👦"])
  func short(password: String) {
    #expect(PasswordRules.objection(to: password) == "Password must have at least 8 characters")
  }

  @Test("more bytes aren't, whatever their characters")
  func long() {
    let reason = "Password must not be longer than 1024 bytes"
    #expect(PasswordRules.objection(to: String(repeating: "a", count: 1025)) == reason)
    #expect(PasswordRules.objection(to: String(repeating: "é", count: 513)) == reason)
  }
}
