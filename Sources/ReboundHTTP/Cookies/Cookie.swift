import Foundation

/// What a server wants to be told again (RFC 6265).
public struct Cookie: Hashable, Codable, Sendable {
  /// Its name, of which case matters.
  public let name: String
  /// What the server wants to be told.
  ///
  /// It may be a credential: descriptions leave it out.
  public let value: String
  /// The host that it is for, in lower case and without a leading dot.
  public let domain: String
  /// The path below which it is for.
  public let path: String
  /// When it is over, in seconds since 1970; `nil` for the end of the session, which is that of the jar.
  public let expires: Int64?
  /// Whether it is for that very host, and not for those below it.
  public let isHostOnly: Bool
  /// Whether it is for secure connections alone.
  public let isSecure: Bool
  /// Whether the server wants it kept from scripts; there are none here, so it is only noted.
  public let isHTTPOnly: Bool
  /// When it was first set, in seconds since 1970.
  public internal(set) var created: Int64

  /// A name and a value have at most so many bytes together (RFC 6265 §6.1).
  static let longest = 4_096
  /// The longest that any is kept, whatever the server says: 400 days, as browsers have it.
  private static let longestLife: Int64 = 400 * 86_400

  /// Reads a Set-Cookie field as RFC 6265 §5.2 and §5.3 say; `nil` if it is to be ignored.
  ///
  /// - Parameters:
  ///   - field: Its value.
  ///   - url: Who has sent it.
  ///   - now: The time, for ages.
  init?(_ field: String, from url: URL, now: Int64) {
    let isControl = { (byte: UInt8) in (byte < 0x20 && byte != 0x09) || byte == 0x7F }
    guard let host = url.host?.lowercased(), !host.isEmpty, !field.utf8.contains(where: isControl) else { return nil }
    let parts = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map(Cookie.pair)
    guard let first = parts.first, let value = first.value, !first.name.isEmpty else { return nil }
    guard first.name.utf8.count + value.utf8.count <= Cookie.longest else { return nil }

    var attributes = Attributes()
    for part in parts.dropFirst() { attributes.take(part.name.lowercased(), part.value ?? "", now) }

    name = first.name
    self.value = value
    created = now
    isSecure = attributes.isSecure
    isHTTPOnly = attributes.isHTTPOnly
    path = attributes.path ?? Cookie.defaultPath(of: url)
    // Max-Age is stronger than Expires.
    expires = (attributes.ageEnd ?? attributes.expires).map { min($0, Cookie.later(now, Cookie.longestLife)) }
    let isOfDomain = attributes.domain != nil && host.contains(".") && !Cookie.isAddress(host)
    domain = attributes.domain ?? host
    isHostOnly = !isOfDomain
    // A name without a dot would be a whole top-level domain. Other public suffixes are not known here.
    guard domain == host || (isOfDomain && domain.contains(".") && Cookie.domain(domain, matches: host)) else {
      return nil
    }
    let isFromSecure = url.scheme?.lowercased() == "https"
    if isSecure, !isFromSecure { return nil }
    let lowercased = name.lowercased()
    if lowercased.hasPrefix("__secure-"), !isSecure { return nil }
    if lowercased.hasPrefix("__host-"), !isSecure || attributes.domain != nil || attributes.path != "/" { return nil }
  }

  /// So many seconds later, or at the end of all time.
  private static func later(_ now: Int64, _ seconds: Int64) -> Int64 {
    let (sum, isBeyond) = now.addingReportingOverflow(seconds)
    return isBeyond ? .max : sum
  }

  private struct Attributes {
    var domain: String?
    var path: String?
    var ageEnd: Int64?
    var expires: Int64?
    var isSecure = false
    var isHTTPOnly = false

    /// The last of a name counts.
    mutating func take(_ name: String, _ value: String, _ now: Int64) {
      guard value.utf8.count <= 1_024 else { return }
      switch name {
      case "domain":
        // As if it were not there (RFC 6265 §5.2.3).
        if value.isEmpty { return }
        let name = value.hasPrefix(".") ? value.dropFirst() : value[...]
        domain = name.isEmpty ? nil : name.lowercased()
      case "path": path = value.hasPrefix("/") ? value : nil
      case "max-age":
        // What is no number is as if it were not there (§5.2.2).
        guard let age = Attributes.age(value) else { return }
        ageEnd = age <= 0 ? .min : Cookie.later(now, age)
      case "expires": expires = CookieDate.seconds(value) ?? expires
      case "secure": isSecure = true
      case "httponly": isHTTPOnly = true
      default: break
      }
    }

