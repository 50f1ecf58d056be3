/// A marble diagram of streams that were really run, as SVG: what went into an operator, the operator, what came out.
struct StreamPicture {
  /// One subscription, from its begin to its end.
  struct Row {
    enum Mark {
      case value(Character)
      case finish
      case failure
      case cancel
    }

    let label: String
    var start = Duration.zero
    var marks: [(time: Duration, mark: Mark)] = []

    var end: Duration? {
      if case .value? = marks.last?.mark { nil } else { marks.last?.time }
    }
  }

  let title: String
  /// The operator, as it stands in a program.
  let code: String
  let inputs: [Row]
  let outputs: [Row]

  private static let left = 120
  private static let rowHeight = 36

  private var end: Duration {
    (inputs + outputs).flatMap(\.marks).map(\.time).max() ?? .seconds(1)
  }

  private func x(_ time: Duration) -> Int { Self.left + Int((time / max(end, .seconds(1)) * 610).rounded()) }

  var svg: String {
    let top = 40
    let band = top + inputs.count * Self.rowHeight + 4
    let below = band + 40
    let axis = below + outputs.count * Self.rowHeight + 4
    let drawings =
      inputs.enumerated().map { drawing(of: $1, top + $0 * Self.rowHeight) } + [operatorBand(band)]
      + outputs.enumerated().map { drawing(of: $1, below + $0 * Self.rowHeight) } + [axisMarks(axis)]
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 \(axis + 30)" width="760" height="\(axis + 30)" role="img" \
      aria-labelledby="picture-title picture-description" font-family="sans-serif" font-size="12">
      <title id="picture-title">\(escaped(title))</title>
      <desc id="picture-description">\(escaped((inputs + outputs).map(words).joined(separator: ". "))).</desc>
      <style>
      .paper { fill: #ffffff } .ink { fill: #1f2328 } .faint { fill: #57606a } .rule { stroke: #8c959f }
      .failed { fill: #c2410c } .done { fill: #1a7f37 } .other { fill: #6e7781 } .on { fill: #ffffff }
      .value { fill: #2563eb } .band { fill: #ddf4ff; stroke: #54aeff }
      @media (prefers-color-scheme: dark) {
      .paper { fill: #0d1117 } .ink { fill: #e6edf3 } .faint { fill: #8d96a0 } .rule { stroke: #6e7681 }
      .failed { fill: #f0883e } .done { fill: #3fb950 } .other { fill: #8d96a0 } .on { fill: #0d1117 }
      .value { fill: #58a6ff } .band { fill: #121d2f; stroke: #1f6feb }
      }
      </style>
      <rect class="paper" width="100%" height="100%"/>
      <text class="ink" x="12" y="24" font-size="15" font-weight="bold">\(escaped(title))</text>
      \(drawings.joined(separator: "\n"))
      </svg>

      """
  }

  private func drawing(of row: Row, _ top: Int) -> String {
    let y = top + 16
    let (from, to) = (x(row.start), x(row.end ?? end))
    return """
      <g><title>\(escaped(words(row)))</title>
      <text class="faint" x="12" y="\(y + 4)">\(escaped(row.label))</text>
      <circle class="other" cx="\(from)" cy="\(y)" r="3"/><line class="rule" x1="\(from)" x2="\(to)" y1="\(y)" y2="\(y)"/>
      \(row.marks.map { drawing(of: $0.mark, at: $0.time, in: row, y) }.joined(separator: "\n"))
      </g>
      """
  }

  private func drawing(of mark: Row.Mark, at time: Duration, in row: Row, _ y: Int) -> String {
    // An end beside the value that came with it, not over it.
    let isBesideValue = row.marks.contains { if case .value = $0.mark { $0.time == time } else { false } }
    let x = x(time)
    let besides = isBesideValue ? x + 14 : x
    switch mark {
    case .value(let name):
      return "<circle class=\"value\" cx=\"\(x)\" cy=\"\(y)\" r=\"9\"/>"
        + "<text class=\"on\" x=\"\(x)\" y=\"\(y + 4)\" text-anchor=\"middle\">\(escaped(String(name)))</text>"
    case .finish: return "<rect class=\"done\" x=\"\(besides - 2)\" y=\"\(y - 10)\" width=\"4\" height=\"20\"/>"
    case .cancel: return "<rect class=\"other\" x=\"\(besides - 2)\" y=\"\(y - 10)\" width=\"4\" height=\"20\"/>"
    case .failure:
      return "<text class=\"failed\" x=\"\(besides)\" y=\"\(y + 6)\" font-size=\"18\" font-weight=\"bold\" "
        + "text-anchor=\"middle\">×</text>"
    }
  }

  private func operatorBand(_ top: Int) -> String {
    """
    <rect class="band" x="12" y="\(top)" width="736" height="28" rx="4"/>
    <text class="ink" x="380" y="\(top + 18)" text-anchor="middle" font-family="monospace">\(escaped(code))</text>
    """
  }

  private func axisMarks(_ top: Int) -> String {
    let seconds = Int(end.components.seconds)
    let step = max(1, (seconds + 9) / 10)
    return stride(from: 0, through: seconds, by: step).map { second in
      let x = x(.seconds(second))
      return "<line class=\"rule\" x1=\"\(x)\" x2=\"\(x)\" y1=\"\(top)\" y2=\"\(top + 5)\"/>"
        + "<text class=\"faint\" x=\"\(x)\" y=\"\(top + 19)\" text-anchor=\"middle\">\(second) s</text>"
    }
    .joined(separator: "\n")
  }

  /// A row for those who do not see it.
  private func words(_ row: Row) -> String {
    let events = row.marks.map { time, mark in
      let what =
        switch mark {
        case .value(let name): "\(name)"
        case .finish: "finish"
        case .failure: "failure"
        case .cancel: "cancel"
        }
      return "\(what) at \(time.components.seconds) s"
    }
    return "\(row.label): " + (["subscribed at \(row.start.components.seconds) s"] + events).joined(separator: ", ")
  }

  private func escaped(_ text: String) -> String {
    text.map { character in
      switch character {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      default: String(character)
      }
    }
    .joined()
  }
}
