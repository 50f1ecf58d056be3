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

/// Whether any of many policies does better than every row, on every scenario and in every figure.
///
/// Each is judged until something speaks against it.
struct Verdict {
  private var winners: [String] = []
  private var refutations: [String: Int] = [:]
  private let count: Int

  /// - Parameter note: Is told how far the judgement is.
  init(
    on policies: [Row],
    against rows: [Row],
    by trials: [(name: String, scenarios: [Scenario])],
    noting note: (String) -> Void
  ) throws {
    count = policies.count
    var known: [String: [Figures]] = [:]
    for (number, policy) in policies.enumerated() {
      note("[\(number + 1)/\(count)] policy \(policy.name) of the front")
      var refutation: String?
      for trial in trials where refutation == nil {
        let others = try known[trial.name] ?? rows.map { row in try Figures(trial.scenarios.map(row.play)) }
        known[trial.name] = others
        let own = try Figures(trial.scenarios.map(policy.play))
        guard let index = others.firstIndex(where: { !own.beats($0) }) else { continue }
        let losses = own.losses(to: others[index]).joined(separator: ", ")
        refutation = "\(trial.name) | \(rows[index].name) | \(losses.isEmpty ? "equal in all" : losses)"
      }
      if let refutation { refutations[refutation, default: 0] += 1 } else { winners.append(policy.name) }
    }
  }

  var text: String {
    let best =
      winners.isEmpty
      ? "None of the \(count) policies on the front is better than every row on all of it."
      : "Better than every row on all of it: number \(winners.joined(separator: ", ")) of the \(count) on the front."
    let lines = refutations.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "| \($0.value) | \($0.key) |" }
    return """
      \(best) The first thing that speaks against each:

      | policies | on | do not do better than | which is better in |
      |---|---|---|---|
      \(lines.joined(separator: "\n"))
      """
  }
}

/// How a policy does against all rows, on scenarios and seeds that the search for it has not seen.
struct Judgement {
  private var lines = [
    "| scenario | given up | peak after it | recovered after | not ended | better in all than | and not better than |",
    "|---|---|---|---|---|---|---|",
  ]
  private(set) var wins = 0
  private(set) var comparisons = 0

  /// - Parameter note: Is told how far the judgement is.
  init(
    of tuned: Row,
    against rows: [Row],
    on trials: [(name: String, scenarios: [Scenario])],
    noting note: (String) -> Void
  ) throws {
    for (number, trial) in trials.enumerated() {
      note("[\(number + 1)/\(trials.count)] \(trial.name)")
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
