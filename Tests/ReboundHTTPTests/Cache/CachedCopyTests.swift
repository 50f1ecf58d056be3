import Expectations
import Foundation
import Rebound
import Testing

@testable import ReboundHTTP

@Suite("CachedCopy")
struct CachedCopyTests {
  private static func copy(_ headers: HTTPHeaders) throws -> CachedCopy? {
    let url = try #require(URL(string: "https://api.example/a"))
    let response = HTTPResponse(
      head: ResponseHead(status: 200, headers: headers, url: url),
      receivedAt: HTTPDate(secondsSinceEpoch: 784_111_777)
    )
    return CachedCopy(response, to: TransportRequest(url), now: .zero)
  }

  @Test(
    "an Age beyond all numbers is a great age, not none",
    arguments: ["2147483648", "4294967296", "99999999999999999999999"]
  )
  func largeAge(age: String) throws {
    let copy = try #require(try Self.copy(["Cache-Control": "max-age=60", "Age": age]))
    expectEqual(copy.age(now: .zero), .seconds(Int64(1) << 31))
    #expect(!copy.isFresh(now: .zero))
  }

  @Test(
    "of several ages the first counts, and one that is no number does not",
    arguments: [("40, 50", 40), ("+40", 0), ("-1", 0), ("٤٠", 0), ("4 0", 0), ("", 0)]
  )
  func ages(age: String, seconds: Int) throws {
    try expectEqual(Self.copy(["Cache-Control": "max-age=60", "Age": age])?.age(now: .zero), .seconds(seconds))
  }

  @Test(
    "a lifetime that is not written in digits is none",
    arguments: [
      "max-age=+60", "max-age=٦٠", "max-age=½", "max-age=6 0", "max-age=60s", "max-age=", "max-age=\"60\"0",
      "max-age=\"60",
    ]
  )
  func oddLifetimes(control: String) throws {
    let copy = try #require(try Self.copy(["Cache-Control": control, "ETag": "\"1\""]))
    #expect(!copy.isFresh(now: .zero))
  }

  @Test("of two lifetimes the first counts")
  func lifetimes() throws {
    let copy = try #require(try Self.copy(["Cache-Control": "max-age=60, max-age=600"]))
    #expect(copy.isFresh(now: .seconds(59)))
    #expect(!copy.isFresh(now: .seconds(60)))
  }

  @Test(
    "no-store is seen behind all that may stand before it, and not within quotes",
    arguments: [
      ("max-age=60,no-store", true), ("private=\"a\", NO-STORE", true), ("x=\"a\\\", b\", no-store", true),
      ("x=\", no-store", true), ("x=a\"b, no-store", true), ("max-age=60,\u{301}a,no-store", true),
      ("x=a\", no-store, y=\"b", true), ("\"a, no-store, b\"", true),
      ("max-age=60, private=\"a, no-store\"", false), ("max-age=60, x=\"\\\\\", y=\"no-store\"", false),
    ]
  )
  func noStore(control: String, isSeen: Bool) throws {
    expectEqual(try Self.copy(["Cache-Control": control, "ETag": "\"1\""]) == nil, isSeen)
  }

  @Test(
    "an answer that depends on what is no field is not kept",
    arguments: [("*", false), ("Accept, *", false), ("a b", false), ("\u{301}", false), ("Accept, X-A", true)]
  )
  func vary(vary: String, isKept: Bool) throws {
    expectEqual(try Self.copy(["Cache-Control": "max-age=60", "Vary": vary]) != nil, isKept)
  }
}
