import ReboundStorm

/// The three figures that a policy is judged by, over the seeds of a scenario; less is better in all.
struct Figures {
  static let names = ["given up", "peak", "recovery"]

  /// In thousandths of the requests.
  let givenUp: Int
  /// In hundredths of the normal load.
  let peakAfterTrouble: Int
  /// In seconds; `nil` if one of the plays never recovered.
  let recovery: Int?
  /// In thousandths of the requests: those that had not ended when the play did.
  let unfinished: Int

  /// - Parameter storms: At least one.
  init(_ storms: [Storm]) {
    func mean(_ figure: (Storm) -> Double) -> Int {
      Int((storms.reduce(0) { $0 + figure($1) } / Double(max(storms.count, 1))).rounded())
    }
    givenUp = mean { $0.givenUpShare * 1_000 }
    peakAfterTrouble = mean { $0.peakAfterTrouble * 100 }
    recovery = storms.contains { $0.secondsToRecover == nil } ? nil : mean { Double($0.secondsToRecover ?? 0) }
    unfinished = mean { storm in
      let begun = storm.series.begun.reduce(0, +)
      let ended = storm.series.succeeded.reduce(0, +) + storm.series.givenUp.reduce(0, +)
      return Double(begun - ended) / Double(max(begun, 1)) * 1_000
    }
  }

  private var all: [Int] { [givenUp, peakAfterTrouble, recovery ?? .max] }

  /// In which figures another is better.
  func losses(to other: Figures) -> [String] {
    zip(Self.names, zip(all, other.all)).filter { $0.1.0 > $0.1.1 }.map(\.0)
  }

  /// Whether it is as good as another in all, and better in one.
  func beats(_ other: Figures) -> Bool { losses(to: other).isEmpty && all != other.all }

  var cells: [String] {
    [
      tenths(givenUp) + " %", "\(peakAfterTrouble / 100).\(peakAfterTrouble % 100 / 10)\(peakAfterTrouble % 10) ×",
      recovery.map { "\($0) s" } ?? "never", tenths(unfinished) + " %",
    ]
  }

  private func tenths(_ thousandths: Int) -> String { "\(thousandths / 10).\(thousandths % 10)" }
}

/// How a policy does against all rows, on scenarios and seeds that the search for it has not seen.
struct Judgement {
  private var lines = [
    "| scenario | given up | peak after it | recovered after | not ended | better in all than | and not better than |",
    "|---|---|---|---|---|---|---|",
  ]
  private(set) var wins = 0
  private(set) var comparisons = 0

  init(of tuned: Row, against rows: [Row], on trials: [(name: String, scenarios: [Scenario])]) throws {
    for trial in trials {
      let own = try Figures(trial.scenarios.map(tuned.play))
      var losses: [String] = []
      for row in rows {
        let other = try Figures(trial.scenarios.map(row.play))
        guard !own.beats(other) else { continue }
        let figures = own.losses(to: other)
        losses.append("\(row.name) (\(figures.isEmpty ? "equal" : figures.joined(separator: ", ")))")
      }
      comparisons += rows.count
      wins += rows.count - losses.count
      let cells =
        [trial.name] + own.cells + ["\(rows.count - losses.count) of \(rows.count)", losses.joined(separator: "; ")]
      lines.append("| \(cells.joined(separator: " | ")) |")
    }
  }

  var text: String { lines.joined(separator: "\n") }
}
