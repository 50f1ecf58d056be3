import Expectations
import Foundation
import ReboundHTTP
import Testing

/// Which cookie is set from where, and whether it is sent to another address.
struct CookieCase: Sendable, CustomTestStringConvertible {
  let field: String
  let origin: String
  let target: String
  let isSent: Bool

  init(_ field: String, from origin: String, to target: String, _ isSent: Bool) {
    (self.field, self.origin, self.target, self.isSent) = (field, origin, target, isSent)
  }

  var testDescription: String { "\(field) from \(origin) to \(target)" }
}

@Suite("A cookie jar (RFC 6265)")
struct CookieJarTests {
  static let now = HTTPDate(secondsSinceEpoch: 1_800_000_000)

  static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

  static func later(_ seconds: Int64) -> HTTPDate {
    HTTPDate(secondsSinceEpoch: now.secondsSinceEpoch + seconds)
  }

  /// A jar with what one answer sets.
  static func jar(_ fields: String..., from origin: String = "https://www.example.com/a/b") throws -> CookieJar {
    var jar = CookieJar()
    try set(fields, in: &jar, from: origin)
    return jar
  }

  static func set(
    _ fields: [String],
    in jar: inout CookieJar,
    from origin: String = "https://www.example.com/a/b",
    at time: HTTPDate = now
  ) throws {
    jar.store(HTTPHeaders(fields.map { .init("Set-Cookie", $0) }), from: try url(origin), now: time)
  }

  static func sent(
    _ jar: CookieJar,
    to target: String = "https://www.example.com/a/b",
    at time: HTTPDate = now
  ) throws -> String? {
    var copy = jar
    return copy.field(for: try url(target), now: time)
  }

  @Test(
    "goes along where domain, path and connection match (RFC 6265 §5.1.3, §5.1.4, §5.4)",
    arguments: [
      CookieCase("a=1", from: "https://example.com/", to: "https://example.com/x", true),
      CookieCase("a=1", from: "https://example.com/", to: "https://EXAMPLE.com/x", true),
      CookieCase("a=1", from: "https://example.com/", to: "https://www.example.com/", false),
      CookieCase("a=1; Domain=example.com", from: "https://example.com/", to: "https://www.example.com/", true),
      CookieCase("a=1; Domain=example.com", from: "https://www.example.com/", to: "https://example.com/", true),
      CookieCase("a=1; Domain=.Example.com", from: "https://www.example.com/", to: "https://api.example.com/", true),
      CookieCase("a=1; Domain=example.com", from: "https://www.example.com/", to: "https://badexample.com/", false),
      CookieCase("a=1; Domain=other.com", from: "https://www.example.com/", to: "https://other.com/", false),
      CookieCase("a=1; Domain=www.example.com", from: "https://example.com/", to: "https://www.example.com/", false),
      CookieCase("a=1; Domain=com", from: "https://example.com/", to: "https://example.com/", false),
      CookieCase("a=1; Domain=", from: "https://example.com/", to: "https://example.com/", true),
      CookieCase(
        "a=1; Domain=example.com; Domain=",
        from: "https://example.com/",
        to: "https://www.example.com/",
        true
      ),
      CookieCase(
        "a=1; Domain=example.com; Domain=.",
        from: "https://example.com/",
        to: "https://www.example.com/",
        false
      ),
      CookieCase("a=1; Domain=1", from: "https://127.0.0.1/", to: "https://127.0.0.1/", false),
      CookieCase("a=1; Domain=0.0.1", from: "https://127.0.0.1/", to: "https://127.0.0.1/", false),
      CookieCase("a=1; Domain=127.0.0.1", from: "https://127.0.0.1/", to: "https://127.0.0.1/", true),
      CookieCase("a=1", from: "https://example.com/a/b", to: "https://example.com/a", true),
      CookieCase("a=1", from: "https://example.com/a/b", to: "https://example.com/a/c", true),
      CookieCase("a=1", from: "https://example.com/a/b", to: "https://example.com/ab", false),
      CookieCase("a=1", from: "https://example.com/a/b", to: "https://example.com/", false),
      CookieCase("a=1", from: "https://example.com", to: "https://example.com/x", true),
      CookieCase("a=1; Path=/", from: "https://example.com/a/b", to: "https://example.com", true),
      CookieCase("a=1; Path=/a/", from: "https://example.com/", to: "https://example.com/a", false),
      CookieCase("a=1; Path=x", from: "https://example.com/a/b", to: "https://example.com/a", true),
      CookieCase("a=1; Secure", from: "https://example.com/", to: "http://example.com/", false),
      CookieCase("a=1; secure", from: "https://example.com/", to: "https://example.com/", true),
      CookieCase("a=1; Secure", from: "http://example.com/", to: "https://example.com/", false),
      CookieCase("a=1", from: "https://example.com/", to: "http://example.com:8080/", true),
      CookieCase("__Secure-a=1", from: "https://example.com/", to: "https://example.com/", false),
      CookieCase("__Secure-a=1; Secure", from: "https://example.com/", to: "https://example.com/", true),
      CookieCase("__Host-a=1; Secure; Path=/", from: "https://example.com/", to: "https://example.com/", true),
      CookieCase("__Host-a=1; Secure", from: "https://example.com/", to: "https://example.com/", false),
      CookieCase("__host-a=1; Path=/", from: "https://example.com/", to: "https://example.com/", false),
      CookieCase(
        "__Host-a=1; Secure; Path=/; Domain=example.com",
        from: "https://example.com/",
        to: "https://example.com/",
        false
      ),
    ]
  )
  func matches(cookie: CookieCase) throws {
    let jar = try Self.jar(cookie.field, from: cookie.origin)
    try expectEqual(Self.sent(jar, to: cookie.target) != nil, cookie.isSent)
  }

