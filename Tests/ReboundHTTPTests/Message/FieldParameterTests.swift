import Expectations
import Testing

@testable import ReboundHTTP

@Suite("FieldParameter")
struct FieldParameterTests {
  private static func words(_ text: String, apartBy separator: Unicode.Scalar = ";", hasEscapes: Bool = true)
    -> [String]
  {
    FieldParameter.all(in: text, apartBy: separator, hasEscapes: hasEscapes).map {
      "\($0.name)" + ($0.value.map { "=<\($0)>" } ?? "") + ($0.isWellFormed ? "" : "!")
    }
  }

  @Test(
    "reads names and values, quoted or not",
    arguments: [
      ("text/plain; charset=utf-8", ["text/plain", "charset=<utf-8>"]),
      ("a;b=1 ;\tC=\"d e\" ; f", ["a", "b=<1>", "C=<d e>", "f"]),
      ("a=\"\"; b=", ["a=<>", "b=<>"]), ("a = 1; b = \"2\"", ["a=<1>", "b=<2>"]),
      (";;a=1; ;", ["a=<1>"]), ("=1; a=1", ["a=<1>"]), ("", []), ("a==1", ["a=<=1>"]),
    ]
  )
  func plain(text: String, words: [String]) {
    expectEqual(Self.words(text), words)
  }

  @Test(
    "what stands in quotes is no parameter, and what is escaped there does not end it",
    arguments: [
      ("a=\"; b=2\"; c=3", ["a=<; b=2>", "c=<3>"]), ("a=\"\\\"; b=2\"; c=3", ["a=<\"; b=2>", "c=<3>"]),
      ("a=\"\\\\\"; b=2", ["a=<\\>", "b=<2>"]), ("a=\"\\b\"", ["a=<b>"]),
    ]
  )
  func quotes(text: String, words: [String]) {
    expectEqual(Self.words(text), words)
  }

  @Test("without escapes a backslash is one, and the next quote ends the value")
  func noEscapes() {
    expectEqual(Self.words("a=\"\\\"; b=\"\\\\\"", hasEscapes: false), ["a=<\\>", "b=<\\\\>"])
  }

  @Test(
    "what belongs to no value is left out, and said to have been there",
    arguments: [
      ("a=1 2; b=3", ["a=<1>!", "b=<3>"]), ("a=\"1\"2; b=3", ["a=<1>!", "b=<3>"]),
      ("a=\"1; b=2", ["a=<1>!", "b=<2>"]), ("a=\"\\", ["a=<\\>!"]), ("a=\"1\\\"", ["a=<1\\\">!"]),
      ("a=1\"; b=2\"", ["a=<1\">", "b=<2\">"]), ("\"a; b=2\"", ["\"a", "b=<2\">"]),
    ]
  )
  func malformed(text: String, words: [String]) {
    expectEqual(Self.words(text), words)
  }

  @Test("marks behind punctuation hide none of it")
  func marks() {
    let found = FieldParameter.all(in: "a;\u{301}b=\"c\"\u{301}; d=\u{301}\"; e=\"\u{301}f\"")
    expectEqual(found.map(\.name), ["a", "\u{301}b", "d", "e"])
    expectEqual(found.map(\.value), [nil, "c", "\u{301}\"", "\u{301}f"])
  }

  @Test("other separators part the directives of other fields")
  func separators() {
    expectEqual(
      Self.words("max-age=60;x, private=\"a, b; c\",no-store", apartBy: ","),
      [
        "max-age=<60;x>", "private=<a, b; c>", "no-store",
      ]
    )
  }
}
