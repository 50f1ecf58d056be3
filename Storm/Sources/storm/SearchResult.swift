import Foundation
import ReboundStorm

/// What a search has found, as it is kept.
struct SearchResult: Codable {
  /// How many policies were tried.
  let tries: Int
  /// Where the chance of the search came from.
  let seed: UInt64
  /// Those that no other was better than, on what the search has seen; the best first.
  let front: [PolicySettings]

  static func search(
    tries: Int,
    seed: UInt64,
    on scenarios: [Scenario],
    progress: (Int) -> Void
  ) throws -> SearchResult {
    // A search does not vary detectors, so it begins at the rows without.
    let start = NamedPolicy.ladder.map(\.settings).filter { $0.detector == nil }
    let front = try PolicySearch(scenarios: scenarios, tries: tries, start: start, seed: seed).run(progress: progress)
    let policies = front.policies.sorted { $0.score.cost < $1.score.cost }
    return SearchResult(tries: max(tries, start.count), seed: seed, front: policies.map(\.settings))
  }

  private init(tries: Int, seed: UInt64, front: [PolicySettings]) {
    (self.tries, self.seed, self.front) = (tries, seed, front)
  }

  init(contentsOf file: String) throws {
    self = try JSONDecoder().decode(SearchResult.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
  }

  /// Writes it with a line for each policy.
  func write(to file: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let policies = try front.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
    let text = """
      {"tries":\(tries),"seed":\(seed),"front":[
      \(policies.joined(separator: ",\n"))
      ]}

      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
  }
}
