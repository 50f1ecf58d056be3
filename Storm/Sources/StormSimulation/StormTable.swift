/// The results of several policies as a table for people, in Markdown.
public struct StormTable {
  private let results: [StormResult]

  /// Makes a table.
  public init(_ results: [StormResult]) {
    self.results = results
  }

  /// The table.
  public var text: String {
    let head = [
      "policy", "peak load in the outage", "peak load after it", "requests in all", "recovered after", "given up",
    ]
    let rows = results.map { result in
      [
        result.policy,
        "\(result.peakInOutage.rounded(to: 2)) ×",
        "\(result.peakInRecovery.rounded(to: 2)) ×",
        "\(result.amplification.rounded(to: 2)) ×",
        result.secondsToRecover.map { "\($0) s" } ?? "never",
        "\((result.givenUpShare * 100).rounded(to: 1)) %",
      ]
    }
    let widths = head.indices.map { column in ([head] + rows).map { $0[column].count }.max() ?? 0 }
    let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
    return ([line(head, widths), rule] + rows.map { line($0, widths) }).joined(separator: "\n")
  }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    let padded = zip(cells, widths).map { cell, width in
      cell + String(repeating: " ", count: width - cell.count)
    }
    return "| " + padded.joined(separator: " | ") + " |"
  }
}

extension Double {
  /// The number with so many decimals, the same on every machine.
  func rounded(to decimals: Int) -> String {
    let factor = (0..<decimals).reduce(1) { product, _ in product * 10 }
    let units = Int((self * Double(factor)).rounded())
    guard decimals > 0 else { return String(units) }
    let fraction = String(units.magnitude % UInt(factor))
    let zeros = String(repeating: "0", count: decimals - fraction.count)
    return "\(units < 0 ? "-" : "")\(units.magnitude / UInt(factor)).\(zeros)\(fraction)"
  }
}
