import Testing

@testable import Backend

@Suite("UserNameRules")
struct UserNameRulesTests {
  @Test(
    "each name gets its verdict",
    arguments: [
      ("", .refused(reason: "Username must not be empty")),
      ("a", .refused(reason: "Username is too short.")),
      ("abc", .refused(reason: "Username is too short.")),
      ("Zoë", .refused(reason: "Username is too short.")),
      // One Character of seven scalars each: length counts what people see.
      ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦", .refused(reason: "Username is too short.")),
      ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦", .acceptable),
      ("e\u{301}e\u{301}e\u{301}", .refused(reason: "Username is too short.")),
      ("   ", .refused(reason: "Username is too short.")),
      ("    ", .refused(reason: "Username must not be blank")),
      ("\t\n\u{3000}\u{A0}", .refused(reason: "Username must not be blank")),
      ("admin", .refused(reason: "Username is not valid: admin.")),
      ("Admin", .refused(reason: "Username is not valid: Admin.")),
      ("superuser", .refused(reason: "Username is not valid: superuser.")),
      (" admin", .acceptable),
      ("administrator", .acceptable),
      ("peterfriese", .taken),
      ("johnnyappleseed", .taken),
      ("page", .taken),
      ("PAGE", .taken),
      ("johndoe", .taken),
      ("illegalresponse", .malformedAnswer),
      ("servererror", .permanentFailure),
      ("maintenance", .maintenance(isPermanent: false)),
      ("maintenance!", .maintenance(isPermanent: true)),
      ("Maintenance", .acceptable),
      ("sjefke", .acceptable),
    ] as [(String, UserNameVerdict)]
  )
  func verdicts(name: String, verdict: UserNameVerdict) {
    #expect(UserNameRules.judge(name) == verdict)
  }

  @Test(
    "the parameter must be given once",
    arguments: [
      ([], .refused(reason: "Username parameter missing")),
      ([nil], .refused(reason: "Username must not be empty")),
      (["sjefke"], .acceptable),
      (["sjefke", "sjefke"], .refused(reason: "Username parameter must be given only once")),
    ] as [([String?], UserNameVerdict)]
  )
  func parameters(values: [String?], verdict: UserNameVerdict) {
    #expect(UserNameRules.judge(parameters: values) == verdict)
  }

  @Test(
    "spellings of one name have one key",
    arguments: [
      ("Zoë", "zoe\u{308}"), ("STRASSE", "straße"), ("ΟΔΟΣ", "οδος"), ("ΟΔΟΣ", "οδοσ"), ("ﬁsh", "FISH"),
      ("Å", "\u{212B}"),
    ]
  )
  func sameKey(left: String, right: String) {
    let keys = [left, right].map { Array(UserNameRules.caselessKey(of: $0).unicodeScalars) }
    #expect(keys[0] == keys[1])
  }

  @Test("different names have different keys", arguments: [("zoe", "zoë"), ("a b", "ab"), (" page", "page")])
  func differentKeys(left: String, right: String) {
    #expect(UserNameRules.caselessKey(of: left) != UserNameRules.caselessKey(of: right))
  }
}
