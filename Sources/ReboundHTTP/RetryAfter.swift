import Rebound

/// What a server says in the Retry-After field about when to come back (RFC 9110 §10.2.3).
public enum RetryAfter: Hashable, Sendable {
  /// After so many seconds, at least zero.
  case seconds(Int64)
  /// Not before this moment, on the server's clock.
  case date(HTTPDate)

  /// Reads the value of one field: a non-negative integer of seconds, or any form of HTTP-date.
  ///
  /// - Parameters:
  ///   - text: The field's value. White space around it is passed over.
  ///   - now: The present, which dates with two-digit years need.
  ///
  /// The result is `nil` for anything else: a negative number, a fraction, an empty text. More seconds than fit count
  /// as the most that do.
  public init?(_ text: some StringProtocol, now: HTTPDate? = nil) {
    if let seconds = RetryAfter.seconds(in: text) {
      self = .seconds(seconds)
    } else if let date = HTTPDate(text, now: now) {
      self = .date(date)
    } else {
      return nil
    }
  }

  /// How long to wait, counted from a moment; zero if the date has passed.
  public func delay(from moment: HTTPDate) -> Duration {
    switch self {
    case .seconds(let seconds): return min(.seconds(seconds), .longestDelay)
    case .date(let date): return date.since(moment).clampedToDelay
    }
  }

  /// How long a response asks to wait.
  ///
  ///     RetryAfter.delay(fields: ["Sun, 06 Nov 1994 08:50:07 GMT"], date: "Sun, 06 Nov 1994 08:49:37 GMT",
  ///       receivedAt: now)   // 30 s, whatever the device's clock says
  ///
  /// A date is measured against the response's own Date field, because both come from one clock; that of the device may
  /// be wrong. Only without a readable Date field is it measured against the time of receipt.
  ///
  /// - Parameters:
  ///   - fields: The values of all Retry-After fields of the response. Values that were joined with commas, as some
  ///     clients do, are taken apart.
  ///   - date: The value of the response's Date field.
  ///   - receivedAt: When the response came, on the device's clock.
  /// - Returns: `nil` if there is no field, if one cannot be read, or if they disagree.
  public static func delay(fields: [String], date: String? = nil, receivedAt: HTTPDate) -> Duration? {
    let sent = date.flatMap { HTTPDate($0, now: receivedAt) } ?? receivedAt
    var delays: Set<Duration> = []
    for field in fields {
      guard let members = members(of: field[...], now: sent) else { return nil }
      delays.formUnion(members.map { $0.delay(from: sent) })
    }
    return delays.count == 1 ? delays.first : nil
  }

  /// No honest list is longer, and taking one apart tries every comma.
  private static let longestField = 512

  private static func members(of text: Substring, now: HTTPDate) -> [RetryAfter]? {
    guard text.utf8.count <= longestField else { return nil }
    if let single = RetryAfter(text, now: now) { return [single] }
    // A date has a comma of its own, so the first one that leaves something readable on its left is where to cut.
    for comma in text.indices where text[comma] == "," {
      guard let first = RetryAfter(text[..<comma], now: now) else { continue }
      return members(of: text[text.index(after: comma)...], now: now).map { [first] + $0 }
    }
    return nil
  }

  /// A non-negative integer, with white space around it; as many as fit if it is more, and `nil` if it is none.
  static func seconds(in text: some StringProtocol) -> Int64? {
    let digits = trimmed(text.utf8)
    guard !digits.isEmpty else { return nil }
    var seconds: Int64 = 0
    for byte in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      let (tenfold, overflow) = seconds.multipliedReportingOverflow(by: 10)
      let (sum, carry) = tenfold.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
      seconds = overflow || carry ? .max : sum
    }
    return seconds
  }
}
