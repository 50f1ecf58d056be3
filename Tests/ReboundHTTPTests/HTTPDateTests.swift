import Expectations
import ReboundHTTP
import Testing

@Suite("HTTPDate")
struct HTTPDateTests {
  /// The moment that RFC 9110 §5.6.7 writes in all three forms.
  static let example = HTTPDate(secondsSinceEpoch: 784_111_777)
  static let in2026 = HTTPDate(secondsSinceEpoch: 1_767_225_600)

  @Test(
    "reads the three forms of RFC 9110",
    arguments: [
      "Sun, 06 Nov 1994 08:49:37 GMT",
      "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994",
      " \tSun, 06 Nov 1994 08:49:37 GMT\t ",
    ]
  )
  func readsAllForms(text: String) {
    expectEqual(HTTPDate(text, now: Self.in2026), Self.example)
    expectEqual(HTTPDate(text), Self.example)
  }

  @Test(
    "is the second of a wall clock that has begun",
    arguments: [
      (.zero, 0), (.milliseconds(1_999), 1), (.seconds(784_111_777), 784_111_777), (.milliseconds(-1), -1),
      (.seconds(-2), -2),
    ] as [(Duration, Int64)]
  )
  func wallClock(duration: Duration, seconds: Int64) {
    expectEqual(HTTPDate(since1970: duration).secondsSinceEpoch, seconds)
  }

  @Test(
    "reads dates at the edges of the calendar",
    arguments: [
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
      ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
      ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
      ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
      ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
      ("Tue Dec 31 23:59:59 2024", 1_735_689_599),
    ] as [(String, Int64)]
  )
  func readsEdges(text: String, seconds: Int64) {
    expectEqual(HTTPDate(text)?.secondsSinceEpoch, seconds)
  }

  @Test(
    "reads nothing else",
    arguments: [
      "", " ", "Sun", "120", "06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 GMT+1",
      "Sun, 06 nov 1994 08:49:37 GMT", "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
      "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 06 Nov 94 08:49:37 GMT", "Sun Nov 06 08:49:37 1994 GMT",
      "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Thu, 29 Feb 2023 00:00:00 GMT",
      "Thu, 29 Feb 1900 00:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
      "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994  08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMTx",
      "1994-11-06T08:49:37Z", "Sun, 0６ Nov 1994 08:49:37 GMT", "Sunday, 29-Feb-01 08:49:37 GMT",
    ]
  )
  func refusesOthers(text: String) {
    #expect(HTTPDate(text) == nil)
    #expect(HTTPDate(text, now: Self.in2026) == nil)
  }

  @Test(
    "takes a two-digit year as the latest that is not more than 50 years ahead",
    arguments: [
      // now, two digits, expected
      (2026, "94", 1994), (2026, "26", 2026), (2026, "75", 2075), (2026, "77", 1977), (2026, "00", 2000),
      (1999, "01", 2001), (1999, "48", 2048), (1999, "50", 1950), (2099, "01", 2101), (1970, "70", 1970),
    ]
  )
  func twoDigitYears(year: Int, digits: String, expected: Int) throws {
    let now = try #require(HTTPDate(year: year, month: 6, day: 15, hour: 12, minute: 0, second: 0))
    let date = try #require(HTTPDate("Monday, 01-Jul-\(digits) 00:00:00 GMT", now: now))
    expectEqual(date.year, expected)
  }

  @Test("takes 50 years from the moment, not from the year")
  func fiftyYearsExactly() throws {
    let now = try #require(HTTPDate(year: 2026, month: 6, day: 15, hour: 0, minute: 0, second: 0))
    expectEqual(HTTPDate("Monday, 01-Jun-76 00:00:00 GMT", now: now)?.year, 2076)
    expectEqual(HTTPDate("Monday, 01-Jul-76 00:00:00 GMT", now: now)?.year, 1976)
  }

  @Test("counts every day of 800 years once, and knows its year")
  func countsDays() {
    var next = HTTPDate.daysSinceEpoch(year: 1600, month: 1, day: 1)
    expectEqual(next, -135_140)
    var wrong: [String] = []
    for year in 1600..<2400 {
      for month in 1...12 {
        for day in 1...HTTPDate.days(inMonth: month, of: year) {
          let days = HTTPDate.daysSinceEpoch(year: year, month: month, day: day)
          if days != next || HTTPDate.year(ofDay: days) != year { wrong.append("\(year)-\(month)-\(day)") }
          next += 1
        }
      }
    }
    expectEqual(wrong, [])
    expectEqual(next, HTTPDate.daysSinceEpoch(year: 2400, month: 1, day: 1))
  }

  @Test("tells how long after another moment it is")
  func difference() {
    let later = HTTPDate(secondsSinceEpoch: Self.example.secondsSinceEpoch + 90)
    expectEqual(later.since(Self.example), .seconds(90))
    expectEqual(Self.example.since(later), .seconds(-90))
    #expect(Self.example < later)
    #expect(HTTPDate(secondsSinceEpoch: .max).since(HTTPDate(secondsSinceEpoch: .min)) > .zero)
  }
}
