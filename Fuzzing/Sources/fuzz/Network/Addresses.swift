import Foundation

@testable import Rebound
@testable import ReboundHTTP

/// A request of data that users have typed.
private struct Search: Request {
  typealias Response = Data

  let base: URL
  let step: String
  let tail: String
  let query: Parameters
  let headers: HTTPHeaders

  var baseURL: URL? { base }
  var path: RequestPath { "a/\(step)/b\(tail)" }
}

extension FuzzTarget {
  /// Addresses and fields of requests made of data: nothing in the data is anything but data.
  static let addresses = FuzzTarget(
    "addresses",
    seeds: [
      "\0name\nvalue\nstep\ntail", "\u{1}a/b\n%zz\n..\n.", "\u{2}q\r\né\n?#\n@evil.example", "\0a&b=c\n+\n\u{301}/\n:",
    ],
    words: ["..", "%2e", "%", "/", "?", "#", "@", ":", "\\", "\r\n", "\u{301}", "+", "&", "="]
  ) { input in
    let bases = ["https://api.example", "https://api.example/v1/?key=1", "http://[::1]:8080"]
    guard let base = URL(string: bases[input.number(below: bases.count)]) else { return expect(false, "no base") }
    let parts = input.text().split(separator: "\n", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
    let part = { (index: Int) in index < parts.count ? parts[index] : "" }
    let query: Parameters = [part(0): part(1), "x": 1]
    let request = Search(base: base, step: part(2), tail: part(3), query: query, headers: ["X-A": part(0)])
    guard let message = try? request.message() else { return }
    let text = message.url.absoluteString
    expect(text.utf8.allSatisfy { (0x21...0x7E).contains($0) }, text)
    expectEqual(
      CurlHost.name(in: text),
      base.host.map { $0.contains(":") ? "[\($0)]" : $0 },
      "libcurl's host of \(text)"
    )
    expectEqual(message.url.host, base.host, text)
    expect(message.headers.allSatisfy(\.isValid), "fields that cannot be sent: \(message.headers)")
    let parsed = URLComponents(url: message.url, resolvingAgainstBaseURL: true)
    let items = parsed?.queryItems?.suffix(2).map { [$0.name, $0.value ?? ""] }
    expectEqual(
      items?.map { $0.map { Array($0.utf8) } },
      [[part(0), part(1)], ["x", "1"]].map { $0.map { Array($0.utf8) } },
      text
    )
    let steps = parsed?.percentEncodedPath.split(separator: "/", omittingEmptySubsequences: false).suffix(2)
    expectEqual(steps?.last?.removingPercentEncoding.map { Array($0.utf8) }, Array("b\(part(3))".utf8), text)
    expectEqual(steps?.first?.removingPercentEncoding.map { Array($0.utf8) }, Array(part(2).utf8), text)
    let resolved = URL(string: text)?.standardized.absoluteString
    expect(resolved?.hasPrefix(base.absoluteString.prefix { $0 != "?" }) ?? false, "\(text) leads to \(resolved ?? "")")
  }
}