  @Test(
    "is read as it is written, and ignored where it makes no sense (RFC 6265 §5.2)",
    arguments: [
      ("a=1", "a=1"), (" a = 1 ; Path=/", "a=1"), ("a=b=c", "a=b=c"), ("a=\"x\"", "a=\"x\""), ("a=", "a="),
      ("a=1;;;Unknown=2;", "a=1"), ("a", nil), ("=1", nil), ("", nil), ("a=\u{1}", nil), ("a=\u{7F}", nil),
      ("é=ü", "é=ü"),
    ] as [(String, String?)]
  )
  func fields(field: String, sent: String?) throws {
    try expectEqual(Self.sent(Self.jar(field)), sent)
  }

  @Test(
    "Max-Age is stronger than Expires, and what is over is gone (RFC 6265 §5.3)",
    arguments: [
      ("Max-Age=10", 9, true), ("Max-Age=10", 10, false), ("Max-Age=0", 0, false), ("Max-Age=-1", 0, false),
      ("Max-Age=x", 1_000_000, true), ("Max-Age=1x", 1_000_000, true),
      ("Max-Age=10; Max-Age=x", 10, false), ("Max-Age=10; Max-Age=", 10, false), ("Max-Age=10; Max-Age=20", 19, true),
      ("Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT", 9, true),
      ("Expires=Thu, 01 Jan 2099 00:00:00 GMT; Max-Age=0", 0, false),
      ("Expires=Thu, 01 Jan 1970 00:00:00 GMT", 0, false), ("Expires=whenever", 1_000_000, true),
      ("Expires=Fri, 15-Jan-2027 08:00:10 GMT", 9, true), ("Expires=Fri, 15-Jan-2027 08:00:10 GMT", 10, false),
      ("Expires=Fri, 15-Jan-27 08:00:10 GMT", 10, false), ("Expires=Fri Jan 15 08:00:10 2027", 10, false),
      ("Expires=2027 Jan 15 8:0:10", 10, false), ("Expires=Fri, 15-Jan-2027 08:00 GMT", 1_000_000, true),
      ("Expires=Fri, 32-Jan-2027 08:00:10 GMT", 1_000_000, true),
      // What stands behind the seconds does not count, and nothing else stands in a time.
      ("Expires=Fri, 15-Jan-2027 08:00:10:99 GMT", 10, false),
      ("Expires=Fri, 15-Jan-2027 8h:00:10 GMT", 1_000_000, true),
      ("Max-Age=99999999999999999999999", 400 * 86_400 - 1, true),
      ("Max-Age=99999999999999999999999", 400 * 86_400, false),
      ("Expires=Thu, 01 Jan 2099 00:00:00 GMT", 400 * 86_400, false),
    ] as [(String, Int64, Bool)]
  )
  func ends(attributes: String, after seconds: Int64, isThere: Bool) throws {
    let jar = try Self.jar("a=1; \(attributes)")
    try expectEqual(Self.sent(jar, at: Self.later(seconds)) != nil, isThere)
  }

  @Test(
    "by a clock near the end of its numbers, what does not end yet is there",
    arguments: ["Max-Age=5", "Max-Age=99999999999999999999999", "Expires=Thu, 01 Jan 2099 00:00:00 GMT", "Path=/"],
    [0, 4, 400 * 86_400] as [Int64]
  )
  func endOfTime(attributes: String, left: Int64) throws {
    let now = HTTPDate(secondsSinceEpoch: .max - left)
    var jar = CookieJar()
    try Self.set(["a=1; \(attributes)"], in: &jar, at: now)
    let isThere = !attributes.hasPrefix("Expires") && (left > 0 || attributes == "Path=/")
    try expectEqual(Self.sent(jar, at: now) != nil, isThere)
  }

