import Foundation
import ReboundHTTP

/// A server, how much it sends, and how many requests are under way at once.
struct Scenario {
  let name: String
  let url: URL
  let requestCount: Int
  let inFlight: Int
  /// Who vouches for the server, of an address with `https`.
  var authorities: URL?

  private var isLarge: Bool { url.lastPathComponent == "large" }

  /// Processor time and memory of each way to send a request: once, since the scenarios differ by more than noise.
  func play() throws {
    print("\(name), \(inFlight) at once:")
    for make in try contestants {
      let contestant = try make()
      _ = measure(contestant, requestCount: min(requestCount, inFlight), inFlight: inFlight)
      resetPeakBytes()
      let before = residentBytes()
      let cost = measure(contestant, requestCount: requestCount, inFlight: inFlight)
      let memory = max(0, peakBytes() - before) / 1024
      let name = contestant.name.padding(toLength: 22, withPad: " ", startingAt: 0)
      let failures = cost.failureCount > 0 ? ", \(cost.failureCount) FAILED" : ""
      print("  \(name) \(Int(cost.perRequest)) µs per request, \(memory) KiB at the peak\(failures)")
    }
  }

  private var contestants: [() throws -> Contestant] {
    get throws {
      var configuration = CurlTransport.Configuration()
      configuration.maxRequestsPerHost = inFlight
      configuration.proxy = .none
      if let authorities { configuration.certificateAuthorities = try .only(authorities) }
      var curl: [() throws -> Contestant] = [
        { .bareCurl(url, authorities: authorities?.path) },
        { .transport("CurlTransport", CurlTransport(configuration), url) },
        { .client("client on curl", CurlTransport(configuration), url) },
      ]
      // Its requests are for many addresses, and there is one large body.
      if !isLarge { curl.append { try .stack("stack on curl", CurlTransport(configuration), url) } }
      // Foundation on Linux trusts nobody but whom the system trusts, and speaks HTTP/2 over TLS alone.
      guard authorities == nil else { return curl }
      return curl + [
        { .bareURLSession(url) },
        { .transport("URLSessionTransport", URLSessionTransport(), url) },
        { .client("client on it", URLSessionTransport(), url) },
      ]
    }
  }

  static func all(_ url: URL, _ secure: URL?, _ authorities: URL?) -> [Scenario] {
    let large = { (url: URL) in url.deletingLastPathComponent().appending(path: "large") }
    let plain = [
      Scenario(name: "HTTP/1.1, 21 bytes", url: url, requestCount: 4000, inFlight: 1),
      Scenario(name: "HTTP/1.1, 21 bytes", url: url, requestCount: 10_000, inFlight: 200),
      Scenario(name: "HTTP/1.1, 50 MB", url: large(url), requestCount: 10, inFlight: 1),
    ]
    guard let secure, let authorities else { return plain }
    return plain + [
      Scenario(name: "HTTP/2, 21 bytes", url: secure, requestCount: 4000, inFlight: 1, authorities: authorities),
      Scenario(name: "HTTP/2, 21 bytes", url: secure, requestCount: 10_000, inFlight: 200, authorities: authorities),
      Scenario(name: "HTTP/2, 50 MB", url: large(secure), requestCount: 10, inFlight: 1, authorities: authorities),
    ]
  }
}
