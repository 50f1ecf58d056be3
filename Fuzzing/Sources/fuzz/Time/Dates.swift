import Foundation

@testable import Rebound
@testable import ReboundHTTP

extension FuzzTarget {
  /// HTTP dates in their three forms, and Retry-After.
  static let dates = FuzzTarget(
    "dates",
    seeds: [
      "\0\0Sun, 06 Nov 1994 08:49:37 GMT\n120",
      "\0\0Sunday, 06-Nov-94 08:49:37 GMT\nSun, 06 Nov 1994 08:49:37 GMT, 30",
      "\0\0Sun Nov  6 08:49:37 1994\n1, 1 ,1\n1",
      "\u{64}\0Wed, 29 Feb 2096 23:59:60 GMT\n99999999999999999999",
    ],
    words: [" GMT", "Sun, ", "Sunday, ", "Feb", "Dec", "31", "29", "23:59:60", "9999", "0000", ", "]
  ) { input in
    let now = HTTPDate(secondsSinceEpoch: input.integer())
    let lines = input.text().split(separator: "\n", maxSplits: 200, omittingEmptySubsequences: false).map(String.init)
    for line in lines {
      for present in [nil, now] {
        if let date = HTTPDate(line, now: present) { check(date, readFrom: line) }
      }
    }
    let delay = RetryAfter.delay(fields: Array(lines.dropFirst()), date: lines.first, receivedAt: now)
    if let delay { expect((.zero ... .longestDelay).contains(delay), "Retry-After of \(delay)") }
  }

  private static func check(_ date: HTTPDate, readFrom line: String) {
    // From the start of year 0 to the leap second at the end of year 9999.
    let range: ClosedRange<Int64> = -62_167_219_200...253_402_300_800
    expect(range.contains(date.secondsSinceEpoch), "'\(line)' is \(date.secondsSinceEpoch)")
    guard date.secondsSinceEpoch < range.upperBound else { return }
    expectEqual(HTTPDate(fixdate(date)), date, fixdate(date))
  }

  /// The date as RFC 9110 wants it written, found by counting days.
  private static func fixdate(_ date: HTTPDate) -> String {
    let day = Int((Double(date.secondsSinceEpoch) / 86_400).rounded(.down))
    let second = Int(date.secondsSinceEpoch) - day * 86_400
    let year = date.year
    var (month, rest) = (1, day - HTTPDate.daysSinceEpoch(year: year, month: 1, day: 1))
    while rest >= HTTPDate.days(inMonth: month, of: year) {
      rest -= HTTPDate.days(inMonth: month, of: year)
      month += 1
    }
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let digits = { (number: Int, count: Int) in
      String(repeating: "0", count: count - "\(number)".count) + "\(number)"
    }
    let time = [second / 3_600, second / 60 % 60, second % 60].map { digits($0, 2) }.joined(separator: ":")
    let weekday = weekdays[(day % 7 + 7) % 7]
    return "\(weekday), \(digits(rest + 1, 2)) \(names[month - 1]) \(digits(year, 4)) \(time) GMT"
  }
}
