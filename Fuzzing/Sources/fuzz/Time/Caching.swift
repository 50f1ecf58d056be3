import Foundation

@testable import Rebound
@testable import ReboundHTTP

extension FuzzTarget {
  /// How long an answer is good: Cache-Control, Age, Date, Expires, Last-Modified, Vary.
  static let caching = FuzzTarget(
    "caching",
    seeds: [
      "\0\u{10}\0\u{10}\u{12}Cache-Control: a\u{301}\u{327}=1\nETag: a\nVary: a\u{301}\u{327}",
      "\0\u{10}\u{FF}Cache-Control: max-age=60, must-revalidate\nAge: 5\nETag: \"a\"\nVary: Accept, Accept-Language",
      "\0\u{10}\u{FF}Cache-Control: private=\"a, no-store\", max-age=\"60\"\nDate: Sun, 06 Nov 1994 08:49:37 GMT",
      "\0\0\0Date: Sun, 06 Nov 1994 08:49:37 GMT\nExpires: Sun, 06 Nov 1994 08:50:37 GMT\nAge: 4294967296",
      "\0\0\0Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\nCache-Control: stale-while-revalidate=30, stale-if-error=60",
      "\0\0\0Cache-Control: no-cache, max-age=99999999999\nCache-Control: no-store\nVary: *",
    ],
    words: [
      "Cache-Control: ", "no-store", "no-cache", "max-age=", "must-revalidate", "stale-if-error=", "Age: ", "Vary: ",
      "Expires: ", "Date: ", "Last-Modified: ", "ETag: ", "4294967296", "٣", "+5", "\"", "\\\"", "\u{301}", ", ",
    ]
  ) { input in
    let receivedAt = HTTPDate(secondsSinceEpoch: input.integer())
    let times = (0..<3).map { _ in Duration.seconds(Int64(input.byte()) << 20) }.sorted()
    let headers = HTTPHeaders(fields(in: input.text()))
    let control = CacheControl(headers)
    let directives = headers.values(of: "Cache-Control").flatMap { plainDirectives($0) }
    let response = HTTPResponse(head: ResponseHead(status: 200, headers: headers, url: anyURL), receivedAt: receivedAt)
    let request = TransportRequest(anyURL, headers: ["Accept": "a", "Accept-Language": "b"])
    for name in ["max-age", "stale-if-error", "stale-while-revalidate"] {
      guard let seconds = control.seconds(name) else { continue }
      expect((.zero ... .seconds(Int64(1) << 31)).contains(seconds), "\(name) of \(seconds)")
    }
    if directives.contains("no-store") { expect(control.has("no-store"), "no-store is overlooked: \(headers)") }
    let copy = CachedCopy(response, to: request, now: .zero)
    if directives.contains("no-store") { expect(copy == nil, "an answer with no-store is kept") }
    guard let copy else { return }
    expect(copy.answers(request), "a copy is none of the request that it came for")
    check(copy, headers, directives, at: times)
    _ = copy.response(.fresh, now: times[0])
    let refreshed = copy.refreshed(by: response, now: times[0])
    check(refreshed, headers, directives, at: times.map { $0 + times[0] })
  }

  private static func check(_ copy: CachedCopy, _ headers: HTTPHeaders, _ directives: [String], at times: [Duration]) {
    for time in times { expect(copy.age(now: time) >= .zero, "an age of \(copy.age(now: time))") }
    for (earlier, later) in zip(times, times.dropFirst()) {
      expect(copy.isFresh(now: earlier) || !copy.isFresh(now: later), "a copy becomes fresh again")
    }
    let ages = directives.filter { $0 == "max-age" || $0.hasPrefix("max-age=") }
    let isPlain =
      directives.count == headers.values(of: "Cache-Control").map { $0.split(separator: ",").count }.reduce(0, +)
    if isPlain, ages.count == 1, let seconds = deltaSeconds(ages[0].dropFirst("max-age=".count)) {
      expect(!copy.isFresh(now: times[0] + .seconds(seconds)), "fresh longer than max-age")
    } else if isPlain, ages.count == 1 {
      expect(!copy.isFresh(now: times[0]), "a max-age that is no number counts: \(ages[0])")
    }
    // 68 years are the most that any answer may be good for (RFC 9111 §1.2.2).
    let written = headers.values(of: "Age").map { deltaSeconds($0[...]) }
    if written.count == 1, let age = written[0] {
      expect(copy.age(now: times[0]) >= .seconds(min(age, 1 << 31)), "younger than its Age")
    }
  }

  /// The directives of a field without quotes; none of one with quotes or anything but ASCII.
  private static func plainDirectives(_ value: String) -> [String] {
    guard value.utf8.allSatisfy({ $0 < 0x7F && $0 > 0x20 && $0 != 0x22 || $0 == 0x20 }) else { return [] }
    return value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
  }

  private static func deltaSeconds(_ text: Substring) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(text).map { min($0, 1 << 31) } ?? 1 << 31
  }
}
