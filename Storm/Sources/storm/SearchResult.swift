import Foundation
import ReboundStorm

/// What a search has found, as it is kept.
struct SearchResult: Codable {
  /// How many policies were tried.
  let tries: Int
  /// Where the chance of the search came from.
  let seed: UInt64
  /// How many of them no other was better than, on what the search has seen.
  let frontCount: Int
  /// The best of those, the best first.
  let front: [PolicySettings]

  private static let mostKept = 10

  static func search(tries: Int, seed: UInt64, on scenarios: [Scenario]) throws -> SearchResult {
    // A search does not vary detectors, so it begins at the rows without.
    let start = NamedPolicy.ladder.map(\.settings).filter { $0.detector == nil }
    let front = try PolicySearch(scenarios: scenarios, tries: tries, start: start, seed: seed).run()
    let policies = front.policies.sorted { $0.score.cost < $1.score.cost }
    return SearchResult(
      tries: tries,
      seed: seed,
      frontCount: policies.count,
      front: policies.prefix(mostKept).map(\.settings)
    )
  }

  private init(tries: Int, seed: UInt64, frontCount: Int, front: [PolicySettings]) {
    (self.tries, self.seed, self.frontCount, self.front) = (tries, seed, frontCount, front)
  }

  init(contentsOf file: String) throws {
    self = try JSONDecoder().decode(SearchResult.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
  }

  func write(to file: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try (encoder.encode(self) + Data("\n".utf8)).write(to: URL(fileURLWithPath: file))
  }
}
