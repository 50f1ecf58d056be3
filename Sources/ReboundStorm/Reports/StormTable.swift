/// The results of several policies as a table for people, in Markdown.
public struct StormTable {
  private let storms: [Storm]

  /// Makes a table.
  ///
  /// - Parameter storms: One row each.
  public init(_ storms: [Storm]) {
    self.storms = storms
  }

  /// The table.
  public var text: String {
    let head = [
      "policy", "peak load in the fault", "peak load after it", "requests in all", "recovered after", "given up", "p99",
    ]
    let rows = storms.map { [$0.name.asCell] + $0.cells }
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

extension String {
  /// The text in a cell of a table: in one line, with what would begin the next cell written out.
  fileprivate var asCell: String {
    let cell = unicodeScalars.reduce(into: UnicodeScalarView()) { cell, scalar in
      switch scalar {
      case "|": cell += "\\|".unicodeScalars
      case "\n"..."\r", "\u{85}", "\u{2028}", "\u{2029}": cell.append(" ")
      default: cell.append(scalar)
      }
    }
    return String(cell)
  }
}
