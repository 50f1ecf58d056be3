import BenchmarkClients
import Foundation
import Rebound
import ReboundHTTP
import ReboundTelemetry

/// How many requests are under way at once.
let inFlight = 8

/// Processor time per request of each way to send one, measured in turns in one process.
///
/// Rounds of some hundred requests: in shorter ones it counts what the way before has left in the processor's caches, which flatters
/// whoever comes behind a way like its own. What one costs more than another is the median of what it costs more in each round:
/// the two are measured shortly behind one another, now one first and now the other, so what else the machine does falls on both.
func compare(_ url: URL, rounds: Int, requestCount: Int) throws -> Bool {
  let contestants = try contestants(url)
  var costs: [String: [Cost]] = [:]
  for round in 0...rounds {
    for contestant in round.isMultiple(of: 2) ? contestants : contestants.reversed() {
      let cost = measure(
        contestant,
        requestCount: (round == 0 ? 200 : requestCount) * contestant.repetitions,
        inFlight: inFlight
      )
      guard cost.failureCount == 0 else {
        print("\(contestant.name): \(cost.failureCount) of \(cost.requestCount) requests failed")
        return false
      }
      // The first round only warms up.
      if round > 0 { costs[contestant.name, default: []].append(cost) }
    }
  }
  for contestant in contestants {
    guard let least = costs[contestant.name]?.min(by: { $0.perRequest < $1.perRequest }) else { continue }
    let name = contestant.name.padding(toLength: 22, withPad: " ", startingAt: 0)
    let time = (least.perRequest * 10).rounded() / 10
    print(name, "\(time) µs of processor time per request, \(Int(least.requestsPerSecond)) requests/s")
  }
  let limits = [
    // Events that nobody reads.
    Limit("client, unread lines", over: "client on nothing", 1.01),
    Limit("URLSessionTransport", over: "URLSession, bare", nil),
    Limit("client on it", over: "URLSessionTransport", nil),
    Limit("client on it", over: "URLSession, bare", 1.1),
    Limit("CurlTransport", over: "libcurl, bare", nil),
    Limit("client on curl", over: "libcurl, bare", 1.25),
    // Meant to be 1.5. What the stack costs more is spread over its stages, a subscription and some closures for each, and two to
    // four microseconds; three are libcurl's for the fields that stages add, which it copies byte by byte.
    Limit("stack on curl", over: "libcurl, bare", 2.1),
    Limit("CurlTransport", over: "URLSessionTransport", 0.2),
  ]
  return limits.map { $0.isKept(in: costs) }.allSatisfy { $0 }
}

func contestants(_ url: URL) throws -> [Contestant] {
  [
    .client("client on nothing", InstantTransport(), url).repeated(20),
    .client("client, unread lines", InstantTransport(), url, writingTo: JSONLines(hiding: Redaction.standard.line))
      .repeated(20),
    try .stack("stack on nothing", InstantTransport(), url),
    .bareCurl(url),
    .bareURLSession(url),
    .transport("URLSessionTransport", URLSessionTransport(), url),
    .client("client on it", URLSessionTransport(), url),
    .transport("CurlTransport", CurlTransport(), url),
    .client("client on curl", CurlTransport(), url),
    try .stack("stack on curl", CurlTransport(), url),
  ]
}

/// How much one way may cost at most, as a multiple of another.
struct Limit {
  let name: String
  let other: String
  let most: Double?

  init(_ name: String, over other: String, _ most: Double?) {
    (self.name, self.other, self.most) = (name, other, most)
  }

  /// Says how it is, and whether that is allowed.
  func isKept(in costs: [String: [Cost]]) -> Bool {
    let ratios = zip(costs[name] ?? [], costs[other] ?? []).map { $0.perRequest / $1.perRequest }.sorted()
    guard !ratios.isEmpty else { return false }
    let ratio = (ratios[ratios.count / 2] * 100).rounded() / 100
    print("\(name) / \(other): \(ratio)\(most.map { " (at most \($0))" } ?? "")")
    return most.map { ratio <= $0 } ?? true
  }
}

