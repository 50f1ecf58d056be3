/// Rows of marbles, one above the other, frame under frame.
struct MarbleSheet {
  struct Line {
    let label: String
    /// In which frame of the sheet the row begins.
    let origin: Int
    let frames: [[MarbleRow.Mark]]
  }

  private(set) var lines: [Line] = []
  /// The frame of the sheet that is time zero.
  let zero: Int

  init(zero: Int = 0) {
    self.zero = zero
  }

  /// Adds a row whose first frame is this one of time.
  mutating func add(_ label: String, _ frames: [[MarbleRow.Mark]], from frame: Int = 0) {
    lines.append(Line(label: label, origin: zero + frame, frames: frames))
  }

  /// The rows as text, with a ruler above, and a mark below the frame of time that is pointed at.
  func text(pointingAt frame: Int? = nil) -> String {
    let count = max(lines.map { $0.origin + $0.frames.count }.max() ?? 0, (frame.map { zero + $0 } ?? -1) + 1)
    let cells = lines.map { line in
      (0..<count).map { column in
        let index = column - line.origin
        return line.frames.indices.contains(index) ? MarbleRow.cell(line.frames[index]) : ""
      }
    }
    let widths = (0..<count).map { column in cells.map { $0[column].count }.max().map { max($0, 1) } ?? 1 }
    let indent = (lines.map(\.label.count).max() ?? 0) + 2
    var rows = [padded("", indent) + ruler(widths)]
    for (line, cells) in zip(lines, cells) {
      rows.append(padded(line.label, indent) + zip(cells, widths).map { padded($0, $1) }.joined())
    }
    if let frame {
      rows.append(padded("", indent + widths.prefix(zero + frame).reduce(0, +)) + "▲")
    }
    return rows.map { $0.trimmedRight }.joined(separator: "\n")
  }

  /// The number of each fifth frame, above it.
  private func ruler(_ widths: [Int]) -> String {
    var text = ""
    var column = 0
    for (index, width) in widths.enumerated() {
      if index >= zero, (index - zero) % 5 == 0, text.count <= column {
        text = padded(text, column) + String(index - zero)
      }
      column += width
    }
    return text
  }

  private func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(width - text.count, 0))
  }
}
