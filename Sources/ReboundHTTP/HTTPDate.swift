/// A moment as HTTP headers write it, to the second, in Coordinated Universal Time.
///
///     HTTPDate("Sun, 06 Nov 1994 08:49:37 GMT")?.secondsSinceEpoch   // 784111777
///
/// Neither locale nor time zone nor calendar of the machine has a part in it.
public struct HTTPDate: Hashable, Comparable, Sendable {
  /// Seconds since the start of 1970, leap seconds not counted.
  public let secondsSinceEpoch: Int64

  /// Makes a moment.
  ///
  /// - Parameter secondsSinceEpoch: Seconds since the start of 1970.
  public init(secondsSinceEpoch: Int64) {
    self.secondsSinceEpoch = secondsSinceEpoch
  }

  /// Makes the moment of a time source's wall clock.
  ///
  ///     HTTPDate(since1970: time.wallClock)
  ///
  /// - Parameter duration: How much time has passed since the start of 1970; to the second, downward.
  public init(since1970 duration: Duration) {
    let (seconds, attoseconds) = duration.components
    secondsSinceEpoch = attoseconds < 0 ? seconds - 1 : seconds
  }

  /// Reads any of the three forms of RFC 9110 §5.6.7.
  ///
  /// - `Sun, 06 Nov 1994 08:49:37 GMT` (IMF-fixdate, the one to write)
  /// - `Sunday, 06-Nov-94 08:49:37 GMT` (RFC 850): of the years with these two digits the latest that is not more than
  ///   50 years ahead
  /// - `Sun Nov  6 08:49:37 1994` (asctime)
  ///
  /// - Parameters:
  ///   - text: The field's value. White space around it is passed over.
  ///   - now: The present, which only the RFC 850 form needs. Without it, two digits from 70 stand for 19xx and others
  ///     for 20xx.
  ///
  /// The result is `nil` if the text is in none of the forms, or names a day or time that does not exist. A leap second
  /// counts as the second after it. The name of the day is not compared with the date.
  public init?(_ text: some StringProtocol, now: HTTPDate? = nil) {
    var scanner = Scanner(text)
    guard let date = scanner.date(now: now) else { return nil }
    self = date
  }

  /// Makes the moment of a date of the Gregorian calendar; `nil` if there is no such date or time.
  ///
  /// - Parameters:
  ///   - year: From 0.
  ///   - month: From 1.
  ///   - day: From 1.
  ///   - hour: From 0 to 23.
  ///   - minute: From 0 to 59.
  ///   - second: From 0 to 60, the last being a leap second.
  public init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
    guard
      (0...9999).contains(year), (1...12).contains(month),
      (1...HTTPDate.days(inMonth: month, of: year)).contains(day),
      (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
    else { return nil }
    let days = HTTPDate.daysSinceEpoch(year: year, month: month, day: day)
    secondsSinceEpoch = Int64(days) * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
  }

  /// Whether one moment is before another.
  public static func < (left: HTTPDate, right: HTTPDate) -> Bool {
    left.secondsSinceEpoch < right.secondsSinceEpoch
  }

  /// How long after another moment this one is; negative if it is before.
  public func since(_ other: HTTPDate) -> Duration {
    .seconds(secondsSinceEpoch) - .seconds(other.secondsSinceEpoch)
  }

  /// The year of this moment.
  package var year: Int {
    HTTPDate.year(ofDay: Int(secondsSinceEpoch.floorDivided(by: 86_400)))
  }
}

// MARK: - Calendar

// Days are counted in eras of 400 years, which all have 146,097 days, in years that begin on 1 March, so that the leap
// day is the last of its year. Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil
// and civil_from_days.
extension HTTPDate {
  private static let daysPerEra = 146_097
  /// On average.
  static let secondsPerYear: Int64 = 31_556_952
  /// From 1 March of year 0 to 1 January 1970.
  private static let daysBeforeEpoch = 719_468

  package static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int {
    let marchYear = month > 2 ? year : year - 1
    let era = Int(Int64(marchYear).floorDivided(by: 400))
    let yearOfEra = marchYear - era * 400
    let monthFromMarch = (month + 9) % 12
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * daysPerEra + dayOfEra - daysBeforeEpoch
  }

