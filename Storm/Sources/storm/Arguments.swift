import Foundation
import ReboundStorm

/// What the command line asks for.
package struct Arguments {
  package private(set) var clients = 20_000
  package private(set) var seed: UInt64?
  /// How many policies a search tries; `nil` for none.
  package private(set) var tries: Int?
  package private(set) var policy = ""
  /// The scenario's; `nil` for the outage.
  package private(set) var file: String?
  package private(set) var folder: String?
  /// Where the policies stand that were found: a search writes them there.
  package private(set) var tuned: String?
  /// Whether every policy that was found is judged, and not the best one alone.
  package private(set) var judgesFront = false

  /// - Throws: ``Complaint`` about what is wrong, and about what would have no effect.
  package init(_ words: [String]) throws {
    var words = words[...]
    var setsClients = false
    while let word = words.popFirst() {
      func value() throws -> String {
        guard let value = words.popFirst() else { throw Complaint("\(word) needs a value.") }
        return value
      }
      func number(in range: ClosedRange<Int>) throws -> Int {
        let value = try value()
        if let number = Int(value), range.contains(number) { return number }
        throw Complaint("\(word) is \(value). Give a number from \(range.lowerBound) to \(range.upperBound).")
      }
      switch word {
      case "--front": judgesFront = true
      case "--clients": (clients, setsClients) = (try number(in: 1...100_000_000), true)
      case "--tries": tries = try number(in: 1...1_000_000)
      case "--seed": seed = UInt64(try number(in: 0...Int.max))
      case "--policy": policy = try value()
      case "--results": folder = try value()
      case "--tuned": tuned = try value()
      case _ where word.hasPrefix("--"):
        throw Complaint(
          "\(word) is unknown. Give a scenario's file, --clients, --seed, --tries, --policy, --tuned, --results, --front."
        )
      default:
        if let file { throw Complaint("There are two files, \(file) and \(word). Give one scenario.") }
        file = word
      }
    }
    if let file, setsClients {
      throw Complaint("--clients is for the outage alone. Write into \(file) how many there are.")
    }
    guard !judgesFront || tuned != nil || tries != nil else {
      throw Complaint("--front judges the policies that --tuned names or --tries finds. Give one of the two.")
    }
  }

  /// What is played.
  package func scenario() throws -> Scenario {
    guard let file else { return .minuteOfOutage(clients: clients, seed: seed ?? 1) }
    let scenario = try JSONDecoder().decode(Scenario.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
    return seed.map(scenario.with(seed:)) ?? scenario
  }
}

/// What is wrong with the command line.
package struct Complaint: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}
