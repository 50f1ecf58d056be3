import Expectations
import Foundation
import Rebound
import ReboundTelemetry
import ReboundTesting
import Testing

@Suite("EventField")
struct EventFieldTests {
  private func line(_ fields: EventField...) -> String {
    let scheduler = TestScheduler()
    let kept = Log<String>()
    let lines = JSONLines(time: scheduler.time) { $0 }
    let reading = lines.read(kept.write)
    lines.write("own", fields)
    scheduler.advance()
    reading.cancel()
    return kept.entries.joined()
  }

  @Test("each kind of value is one of JSON")
  func values() {
    expectEqual(
      line(
        EventField("text", "a"),
        EventField("whole", -3),
        EventField("number", 1e22),
        EventField("duration", .nanoseconds(1_500_000_400)),
        EventField("flag", true),
        EventField("object", [EventField("x", 1), EventField("y", [])])
      ),
      #"{"line":1,"time":0.0,"type":"own","text":"a","whole":-3,"number":1e+22,"duration":1.5,"flag":true,"#
        + #""object":{"x":1,"y":{}}}"#
    )
  }

  @Test("what is no number is null", arguments: [Double.nan, .infinity, -.infinity])
  func noNumber(number: Double) {
    expectEqual(line(EventField("n", number)), #"{"line":1,"time":0.0,"type":"own","n":null}"#)
  }

  @Test(
    "no text breaks a line or changes how it reads, and each is read back as it was",
    arguments: [
      "a\nb\r\tc", #"quote " and \ backslash"#, "\u{0}\u{1B}[31mred\u{7F}\u{85}", "lines\u{2028}and\u{2029}paragraphs",
      "right\u{202E}left\u{2066}", "👩‍👩‍👧 é ñ 漢", "\u{E0041}tag", "\"\u{301}",
    ]
  )
  func texts(text: String) throws {
    let line = line(EventField(text, text))
    #expect(
      !line.unicodeScalars.contains {
        [.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
      }
    )
    let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    let value = try #require(object[text] as? String)
    expectEqual(Array(value.utf8), Array(text.utf8))
  }

  @Test("a text that is too long is cut off, which its end shows")
  func long() throws {
    let line = line(EventField("text", String(repeating: "é", count: 5_000)))
    #expect(line.hasSuffix("é…\"}"))
    #expect(line.unicodeScalars.count < 4_100)
  }

  @Test("a secret that lies where a text is cut off is hidden as a whole")
  func hiddenBeforeItIsCut() {
    let scheduler = TestScheduler()
    let kept = Log<String>()
    let lines = JSONLines(time: scheduler.time) { $0.replacingOccurrences(of: "secret", with: "…") }
    let reading = lines.read(kept.write)
    lines.write("own", [EventField("text", String(repeating: "x", count: 3_997) + "secret")])
    scheduler.advance()
    reading.cancel()
    expectEqual(kept.entries.count, 1)
    #expect(kept.entries.allSatisfy { $0.hasSuffix("x…\"}") })
  }
}
