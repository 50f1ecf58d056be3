import Foundation
import ReboundHTTP

/// How many requests are under way at once.
let inFlight = 8

/// Processor time per request of each way to send one, measured in turns in one process.
///
/// Many short rounds, so that each way has some in which the machine does little else. What one costs more than another is
/// the median of what it costs more in each round: the two are measured right behind one another, now one first and now
/// the other, so what else the machine does falls on both.
func compare(_ url: URL, rounds: Int, requestCount: Int) -> Bool {
  let contestants: [Contestant] = [
    .client("client on nothing", InstantTransport(), url),
    .bareURLSession(url),
    .transport("URLSessionTransport", URLSessionTransport(), url),
    .client("client on it", URLSessionTransport(), url),
    .transport("CurlTransport", CurlTransport(), url),
    .client("client on curl", CurlTransport(), url),
  ]
  var costs: [String: [Cost]] = [:]
  for round in 0...rounds {
    for contestant in round.isMultiple(of: 2) ? contestants : contestants.reversed() {
      let cost = measure(contestant, requestCount: round == 0 ? 200 : requestCount, inFlight: inFlight)
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
  let ratio = { (name: String, other: String) in
    let ratios = zip(costs[name] ?? [], costs[other] ?? []).map { $0.perRequest / $1.perRequest }.sorted()
    return ratios.isEmpty ? Double.nan : ratios[ratios.count / 2]
  }
  let percent = { (name: String, other: String) in ((ratio(name, other) - 1) * 1_000).rounded() / 10 }
  let overhead = percent("client on it", "URLSessionTransport")
  let gain = (ratio("URLSessionTransport", "CurlTransport") * 10).rounded() / 10
  print("URLSessionTransport over bare URLSession: \(percent("URLSessionTransport", "URLSession, bare")) %")
  print("Client over URLSessionTransport: \(overhead) % (at most 10)")
  print("Client over bare URLSession: \(percent("client on it", "URLSession, bare")) %")
  print("CurlTransport against URLSessionTransport: \(gain) times cheaper (at least 5)")
  return overhead <= 10 && gain >= 5
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

func run() -> Int32 {
  guard CommandLine.arguments.count > 1, let url = URL(string: CommandLine.arguments[1]) else {
    print("usage: http-benchmarks URL [rounds] [requests per round] [requests of the soak]")
    return 2
  }
  let numbers = CommandLine.arguments.dropFirst(2).compactMap { Int($0) }
  // First, before other transports leave connections behind.
  let isTight = soak(url, requestCount: numbers.dropFirst(2).first ?? 100_000)
  let isFast = compare(url, rounds: numbers.first ?? 300, requestCount: numbers.dropFirst().first ?? 50)
  return isFast && isTight ? 0 : 1
}

exit(run())
