import Foundation

@testable import Rebound
@testable import ReboundHTTP

extension FuzzTarget {
  /// Where an answer leads: the field Location.
  static let redirects = FuzzTarget(
    "redirects",
    seeds: [
      "\0\0\0https://other.example:8443/c?d=1#e", "\u{1}\0\u{1}/c", "\u{2}\u{1}\0//user:pass@api.example/x",
      "\u{3}\0\0HTTP://api.example", "\u{4}\u{1}\0../../c?%zz", "\0\0\0https:api.example", "\0\0\0http://[::1%25eth0]/",
      "\0\0\0https://api.example\\@evil.example/",
    ],
    words: ["https://", "http://", "//", "api.example", "..", "@", ":443", "%", "[", "]", "\\", "#", "?", "\t", "é"]
  ) { input in
    let statuses = [301, 302, 303, 307, 308, 300]
    let status = statuses[input.number(below: statuses.count)]
    let policy = input.bool() ? RedirectPolicy.sameOrigin() : .follow()
    let method = [HTTPMethod.get, .post, .head][input.number(below: 3)]
    let location = input.text()
    let body = TransportBody.data(Data("a=1".utf8))
    let message = TransportRequest(
      anyURL,
      method: method,
      headers: ["Authorization": "s3cret", "Accept": "a"],
      body: body
    )
    let head = ResponseHead(status: status, headers: ["Location": location], url: anyURL)
    guard case .follow(let next) = policy.step(after: message, head, followed: 0) else { return }
    let text = next.url.absoluteString
    expectEqual(next.url.scheme?.lowercased(), "https", "'\(location)' leads to \(text)")
    expect(next.url.host?.isEmpty == false, "'\(location)' leads to no host: \(text)")
    expect(text.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "'\(location)' leads to \(text)")
    let isSameHost = next.url.host?.lowercased() == anyURL.host && (next.url.port ?? 443) == 443
    if policy.staysAtOrigin { expect(isSameHost, "'\(location)' leaves the origin for \(text)") }
    if next.headers["Authorization"] != nil {
      expect(isSameHost, "'\(location)' takes credentials to \(text)")
      expectEqual(CurlHost.name(in: text), anyURL.host, "libcurl would send the credentials of '\(location)' to")
    }
    if status == 303, method != .head { expectEqual(next.method, .get, "the method after 303") }
    if case .data = next.body { expect(next.method == method, "a body with another method") }
  }
}
