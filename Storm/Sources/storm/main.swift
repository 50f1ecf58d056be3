import Foundation
import ReboundStorm

/// What the command line asks for.
struct Arguments {
  var clients = 20_000
  var seed: UInt64?
  var tries = 80
  var policy = ""
  var file: String?
  var folder: String?

  init(_ words: [String]) throws {
    var words = words[...]
    while let word = words.popFirst() {
      if !word.hasPrefix("--") {
        file = word
        continue
      }
      guard let value = words.popFirst() else { throw Complaint("\(word) needs a value.") }
      switch word {
      case "--clients": clients = try number(value, of: word, in: 1...100_000_000)
      case "--tries": tries = try number(value, of: word, in: 0...1_000_000)
      case "--seed": seed = UInt64(try number(value, of: word, in: 0...Int.max))
      case "--policy": policy = value
      case "--results": folder = value
      default:
        throw Complaint("\(word) is unknown. Give a scenario's file, --clients, --seed, --tries, --policy, --results.")
      }
    }
  }

  private func number(_ value: String, of word: String, in range: ClosedRange<Int>) throws -> Int {
    guard let number = Int(value), range.contains(number) else {
      throw Complaint("\(word) is \(value). Give a number from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }

  /// What is played.
  func scenario() throws -> Scenario {
    guard let file else { return .minuteOfOutage(clients: clients, seed: seed ?? 1) }
    let scenario = try JSONDecoder().decode(Scenario.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
    return seed.map(scenario.with(seed:)) ?? scenario
  }

  /// What a policy is looked for with, with other chance and, of the outage, fewer clients.
  func trainingScenarios() throws -> [Scenario] {
    guard file == nil else { return [try scenario().with(seed: 101)] }
    var brownout = Scenario.minuteOfOutage(clients: 400, seed: 102)
    brownout.faults = [.brownout(factor: 5, from: 20, to: 50)]
    return [.minuteOfOutage(clients: 400, seed: 101), brownout]
  }
}

/// What is wrong with the command line.
struct Complaint: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

func note(_ text: String) {
  FileHandle.standardError.write(Data("\(text)\n".utf8))
}

do {
  let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
  let scenario = try arguments.scenario()
  var policies = NamedPolicy.ladder.filter { arguments.policy.isEmpty || $0.name.contains(arguments.policy) }
  var source = ""
  if arguments.tries > 0 {
    let front = try PolicySearch(scenarios: try arguments.trainingScenarios(), tries: arguments.tries).run()
    if let best = front.best {
      policies.append(NamedPolicy("tuned (\(front.policies.count) on the front)", best.settings))
      source = "The tuned policy, found on other seeds:\n\n```\n\(best.settings.swiftSource)\n```\n"
    }
  }
  var storms: [Storm] = []
  for policy in policies {
    let start = ContinuousClock.now
    storms.append(try policy.settings.play(scenario, name: policy.name))
    note("\(policy.name): \(ContinuousClock.now - start)")
  }
  let table = """
    \(scenario.arrivals.rate) requests a second without any trouble; the service bears \(scenario.service.capacity). \
    Seed \(scenario.seed).

    \(StormTable(storms).text)

    \(source)
    """
  print(table)
  if let folder = arguments.folder {
    let url = URL(fileURLWithPath: folder, isDirectory: true)
    try Data(table.utf8).write(to: url.appendingPathComponent("storm.md"))
    try Data(StormPlot(storms, scenario: scenario).svg.utf8).write(to: url.appendingPathComponent("storm.svg"))
    try Data(StormPage(storms).html.utf8).write(to: url.appendingPathComponent("storm.html"))
  }
} catch {
  note("storm: \(error)")
  exit(1)
}
