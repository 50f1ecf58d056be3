import Expectations
import ReboundHTTP
import Testing

@Suite("RetryAfter")
struct RetryAfterTests {
  static let now = HTTPDate(secondsSinceEpoch: 784_111_777)

  @Test(
    "reads seconds, and any form of date",
    arguments: [
      ("0", .seconds(0)),
      ("120", .seconds(120)),
      ("007", .seconds(7)),
      (" 3\t", .seconds(3)),
      ("9223372036854775807", .seconds(.max)),
      ("9223372036854775808", .seconds(.max)),
      ("99999999999999999999999999999999", .seconds(.max)),
      ("Sun, 06 Nov 1994 08:49:37 GMT", .date(now)),
      ("Sunday, 06-Nov-94 08:49:37 GMT", .date(now)),
      ("Sun Nov  6 08:49:37 1994", .date(now)),
    ] as [(String, RetryAfter)]
  )
  func reads(text: String, expected: RetryAfter) {
    expectEqual(RetryAfter(text, now: Self.now), expected)
  }

  @Test(
    "takes nothing else for a hint",
    arguments: ["", " ", "-1", "+1", "1.5", "1,5", "1e3", "0x10", "1 2", "soon", "٣", "Sun, 06 Nov 1994"]
  )
  func refuses(text: String) {
    #expect(RetryAfter(text) == nil)
    #expect(RetryAfter.delay(fields: [text], receivedAt: Self.now) == nil)
  }

  @Test(
    "turns the fields of a response into a delay",
    arguments: [
      (["120"], nil, .seconds(120)),
      (["0"], nil, .zero),
      (["Sun, 06 Nov 1994 08:50:07 GMT"], nil, .seconds(30)),
      (["Sunday, 06-Nov-94 08:50:07 GMT"], nil, .seconds(30)),
      (["Sun Nov  6 08:50:07 1994"], nil, .seconds(30)),
      // The past.
      (["Sun, 06 Nov 1994 08:00:00 GMT"], nil, .zero),
      // The response's own clock, an hour off the device's.
      (["Sun, 06 Nov 1994 09:49:47 GMT"], "Sun, 06 Nov 1994 09:49:37 GMT", .seconds(10)),
      (["Sun, 06 Nov 1994 09:49:47 GMT"], "Sunday, 06-Nov-94 09:49:37 GMT", .seconds(10)),
      // A Date field that cannot be read is as good as none.
      (["Sun, 06 Nov 1994 08:50:07 GMT"], "yesterday", .seconds(30)),
      // Duplicates that agree, as fields and joined.
      (["5", "5"], nil, .seconds(5)),
      (["5, 5"], nil, .seconds(5)),
      (["Sun, 06 Nov 1994 08:50:07 GMT, Sun, 06 Nov 1994 08:50:07 GMT"], nil, .seconds(30)),
      (["30", "Sun, 06 Nov 1994 08:50:07 GMT"], nil, .seconds(30)),
      (["30, Sun, 06 Nov 1994 08:50:07 GMT"], nil, .seconds(30)),
      // Duplicates that differ.
      (["5", "6"], nil, nil),
      (["5, 6"], nil, nil),
      (["5", "Sun, 06 Nov 1994 08:50:07 GMT"], nil, nil),
      // One that cannot be read spoils all.
      (["5", "later"], nil, nil),
      (["5,"], nil, nil),
      ([], nil, nil),
    ] as [([String], String?, Duration?)]
  )
  func delays(fields: [String], date: String?, expected: Duration?) {
    expectEqual(RetryAfter.delay(fields: fields, date: date, receivedAt: Self.now), expected)
  }

  @Test("stays finite, whatever the server says")
  func staysFinite() throws {
    let longest = try #require(RetryAfter.delay(fields: ["99999999999999999999"], receivedAt: Self.now))
    expectEqual(longest, .seconds(1_000_000_000))
    let distant = try #require(RetryAfter.delay(fields: ["Fri, 31 Dec 9999 23:59:59 GMT"], receivedAt: Self.now))
    expectEqual(distant, longest)
  }

  @Test("does not take apart a field of any length")
  func refusesLongFields() {
    let field = String(repeating: "5,", count: 5_000) + "5"
    #expect(RetryAfter.delay(fields: [field], receivedAt: Self.now) == nil)
  }
}