  package static func year(ofDay daysSinceEpoch: Int) -> Int {
    let days = daysSinceEpoch + daysBeforeEpoch
    let era = Int(Int64(days).floorDivided(by: Int64(daysPerEra)))
    let dayOfEra = days - era * daysPerEra
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let marchYear = yearOfEra + era * 400
    return monthFromMarch >= 10 ? marchYear + 1 : marchYear
  }

  package static func days(inMonth month: Int, of year: Int) -> Int {
    switch month {
    case 2:
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      return isLeap ? 29 : 28
    case 4, 6, 9, 11: return 30
    default: return 31
    }
  }
}

extension Int64 {
  fileprivate func floorDivided(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}

// MARK: - Reading

private let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
private let shortDays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
private let longDays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
// How each of the three forms begins, made once: a date is read for many an answer.
private let fixdateStarts = shortDays.map { $0 + ", " }
private let rfc850Starts = longDays.map { $0 + ", " }
private let asctimeStarts = shortDays.map { $0 + " " }

/// The bytes of a field's value without the white space around it, which is space and tab (RFC 9110 §5.6.3).
func trimmed(_ bytes: some Sequence<UInt8>) -> ArraySlice<UInt8> {
  let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
  let start = Array(bytes).drop(while: isBlank)
  guard let last = start.lastIndex(where: { !isBlank($0) }) else { return [] }
  return start[...last]
}

/// Reads the three forms, byte by byte.
///
/// Names are case-sensitive, as RFC 9110 §5.6.7 has it.
private struct Scanner {
  private var rest: ArraySlice<UInt8>

  init(_ text: some StringProtocol) {
    rest = trimmed(text.utf8)
  }

  mutating func date(now: HTTPDate?) -> HTTPDate? {
    let date: HTTPDate?
    if literal(anyOf: fixdateStarts) != nil {
      date = fixdate()
    } else if literal(anyOf: rfc850Starts) != nil {
      date = rfc850Date(now: now)
    } else if literal(anyOf: asctimeStarts) != nil {
      date = asctimeDate()
    } else {
      date = nil
    }
    return rest.isEmpty ? date : nil
  }

  private mutating func fixdate() -> HTTPDate? {
    guard
      let day = number(digits: 2), literal(" "), let month = month(), literal(" "),
      let year = number(digits: 4), literal(" "), let time = time(), literal(" GMT")
    else { return nil }
    return Scanner.moment(year, month, day, time)
  }

  private mutating func rfc850Date(now: HTTPDate?) -> HTTPDate? {
    guard
      let day = number(digits: 2), literal("-"), let month = month(), literal("-"),
      let digits = number(digits: 2), literal(" "), let time = time(), literal(" GMT")
    else { return nil }
    guard let now else { return Scanner.moment(digits >= 70 ? 1900 + digits : 2000 + digits, month, day, time) }
    let century = now.year - now.year % 100
    return [century + 100, century, century - 100].lazy
      .compactMap { Scanner.moment($0 + digits, month, day, time) }
      .first { $0.secondsSinceEpoch - now.secondsSinceEpoch <= 50 * HTTPDate.secondsPerYear }
  }

  private mutating func asctimeDate() -> HTTPDate? {
    guard
      let month = month(), literal(" "), let day = literal(" ") ? number(digits: 1) : number(digits: 2), literal(" "),
      let time = time(), literal(" "), let year = number(digits: 4)
    else { return nil }
    return Scanner.moment(year, month, day, time)
  }

  private static func moment(_ year: Int, _ month: Int, _ day: Int, _ time: (Int, Int, Int)) -> HTTPDate? {
    HTTPDate(year: year, month: month, day: day, hour: time.0, minute: time.1, second: time.2)
  }

  private mutating func time() -> (Int, Int, Int)? {
    guard
      let hour = number(digits: 2), literal(":"), let minute = number(digits: 2), literal(":"),
      let second = number(digits: 2)
    else { return nil }
    return (hour, minute, second)
  }

  private mutating func month() -> Int? {
    literal(anyOf: months).map { $0 + 1 }
  }

  private mutating func number(digits count: Int) -> Int? {
    let digits = rest.prefix(count)
    let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    guard digits.count == count, digits.allSatisfy(isDigit) else { return nil }
    rest.removeFirst(count)
    return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  private mutating func literal(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest.removeFirst(text.utf8.count)
    return true
  }

  private mutating func literal(anyOf texts: [String]) -> Int? {
    for (index, text) in texts.enumerated() where literal(text) { return index }
    return nil
  }
}
