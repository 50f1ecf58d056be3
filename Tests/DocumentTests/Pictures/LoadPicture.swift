/// What services were asked, second by second, in runs that were really made, as SVG.
struct LoadPicture {
  /// One line.
  struct Row {
    /// How a line is drawn.
    enum Style: String {
      case failed, done, other
    }

    let label: String
    let style: Style
    /// How many there were in each second.
    let counts: [Int]
  }

  let title: String
  let rows: [Row]

  private static let (left, top, width, height) = (60, 60, 670, 180)

  private var seconds: Int { rows.map(\.counts.count).max() ?? 1 }
  private var most: Int { max(rows.flatMap(\.counts).max() ?? 1, 1) }

  private func x(_ second: Int) -> Int { Self.left + second * Self.width / max(seconds, 1) }
  private func y(_ count: Int) -> Int { Self.top + Self.height - count * Self.height / most }

  var svg: String {
    let bottom = Self.top + Self.height
    let words = rows.map { "\($0.label): \($0.counts.map(String.init).joined(separator: ", ")) in each second" }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 \(bottom + 30)" width="760" height="\(bottom + 30)" role="img" \
      aria-labelledby="picture-title picture-description" font-family="sans-serif" font-size="12">
      <title id="picture-title">\(title)</title>
      <desc id="picture-description">\(words.joined(separator: ". ")).</desc>
      <style>
      .paper { fill: #ffffff } .ink { fill: #1f2328 } .faint { fill: #57606a } .rule { stroke: #8c959f }
      .line { fill: none; stroke-width: 2 } .failed { stroke: #c2410c } .done { stroke: #1a7f37 } .other { stroke: #6e7781 }
      @media (prefers-color-scheme: dark) {
      .paper { fill: #0d1117 } .ink { fill: #e6edf3 } .faint { fill: #8d96a0 } .rule { stroke: #6e7681 }
      .failed { stroke: #f0883e } .done { stroke: #3fb950 } .other { stroke: #8d96a0 }
      }
      </style>
      <rect class="paper" width="100%" height="100%"/>
      <text class="ink" x="12" y="24" font-size="15" font-weight="bold">\(title)</text>
      \(rows.enumerated().map(line).joined(separator: "\n"))
      \(axes(bottom))
      </svg>

      """
  }

  private func line(_ index: Int, _ row: Row) -> String {
    let steps = row.counts.enumerated().map { second, count in
      "\(second == 0 ? "M" : "L")\(x(second)) \(y(count)) H\(x(second + 1))"
    }
    let legend = Self.left + index * 230
    return """
      <path class="line \(row.style.rawValue)" d="\(steps.joined(separator: " "))"/>
      <path class="line \(row.style.rawValue)" d="M\(legend) 42 h24"/>
      <text class="ink" x="\(legend + 30)" y="46">\(row.label)</text>
      """
  }

  private func axes(_ bottom: Int) -> String {
    let marks = stride(from: 0, through: seconds, by: max(1, (seconds + 9) / 10)).map { second in
      "<line class=\"rule\" x1=\"\(x(second))\" x2=\"\(x(second))\" y1=\"\(bottom)\" y2=\"\(bottom + 5)\"/>"
        + "<text class=\"faint\" x=\"\(x(second))\" y=\"\(bottom + 19)\" text-anchor=\"middle\">\(second) s</text>"
    }
    let counts = [0, most].map { count in
      "<text class=\"faint\" x=\"\(Self.left - 8)\" y=\"\(y(count) + 4)\" text-anchor=\"end\">\(count)</text>"
    }
    let ground = "<line class=\"rule\" x1=\"\(Self.left)\" x2=\"\(x(seconds))\" y1=\"\(bottom)\" y2=\"\(bottom)\"/>"
    return ([ground] + marks + counts).joined(separator: "\n")
  }
}
