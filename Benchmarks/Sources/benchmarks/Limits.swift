import Foundation

/// How often memory may be asked for: kept in a file, so that a change that asks more often is seen.
struct Limits: Codable {
  let idleSubscription: IdleSubscription
  let allocations: [String: Allocations]

  /// Makes what was found the limits.
  ///
  /// - Parameters:
  ///   - results: What was found.
  ///   - others: Limits that hold on for what was not measured.
  init(_ results: Results, keeping others: Limits? = nil) {
    idleSubscription = others?.idleSubscription ?? results.idle
    let found = results.measurements.map { ($0.benchmark.name, $0.allocations) }
    allocations = (others?.allocations ?? [:]).merging(found) { $1 }
  }

  init(readFrom file: URL) throws {
    self = try JSONDecoder().decode(Limits.self, from: Data(contentsOf: file))
  }

  func write(to file: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try (encoder.encode(self) + Data("\n".utf8)).write(to: file)
  }

  /// One sentence for each count above its limit.
  func complaints(about results: Results) -> [String] {
    var complaints: [String] = []
    func compare(_ name: String, _ what: String, _ found: Double, _ limit: Double) {
      if found > limit { complaints.append("\(name): \(found.short) \(what), the limit is \(limit.short)") }
    }
    for measurement in results.measurements {
      let name = measurement.benchmark.name
      guard let limit = allocations[name] else {
        complaints.append("\(name): has no limit; write them anew with --record")
        continue
      }
      let tolerance = measurement.benchmark.tolerance
      compare(name, "allocations per value", measurement.allocations.perValue, limit.perValue + tolerance)
      guard !measurement.benchmark.hasBacklog else { continue }
      compare(name, "allocations per chain", measurement.allocations.perChain, limit.perChain + 2)
    }
    compare("idle subscription", "bytes", Double(results.idle.bytes), Double(idleSubscription.bytes))
    compare("idle subscription", "allocations", results.idle.allocations, idleSubscription.allocations)
    return complaints
  }
}
