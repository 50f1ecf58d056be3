import Foundation
import ReboundStorm

/// What the command line asks for.
struct Arguments {
  var clients = 20_000
  var seed: UInt64?
  var tries = 0
  var policy = ""
  var file: String?
  var folder: String?
  var tuned: String?
  /// Whether every policy that was found is judged, and not the best one alone.
  var judgesFront = false

  init(_ words: [String]) throws {
    var words = words[...]
    while let word = words.popFirst() {
      if !word.hasPrefix("--") {
        file = word
        continue
      }
      if word == "--front" {
        judgesFront = true
        continue
      }
      guard let value = words.popFirst() else { throw Complaint("\(word) needs a value.") }
      switch word {
      case "--clients": clients = try number(value, of: word, in: 1...100_000_000)
      case "--tries": tries = try number(value, of: word, in: 0...1_000_000)
      case "--seed": seed = UInt64(try number(value, of: word, in: 0...Int.max))
      case "--policy": policy = value
      case "--results": folder = value
      case "--tuned": tuned = value
      default:
        throw Complaint(
          "\(word) is unknown. Give a scenario's file, --clients, --seed, --tries, --policy, --tuned, --results, --front."
        )
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
}

/// What is wrong with the command line.
struct Complaint: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