/// Memory, descriptors and threads after a tenth of the requests, and after all.
///
/// The warm-up need not have needed as many connections as may be open at once, so what is compared with the time before
/// the transport was made is how many sockets there are: those, and the pair that wakes its loop.
func soak(_ url: URL, requestCount: Int) -> Bool {
  let before = openDescriptors()["socket", default: 0]
  let contestant = Contestant.transport("CurlTransport", CurlTransport(), url)
  _ = measure(contestant, requestCount: requestCount / 10, inFlight: inFlight)
  let (bytes, settled, settledThreads) = (residentBytes(), openDescriptors(), threads())
  let cost = measure(contestant, requestCount: requestCount - requestCount / 10, inFlight: inFlight)
  let (growth, after, afterThreads) = (residentBytes() - bytes, openDescriptors(), threads())
  let sockets = after["socket", default: 0] - before
  let others = after.filter { $0.key != "socket" && $0.value > settled[$0.key, default: 0] }.keys.sorted()
  let moreThreads = afterThreads.count - settledThreads.count
  print(
    """
    CurlTransport, \(requestCount) requests: \(cost.failureCount) failed
      memory: \(growth / 1024) KiB more (at most 1024)
      sockets: \(sockets) (at most \(inFlight + 2))
      other descriptors: \(others.isEmpty ? "no more" : others.joined(separator: ", ")) (no more)
      threads: \(afterThreads.count), \(moreThreads) more (at most 1, since a timer may wake one of Dispatch's)
    """
  )
  return cost.failureCount == 0 && growth <= 1 << 20 && sockets <= inFlight + 2 && others.isEmpty && moreThreads <= 1
}

/// The scenarios with these words in their titles, and nothing else.
func play(_ scenarios: [Scenario], with words: String, _ arguments: [String]) throws -> Int32 {
  let chosen = scenarios.filter { $0.title.contains(words) }
  guard !chosen.isEmpty else {
    print("No scenario has \"\(words)\" in its title.")
    return 1
  }
  return try chosen.map { try $0.play(arguments) }.allSatisfy { $0 } ? 0 : 1
}

func run() throws -> Int32 {
  var arguments = Array(CommandLine.arguments.dropFirst())
  /// What stands behind an option, which is taken out with it.
  func option(_ name: String, count: Int) -> [String]? {
    guard let place = arguments.firstIndex(of: name), place + count < arguments.count else { return nil }
    defer { arguments.removeSubrange(place...(place + count)) }
    return Array(arguments[(place + 1)...(place + count)])
  }
  // Of this program to itself.
  let part = option("--play", count: 2)
  let only = option("--only", count: 1)?.first
  let words = arguments.filter { Int($0) == nil }
  let numbers = arguments.compactMap { Int($0) }
  guard let text = words.first, let url = URL(string: text) else {
    print(
      """
      usage: http-benchmarks URL [secure URL, file of authorities] [rounds] [requests per round] [requests of the soak]
             http-benchmarks URL [secure URL, file of authorities] --only WORDS
      """
    )
    return 2
  }
  let secure = words.dropFirst().first.flatMap { URL(string: $0) }
  let authorities = words.dropFirst(2).first.map { URL(filePath: $0) }
  let scenarios = Scenario.all(url, secure, authorities)
  if let part {
    guard let number = Int(part[1]), let scenario = scenarios.first(where: { $0.title == part[0] }) else { return 2 }
    return try scenario.play(contestant: number) ? 0 : 1
  }
  if let only { return try play(scenarios, with: only, arguments) }
  if let name = ProcessInfo.processInfo.environment["HTTP_BENCHMARK_ONLY"] {
    guard let contestant = try contestants(url).first(where: { $0.name == name }) else { return 2 }
    // For a profiler.
    print(measure(contestant, requestCount: numbers.first ?? 100_000, inFlight: inFlight).perRequest)
    return 0
  }
  // First, before other transports leave connections behind.
  let isTight = soak(url, requestCount: numbers.dropFirst(2).first ?? 100_000)
  let isFast = try compare(url, rounds: numbers.first ?? 40, requestCount: numbers.dropFirst().first ?? 500)
  let isWhole = try scenarios.map { try $0.play(arguments) }.allSatisfy { $0 }
  return isFast && isTight && isWhole ? 0 : 1
}

exit(try run())