    private static func age(_ text: String) -> Int64? {
      let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
      guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      if text.hasPrefix("-") { return -1 }
      return min(Int64(digits) ?? .max, Cookie.longestLife)
    }
  }

  private static func pair(_ bytes: Substring.UTF8View) -> (name: String, value: String?) {
    let sides = bytes.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    let texts = sides.map { String(decoding: trimmed($0), as: UTF8.self) }
    return (texts.first ?? "", texts.count > 1 ? texts[1] : nil)
  }

  // MARK: Where it belongs

  /// The folder of an address (RFC 6265 §5.1.4).
  static func defaultPath(of url: URL) -> String {
    let path = Cookie.path(of: url)
    guard path.hasPrefix("/"), let end = path.lastIndex(of: "/"), end > path.startIndex else { return "/" }
    return String(path[..<end])
  }

  private static func path(of url: URL) -> String {
    URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? ""
  }

  /// Whether a host is a domain or below it (RFC 6265 §5.1.3).
  static func domain(_ domain: String, matches host: String) -> Bool {
    host == domain || (host.hasSuffix("." + domain) && !isAddress(host))
  }

  private static func isAddress(_ host: String) -> Bool {
    host.contains(":") || host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
  }

  /// Whether it goes along to an address (RFC 6265 §5.4).
  func belongs(to url: URL, now: Int64) -> Bool {
    guard let host = url.host?.lowercased(), !isOver(at: now) else { return false }
    guard isHostOnly ? host == domain : Cookie.domain(domain, matches: host) else { return false }
    if isSecure, url.scheme?.lowercased() != "https" { return false }
    let asked = Cookie.path(of: url).isEmpty ? "/" : Cookie.path(of: url)
    return asked == path || (asked.hasPrefix(path) && (path.hasSuffix("/") || asked.dropFirst(path.count).first == "/"))
  }

  func isOver(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }

  /// Whether it takes the place of another.
  func replaces(_ other: Cookie) -> Bool {
    name == other.name && domain == other.domain && path == other.path && isHostOnly == other.isHostOnly
  }
}

extension Cookie: CustomStringConvertible {
  /// Name, domain and path, without the value.
  public var description: String { "\(name)=… for \(domain)\(path)".plainLine(limit: 200) }
}

/// Dates as cookies have them (RFC 6265 §5.1.1).
enum CookieDate {
  /// Seconds since 1970; `nil` for what is no date.
  static func seconds(_ text: String) -> Int64? {
    var (time, day, month, year) = ([Int]?.none, Int?.none, Int?.none, Int?.none)
    for token in text.utf8.split(whereSeparator: isDelimiter) {
      if time == nil, let found = clock(token) {
        time = found
      } else if day == nil, let found = number(token, digits: 1...2) {
        day = found
      } else if month == nil, let found = monthNumber(token) {
        month = found
      } else if year == nil, let found = number(token, digits: 2...4) {
        year = found < 70 ? found + 2_000 : found < 100 ? found + 1_900 : found
      }
    }
    guard let time, let day, let month, let year, year >= 1_601 else { return nil }
    return HTTPDate(year: year, month: month, day: day, hour: time[0], minute: time[1], second: time[2])?
      .secondsSinceEpoch
  }

  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
    default: false
    }
  }

  /// Hours, minutes and seconds, whatever else follows these.
  private static func clock(_ token: Substring.UTF8View) -> [Int]? {
    let parts = token.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).prefix(3)
    guard parts.count == 3, parts.prefix(2).joined().allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    let known = parts.compactMap { number($0, digits: 1...2) }
    return known.count == 3 ? known : nil
  }

  /// A number at the beginning, whatever else follows its digits.
  private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
    let found = token.prefix { (0x30...0x39).contains($0) }
    return digits.contains(found.count) ? Int(String(decoding: found, as: UTF8.self)) : nil
  }

  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

  private static func monthNumber(_ token: Substring.UTF8View) -> Int? {
    months.firstIndex(of: String(decoding: token.prefix(3), as: UTF8.self).lowercased()).map { $0 + 1 }
  }
}
