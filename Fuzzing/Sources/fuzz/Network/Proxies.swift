import Foundation

@testable import ReboundHTTP

extension FuzzTarget {
  /// Proxies as the environment names them, and the hosts that are asked directly.
  static let proxies = FuzzTarget(
    "proxies",
    seeds: [
      "http://me:HUNTER2@proxy.example:3128\nlocalhost,.example.com,10.0.0.0/8,[::1],fd00::/8,*.a",
      "socks5h://proxy\n*", "proxy:8080\n1.2.3.4/33, ::/129 a.b.", "\nfoo/-1,1.1.1.1/,1.1.1.1/+8",
    ],
    words: ["http://", "@", "://", "/8", "/128", "/0", "::", "10.0.0.1", "*", ".example", "[", "]", "\u{301}"]
  ) { input in
    let parts = input.text().split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    let part = { (index: Int) in index < parts.count ? parts[index] : "" }
    let secret = "HUNTER2"
    let proxy = CurlTransport.Proxy.environment([
      "https_proxy": "http://me:\(secret)@\(part(0))", "http_proxy": part(0), "no_proxy": part(1),
    ])
    let route = proxy.route(to: Address(anyURL))
    if !part(0).contains(secret) {
      expect(!"\(proxy)".contains(secret), "\(proxy)")
      expect(!"\(route) \(route.redacted(route.text))".contains(secret), "\(route)")
    }
    let exceptions = ProxyExceptions(part(1))
    for host in ["api.example", "10.1.2.3", "[::1]", "::1", "localhost.", part(2)] { _ = exceptions.holds(host) }
    if part(1).utf8.allSatisfy({ $0 < 0x80 }), part(1) == plain(part(1)), !part(1).isEmpty {
      expect(exceptions.holds(part(1)) && exceptions.holds("a.\(part(1))"), "'\(part(1))' is no exception")
      expect(!exceptions.holds("a\(part(1))"), "'a\(part(1))' is taken for an exception")
    }
    _ = try? CurlTransport.Proxy.server(part(0), port: 1, except: [part(1)])
  }
}
