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
      // One Character of two scalars each: length counts what people see.
      ("🇳🇱🇳🇱🇳🇱", .refused(reason: "Username is too short.")),
      ("🇳🇱🇳🇱🇳🇱🇳🇱", .acceptable),
      ("e\u{301}e\u{301}e\u{301}", .refused(reason: "Username is too short.")),
      ("   ", .refused(reason: "Username is too short.")),
      ("    ", .refused(reason: "Username must not be blank")),
      ("\t\n\u{3000}\u{A0}", .refused(reason: "Username must not be blank")),
      ("admin", .refused(reason: "Username is not valid: admin.")),
      ("Admin", .refused(reason: "Username is not valid: Admin.")),
      ("superuser", .refused(reason: "Username is not valid: superuser.")),
      (" sjefke", .refused(reason: "Username must not begin or end with a space")),
      ("sjefke\u{3000}", .refused(reason: "Username must not begin or end with a space")),
      ("sjef van dijk", .acceptable),
      ("sjef\u{3000}van\u{A0}dijk", .acceptable),
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
      (String(repeating: "a", count: 64), .acceptable),
      (String(repeating: "a", count: 65), .refused(reason: "Username is too long.")),
      // As many bytes as may be; and more of them in a few Characters, which takes ever longer to compare.
      (String(repeating: "\u{1D41A}", count: 64), .acceptable),
      ("abcd" + String(repeating: "\u{316}\u{301}", count: 64), .refused(reason: "Username is too long.")),
    ] as [(String, UserNameVerdict)]
  )
  func verdicts(name: String, verdict: UserNameVerdict) {
    #expect(UserNameRules.judge(name) == verdict)
  }

  @Test(
    "a reserved name is refused in letters that look like its own",
    arguments: [
      "ａｄｍｉｎ", "𝐚𝐝𝐦𝐢𝐧", "\u{430}dmin", "АDМIN", "adm\u{456}n", "ad\u{217F}in", "ADMIN", "admın", "superսser",
      "ѕuperuser", "a\u{501}\u{41C}in", "admi\u{307}n", "adm\u{131}\u{307}n", "adm\u{3B9}\u{307}n",
      "ADM\u{130}N",
    ]
  )
  func twins(name: String) {
    #expect(UserNameRules.judge(name) == .refused(reason: "Username is not valid: \(name)."))
  }

  @Test(
    "a taken name is taken in letters that look like its own",
    arguments: ["раgе", "ｐａｇｅ", "jοhndoe", "j0hndoe", "j\u{307}ohndoe", "\u{458}\u{307}ohndoe"]
  )
  func takenTwins(name: String) {
    #expect(UserNameRules.judge(name) == .taken)
  }

  @Test(
    "what nobody can see is refused: controls, marks of direction, joiners, fillers, blanks, spaces of other widths",
    arguments: [
      "\0", "\u{7F}", "\n", "\u{AD}", "\u{200B}", "\u{200D}", "\u{200E}", "\u{202E}", "\u{2028}", "\u{2060}",
      "\u{2066}",
      "\u{2800}", "\u{3164}", "\u{FE0F}", "\u{FEFF}", "\u{E0061}", "\u{E000}", "\u{2D7F}", "\u{1107F}", "\u{13441}",
      "\u{13442}", "\u{16FE4}", "\u{1D159}", "\u{1680}", "\u{2003}", "\u{200A}", "\u{202F}",
    ]
  )
  func invisible(character: String) {
    let verdict = UserNameVerdict.refused(reason: "Username must not contain invisible characters")
    for name in ["admin\(character)", "sj\(character)efke", "\(character)sjefke"] {
      #expect(UserNameRules.judge(name) == verdict)
    }
  }

  @Test("a trailing space makes no second admin", arguments: ["admin ", " admin", "admin\u{A0}"])
  func trailingSpace(name: String) {
    #expect(UserNameRules.judge(name) == .refused(reason: "Username must not begin or end with a space"))
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
    "spellings of one name, and names that look like one, have a key in common",
    arguments: [
      ("Zoë", "zoe\u{308}"), ("STRASSE", "straße"), ("ΟΔΟΣ", "οδος"), ("ΟΔΟΣ", "οδοσ"), ("ﬁsh", "FISH"),
      ("Å", "\u{212B}"), ("modern", "modem"), ("sjefke1", "sjefkel"), ("paul", "pauI"), ("steve", "steνe"),
      ("ΑΒΕΚ", "abek"), ("raʼs", "ra's"), ("Bo\u{501}\u{41C}o", "BodMo"), ("li\u{307}sa", "lisa"),
      ("i\u{323}\u{307}saac", "i\u{323}saac"), ("john doe", "john  doe"), ("john doe", "john\u{A0}\u{3000}doe"),
    ]
  )
  func sameKey(left: String, right: String) {
    #expect(!UserNameRules.comparisonKeys(of: left).isDisjoint(with: UserNameRules.comparisonKeys(of: right)))
  }

  @Test(
    "different names have no key in common",
    arguments: [
      ("zoe", "zoë"), ("a b", "ab"), (" page", "page"),
      // A dot above another mark is seen.
      ("mi\u{301}\u{307}n", "mi\u{301}n"),
    ]
  )
  func differentKeys(left: String, right: String) {
    #expect(UserNameRules.comparisonKeys(of: left).isDisjoint(with: UserNameRules.comparisonKeys(of: right)))
  }
}