  @Test("one of the same name, domain and path takes the other's place, and its age; an end removes it")
  func replaces() throws {
    var jar = try Self.jar("a=1", "b=1")
    try Self.set(["a=2", "a=3; Path=/"], in: &jar, at: Self.later(5))
    try expectEqual(Self.sent(jar), "a=2; b=1; a=3")
    try Self.set(["a=; Max-Age=0"], in: &jar)
    try expectEqual(Self.sent(jar), "b=1; a=3")
  }

  @Test("longer paths come first, then what is older (RFC 6265 §5.4)")
  func order() throws {
    var jar = try Self.jar("root=1; Path=/", "deep=1; Path=/a")
    try Self.set(["deeper=1; Path=/a/b", "later=1; Path=/a"], in: &jar, at: Self.later(1))
    try expectEqual(Self.sent(jar), "deeper=1; deep=1; later=1; root=1")
  }

  @Test("what was set over TLS is not replaced in the clear")
  func secure() throws {
    var jar = try Self.jar("a=1; Secure; Path=/")
    try Self.set(["a=2; Path=/", "a=3; Path=/a; Domain=example.com", "b=2"], in: &jar, from: "http://www.example.com/")
    #expect(try Self.sent(jar, to: "https://www.example.com/a") == "a=1; b=2")
  }

  @Test("what is over makes way for the next that is set, also in the clear, and does not hand on its age")
  func evicts() throws {
    var jar = try Self.jar("a=1; Secure; Path=/; Max-Age=10", "b=1; Path=/; Max-Age=10", "c=1; Path=/; Max-Age=11")
    try Self.set(["a=2; Path=/"], in: &jar, from: "http://www.example.com/", at: Self.later(10))
    expectEqual(jar.cookies.map(\.name), ["c", "a"])
    expectEqual(jar.cookies.last?.created, Self.later(10).secondsSinceEpoch)
    #expect(try Self.sent(jar, to: "http://www.example.com/", at: Self.later(10)) == "c=1; a=2")
  }

  @Test("one that is brought back with as many uses as can be counted goes on, and knows what was used last")
  func wornOut() throws {
    let origin = "https://example.com/"
    var jar = try Self.jar("first=1; Path=/used", from: origin)
    for number in 0..<49 { try Self.set(["c\(number)=1; Path=/c"], in: &jar, from: origin) }
    #expect(jar.field(for: try Self.url("https://example.com/used"), now: Self.now) == "first=1")
    let text = String(decoding: try JSONEncoder().encode(jar), as: UTF8.self)
    let worn = text.replacing("\"uses\":51", with: "\"uses\":\(Int64.max)")
    try #require(worn != text)
    var back = try JSONDecoder().decode(CookieJar.self, from: Data(worn.utf8))
    #expect(try Self.sent(back, to: "https://example.com/used") == "first=1")
    try Self.set(["more=1; Path=/x"], in: &back, from: origin)
    let names = Set(back.cookies.map(\.name))
    #expect(names.count == 50 && names.isSuperset(of: ["first", "more"]) && !names.contains("c0"))
  }

  @Test("is bounded: in the size of one, in the number for a domain, and in all")
  func limits() throws {
    let longest = "a=" + String(repeating: "x", count: 4_095)
    try expectEqual(Self.jar(longest).cookies.count, 1)
    #expect(try Self.jar(longest + "x").cookies.isEmpty)

    var jar = try Self.jar("first=1; Path=/used", from: "https://example.com/")
    for number in 0..<49 { try Self.set(["c\(number)=1; Path=/c"], in: &jar, from: "https://example.com/") }
    // The first is the oldest, but was used last.
    _ = jar.field(for: try Self.url("https://example.com/used"), now: Self.now)
    try Self.set(["more=1; Path=/x"], in: &jar, from: "https://example.com/")
    expectEqual(jar.cookies.count, 50)
    #expect(Set(jar.cookies.map(\.name)).isSuperset(of: ["first", "more"]))

    for number in 0..<3_000 { try Self.set(["a=1"], in: &jar, from: "https://h\(number).example/") }
    expectEqual(jar.cookies.count, 3_000)
    #expect(try Self.sent(jar, to: "https://h2999.example/") == "a=1")
  }

  @Test("is written down and brought back, and a session's end leaves what has a time of its own")
  func codable() throws {
    let jar = try Self.jar("session=1", "kept=2; Max-Age=1000; Secure; HttpOnly; Domain=example.com")
    var back = try JSONDecoder().decode(CookieJar.self, from: JSONEncoder().encode(jar))
    expectEqual(back, jar)
    back.endSession()
    try expectEqual(Self.sent(back), "kept=2")
    expectEqual(back.cookies.first?.isHTTPOnly, true)
  }

  @Test("descriptions tell no value")
  func descriptions() throws {
    let jar = try Self.jar("session=hunter2")
    #expect(!"\(jar)\(jar.cookies[0])".contains("hunter2"))
    expectEqual("\(jar.cookies[0])", "session=… for www.example.com/a")
  }
}
