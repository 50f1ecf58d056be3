import Expectations
import Foundation
import ReboundHTTP
import Testing

@Suite("What a server says, in logs and for people")
struct ServerMessageTests {
  private static func failure(saying text: String) -> NetworkFailure {
    NetworkFailure(
      .serverError(503),
      call: .init(operation: "Forecast", requestID: text),
      head: ResponseHead(status: 503, url: URL(filePath: "/")),
      server: ServerMessage(text: text),
      underlying: Quoting(text)
    )
  }

  private struct Quoting: Error, CustomStringConvertible {
    let description: String

    init(_ text: String) { description = text }
  }

  @Test(
    "one line of plain text, whatever is in it",
    arguments: [
      ("down for maintenance", "down for maintenance"),
      ("one\nINFO: two\r\nthree\u{2028}four\u{85}five", "one INFO: two three four five"),
      ("\u{1B}[31mred\u{1B}[0m\u{0}\u{7}", "[31mred[0m"),
      ("user \u{202E}nimda\u{202C} \u{2066}x\u{2069}\u{FEFF}\u{AD}", "user nimda x"),
      ("<script>alert(1)</script><b>We are</b> back<br/>soon <!-- never -->", "alert(1) We are back soon"),
      ("<img src=x onerror=alert(1)", ""),
      ("5 < 6 and 7 > 6", "5 < 6 and 7 > 6"),
      ("  much \t\u{A0} room  ", "much room"),
      ("Z\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}x", "Z\u{300}\u{301}\u{302}\u{303}x"),
      ("नमस्ते, سلام‌علیکم, 👩‍👩‍👧", "नमस्ते, سلام‌علیکم, 👩‍👩‍👧"),
    ]
  )
  func plain(text: String, shown: String) {
    let failure = Self.failure(saying: text)
    expectEqual(
      failure.serverMessage.map { Array($0.unicodeScalars) },
      shown.isEmpty ? nil : Array(shown.unicodeScalars)
    )
    expectEqual(failure.server?.text, text)
    if !shown.isEmpty { expectEqual(failure.errorDescription, shown) }
  }

  @Test(
    "the line of a log is one line, and is bounded",
    arguments: [
      String(repeating: "a", count: 100_000), String(repeating: "<b>", count: 100_000),
      String(repeating: "\u{301}", count: 100_000), String(repeating: "a\n", count: 100_000),
      "x\u{202E}\u{0}\n\u{1B}[2J",
    ]
  )
  func bounded(text: String) {
    let failure = Self.failure(saying: text)
    for line in ["\(failure)", failure.errorDescription ?? "", failure.recoverySuggestion ?? ""] {
      #expect(line.unicodeScalars.count < 1_500)
      #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control || $0 == "\u{202E}" })
    }
  }

  @Test("what is wrong with the fields of a form is plain text, too")
  func fields() throws {
    let answer = Data(#"{"errors":{"name":["is <b>taken</b>\n\u202E"]}}"#.utf8)
    let members = try #require(try JSONDecoder().decode(JSONValue.self, from: answer).members)
    expectEqual(ProblemDetails(members: members).fieldErrors, ["name": ["is taken"]])
  }

  @Test(
    "a pause that is asked for is said in words that people use, and left out beyond a month",
    arguments: [
      (30, "30 seconds"), (7_200, "2 hours"), (400_000, "5 days"), (1_000_000_000, nil),
    ] as [(Int, String?)]
  )
  func pauses(seconds: Int, words: String?) {
    var failure = Self.failure(saying: "busy")
    failure.retryAfter = .seconds(seconds)
    let suggestion = failure.recoverySuggestion ?? ""
    #expect(suggestion.contains(words ?? "again") && (words != nil || !suggestion.contains("days")))
  }
}
