import Foundation
import StormSimulation

/// What the command line asks for.
struct Arguments {
  var scenario = Scenario()
  var folder: String?

  init(_ words: [String]) throws {
    var words = words[...]
    while let word = words.popFirst() {
      guard let value = words.popFirst() else { throw Complaint("\(word) needs a value.") }
      switch word {
      case "--clients":
        guard let count = Int(value), (1...100_000_000).contains(count) else {
          throw Complaint("--clients is \(value). Give a number from 1 to 100000000.")
        }
        scenario.clients = count
      case "--seed":
        guard let seed = UInt64(value) else { throw Complaint("--seed is \(value). Give a whole number from 0.") }
        scenario.seed = seed
      case "--results": folder = value
      default: throw Complaint("\(word) is unknown. Use --clients, --seed, --results.")
      }
    }
  }
}

/// What is wrong with the command line.
struct Complaint: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

do {
  let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
  let scenario = arguments.scenario
  let results = try StormResult.all(scenario, policies: ClientPolicy.ladder()) { result in
    FileHandle.standardError.write(Data("\(result.policy): done\n".utf8))
  }
  let table = """
    \(scenario.clients) clients ask every \(scenario.period) s; the server bears \(scenario.headroom) times that, \
    and is down for \(scenario.outage.count) s. Seed \(scenario.seed).

    \(StormTable(results).text)

    """
  print(table)
  if let folder = arguments.folder {
    let url = URL(fileURLWithPath: folder, isDirectory: true)
    try Data(table.utf8).write(to: url.appendingPathComponent("storm.md"))
    try Data(StormPlot(results, scenario: scenario).svg.utf8).write(to: url.appendingPathComponent("storm.svg"))
  }
} catch {
  FileHandle.standardError.write(Data("storm: \(error)\n".utf8))
  exit(1)
}
