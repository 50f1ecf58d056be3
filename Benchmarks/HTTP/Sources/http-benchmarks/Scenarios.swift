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

  var title: String { "\(name), \(inFlight) at once" }
  private var isLarge: Bool { url.lastPathComponent == Scenario.large }

  private static let large = "large"

  /// Processor time and memory of each way to send a request: once, since the scenarios differ by more than noise.
  ///
  /// Each has a process of its own, since memory that others have needed and given back to the heap would not be seen to be
  /// needed again.
  ///
  /// - Parameter arguments: Those of this process, for the others.
  /// - Returns: Whether all requests had their answers, and none took more memory than it may.
  func play(_ arguments: [String]) throws -> Bool {
    print("\(title):")
    var isGood = true
    for number in contestants.indices {
      // What is printed stands before what others print.
      fflush(nil)
      let process = Process()
      process.executableURL = Bundle.main.executableURL
      process.arguments = ["--play", title, "\(number)"] + arguments
      try process.run()
      process.waitUntilExit()
      if process.terminationStatus != 0 { isGood = false }
    }
    return isGood
  }

  /// The same for one of them, in this process.
  func play(contestant number: Int) throws -> Bool {
    // What a process needs but once, whatever it asks for, is none of it.
    _ = measure(try contestants[number](small), requestCount: 1, inFlight: 1)
    let contestant = try contestants[number](url)
    resetPeakBytes()
    let before = peakBytes()
    // Opens the connections.
    _ = measure(contestant, requestCount: min(requestCount, inFlight), inFlight: inFlight)
    let cost = measure(contestant, requestCount: requestCount, inFlight: inFlight)
    let memory = (peakBytes() - before) / 1024
    let name = contestant.name.padding(toLength: 22, withPad: " ", startingAt: 0)
    let limit = contestant.mostMemory.map { " (at most \($0))" } ?? ""
    let failures = cost.failureCount > 0 ? ", \(cost.failureCount) FAILED" : ""
    print("  \(name) \(Int(cost.perRequest)) µs per request, \(memory) KiB over the idle process\(limit)\(failures)")
    return cost.failureCount == 0 && memory <= contestant.mostMemory ?? .max
  }

  private var contestants: [(URL) throws -> Contestant] {
    let file = FileManager.default.temporaryDirectory.appending(path: "body")
    func transport() throws -> CurlTransport {
      var configuration = CurlTransport.Configuration()
      configuration.maxRequestsPerHost = inFlight
      configuration.proxy = .none
      if let authorities { configuration.certificateAuthorities = try .only(authorities) }
      return CurlTransport(configuration)
    }
    var all: [(URL) throws -> Contestant] = [
      { .bareCurl($0, authorities: authorities?.path) },
      { .transport("CurlTransport", try transport(), $0) },
      { .client("client on curl", try transport(), $0) },
    ]
    if isLarge {
      all += [
        { .chunks("client, in pieces", try transport(), $0).streaming() },
        { .bareCurlToFile($0, to: file, authorities: authorities?.path) },
        { .download("client, to a file", try transport(), $0, to: file).streaming() },
      ]
    } else {
      // Its requests are for many addresses, and there is one large body.
      all.append { try .stack("stack on curl", try transport(), $0) }
    }
    // Foundation on Linux trusts nobody but whom the system trusts, and speaks HTTP/2 over TLS alone.
    guard authorities == nil else { return all }
    all += [
      { .bareURLSession($0) },
      { .transport("URLSessionTransport", URLSessionTransport(), $0) },
      { .client("client on it", URLSessionTransport(), $0) },
    ]
    guard isLarge else { return all }
    return all + [
      { .chunks("client, in pieces", URLSessionTransport(), $0) },
      { .bareURLSessionToFile($0) },
      { .download("client, to a file", URLSessionTransport(), $0, to: file) },
    ]
  }

  private var small: URL { url.deletingLastPathComponent().appending(path: "small") }

  static func all(_ url: URL, _ secure: URL?, _ authorities: URL?) -> [Scenario] {
    let large = { (url: URL) in url.deletingLastPathComponent().appending(path: Scenario.large) }
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
