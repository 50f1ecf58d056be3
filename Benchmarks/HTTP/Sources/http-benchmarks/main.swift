import Foundation
import ReboundHTTP

/// Processor time per request of each way to send one, measured in turns in one process, the least of all rounds.
///
/// Many short rounds, so that each way has some in which the machine does little else.
func compare(_ url: URL, rounds: Int, requestCount: Int) -> Bool {
  let contestants: [Contestant] = [
    .bareURLSession(url),
    .transport("URLSessionTransport", URLSessionTransport(), url),
    .client("client on it", URLSessionTransport(), url),
    .transport("CurlTransport", CurlTransport(), url),
    .client("client on curl", CurlTransport(), url),
  ]
  var least: [String: Cost] = [:]
  for round in 0...rounds {
    for contestant in contestants {
      let cost = measure(contestant, requestCount: round == 0 ? 200 : requestCount, inFlight: 8)
      guard cost.failureCount == 0 else {
        print("\(contestant.name): \(cost.failureCount) of \(cost.requestCount) requests failed")
        return false
      }
      // The first round only warms up.
      if round > 0, cost.perRequest < least[contestant.name]?.perRequest ?? .infinity { least[contestant.name] = cost }
    }
  }
  for contestant in contestants {
    guard let cost = least[contestant.name] else { continue }
    let name = contestant.name.padding(toLength: 22, withPad: " ", startingAt: 0)
    print(name, "\(Int(cost.perRequest)) µs of processor time per request, \(Int(cost.requestsPerSecond)) requests/s")
  }
  let cost = { (name: String) in least[name]?.perRequest ?? .nan }
  let percent = { (client: String, bare: String) in Int(((cost(client) / cost(bare) - 1) * 100).rounded()) }
  let overhead = percent("client on it", "URLSessionTransport")
  let gain = cost("URLSessionTransport") / cost("CurlTransport")
  print("URLSessionTransport over bare URLSession: \(percent("URLSessionTransport", "URLSession, bare")) %")
  print("Client over URLSessionTransport: \(overhead) % (at most 10)")
  print("CurlTransport against URLSessionTransport: \((gain * 10).rounded() / 10) times cheaper (at least 5)")
  return overhead <= 10 && gain >= 5
}

/// Memory and descriptors after a tenth of the requests, and after all.
func soak(_ url: URL, requestCount: Int) -> Bool {
  let contestant = Contestant.transport("CurlTransport", CurlTransport(), url)
  _ = measure(contestant, requestCount: requestCount / 10, inFlight: 8)
  let (bytes, descriptors) = (residentBytes(), openDescriptors())
  let cost = measure(contestant, requestCount: requestCount - requestCount / 10, inFlight: 8)
  let growth = residentBytes() - bytes
  print(
    "CurlTransport, \(requestCount) requests: \(cost.failureCount) failed, \(growth / 1024) KiB of growth (at most 1024),",
    "\(openDescriptors() - descriptors) more descriptors (none)"
  )
  return cost.failureCount == 0 && growth <= 1 << 20 && openDescriptors() <= descriptors
}

func run() -> Int32 {
  guard CommandLine.arguments.count > 1, let url = URL(string: CommandLine.arguments[1]) else {
    print("usage: http-benchmarks URL [rounds] [requests per round] [requests of the soak]")
    return 2
  }
  let numbers = CommandLine.arguments.dropFirst(2).compactMap { Int($0) }
  let isFast = compare(url, rounds: numbers.first ?? 20, requestCount: numbers.dropFirst().first ?? 500)
  let isTight = soak(url, requestCount: numbers.dropFirst(2).first ?? 100_000)
  return isFast && isTight ? 0 : 1
}

exit(run())
