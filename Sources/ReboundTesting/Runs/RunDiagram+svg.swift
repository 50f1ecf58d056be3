extension RunDiagram {
  /// The run as a picture: SVG with a title and a description for those who do not see it, in colours that follow the
  /// reader's light or dark scheme.
  public var svg: String {
    let rows = Rows(hasWaits: !waits.isEmpty, hasBreaker: !phases.isEmpty)
    let parts =
      [axis(rows)] + zip(attempts, attemptWords).map { drawing(of: $0, inWords: $1, rows) }
      + waits.map { drawing(of: $0, rows) } + [line(rows)]
      + marbles.map { drawing(of: $0, rows) } + phases.indices.map { drawing(ofPhase: $0, rows) }
    // What else there is stands beside a value.
    let values = marbles.filter { if case .value = $0.kind { true } else { false } }
    let words = attemptWords + hiddenWords(values, x)
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 \(rows.height)" width="760" height="\(rows.height)" \
      role="img" aria-labelledby="run-title run-description" font-family="sans-serif" font-size="12">
      <title id="run-title">\(title.escapedForXML)</title>
      <desc id="run-description">\(words.joined(separator: ". ").escapedForXML).</desc>
      <style>
      .paper { fill: #ffffff } .ink { fill: #1f2328 } .faint { fill: #57606a } .rule { stroke: #8c959f }
      .failed { fill: #c2410c } .done { fill: #1a7f37 } .other { fill: #6e7781 } .on { fill: #ffffff }
      .wait { stroke: #8c959f; stroke-width: 2; stroke-dasharray: 3 3 } .value { fill: #2563eb }
      .closed { fill: #1a7f37 } .open { fill: #c2410c } .half { fill: #9a6700 }
      @media (prefers-color-scheme: dark) {
      .paper { fill: #0d1117 } .ink { fill: #e6edf3 } .faint { fill: #8d96a0 } .rule { stroke: #6e7681 }
      .failed { fill: #f0883e } .done { fill: #3fb950 } .other { fill: #8d96a0 } .on { fill: #0d1117 }
      .wait { stroke: #6e7681 } .value { fill: #58a6ff }
      .closed { fill: #3fb950 } .open { fill: #f0883e } .half { fill: #d29922 }
      }
      </style>
      <rect class="paper" width="100%" height="100%"/>
      <text class="ink" x="12" y="24" font-size="15" font-weight="bold">\(title.escapedForXML)</text>
      \((rows.labels + parts).joined(separator: "\n"))
      </svg>

      """
  }

  /// Where the rows of the picture lie.
  private struct Rows {
    let attempts = 44
    let waits: Int
    let output: Int
    let breaker: Int
    let axis: Int
    let height: Int
    let labels: [String]

    init(hasWaits: Bool, hasBreaker: Bool) {
      waits = attempts + 34
      output = waits + (hasWaits ? 34 : 0)
      breaker = output + 34
      axis = breaker + (hasBreaker ? 34 : 0)
      height = axis + 28
      var labels = [("attempts", attempts)]
      if hasWaits { labels.append(("waits", waits)) }
      labels.append(("output", output))
      if hasBreaker { labels.append(("breaker", breaker)) }
      self.labels = labels.map { "<text class=\"faint\" x=\"12\" y=\"\($0.1 + 16)\">\($0.0)</text>" }
    }
  }

  private func x(_ time: Duration) -> Int {
    let total = max(VirtualTime.Stride(end).nanoseconds, 1)
    return 90 + Int((Double(VirtualTime.Stride(time).nanoseconds) / Double(total) * 640).rounded())
  }

  private func axis(_ rows: Rows) -> String {
    let step = TimeScale(end, columns: 10).step
    var marks: [String] = []
    var time = Duration.zero
    while time <= end {
      let x = x(time)
      marks.append(
        "<line class=\"rule\" x1=\"\(x)\" x2=\"\(x)\" y1=\"\(rows.axis)\" y2=\"\(rows.axis + 5)\"/>"
          + "<text class=\"faint\" x=\"\(x)\" y=\"\(rows.axis + 19)\" text-anchor=\"middle\">\(time.text)</text>"
      )
      time += step
    }
    return marks.joined(separator: "\n")
  }

  private func drawing(of attempt: Attempt, inWords words: String, _ rows: Rows) -> String {
    let (start, end) = (x(attempt.start), x(attempt.end))
    let style: String
    switch attempt.outcome {
    case .failed: style = "failed"
    case .finished: style = "done"
    case .cancelled, .running: style = "other"
    }
    // One that took no time is still to be seen.
    let width = max(end - start, 14)
    return """
      <g><title>\(words.escapedForXML)</title><rect class="\(style)" x="\(start)" y="\(rows.attempts)" width="\(width)" \
      height="22" rx="4"/><text class="on" x="\(start + 4)" y="\(rows.attempts + 16)">\(attempt.number)</text></g>
      """
  }

  private func drawing(of wait: Wait, _ rows: Rows) -> String {
    let (start, end) = (x(wait.start), x(wait.end))
    let y = rows.waits + 20
    let label = "\((wait.end - wait.start).text), \(wait.source)"
    let line = "<line class=\"wait\" x1=\"\(start)\" x2=\"\(end)\" y1=\"\(y)\" y2=\"\(y)\"/>"
    // Seven units a letter: what does not fit is left to the tooltip.
    guard label.count * 7 <= end - start else { return "<g><title>\(label)</title>\(line)</g>" }
    let middle = (start + end) / 2
    return line + "<text class=\"faint\" x=\"\(middle)\" y=\"\(y - 6)\" text-anchor=\"middle\">\(label)</text>"
  }

  private func line(_ rows: Rows) -> String {
    let y = rows.output + 11
    return "<line class=\"rule\" x1=\"90\" x2=\"\(x(end))\" y1=\"\(y)\" y2=\"\(y)\"/>"
  }

  private func drawing(of marble: Marble, _ rows: Rows) -> String {
    // An end beside the value that came with it, not over it.
    let isBesideValue = marbles.contains { if case .value = $0.kind { $0.time == marble.time } else { false } }
    let y = rows.output + 11
    var x = x(marble.time)
    if case .value = marble.kind {} else if isBesideValue { x += 14 }
    switch marble.kind {
    case .value(let name):
      return "<circle class=\"value\" cx=\"\(x)\" cy=\"\(y)\" r=\"9\"/>"
        + "<text class=\"on\" x=\"\(x)\" y=\"\(y + 4)\" text-anchor=\"middle\">\(String(name).escapedForXML)</text>"
    case .finish: return "<rect class=\"done\" x=\"\(x - 2)\" y=\"\(y - 10)\" width=\"4\" height=\"20\"/>"
    case .cancel: return "<rect class=\"other\" x=\"\(x - 2)\" y=\"\(y - 10)\" width=\"4\" height=\"20\"/>"
    case .failure:
      return "<text class=\"failed\" x=\"\(x)\" y=\"\(y + 6)\" font-size=\"18\" font-weight=\"bold\" "
        + "text-anchor=\"middle\">×</text>"
    }
  }

  private func drawing(ofPhase index: Int, _ rows: Rows) -> String {
    let phase = phases[index]
    let start = x(phase.start)
    let end = x(index + 1 < phases.count ? phases[index + 1].start : end)
    let style: String
    switch phase.state {
    case .closed, .disabled: style = "closed"
    case .open, .isolated: style = "open"
    case .halfOpen: style = "half"
    }
    let band =
      "<rect class=\"\(style)\" x=\"\(start)\" y=\"\(rows.breaker + 14)\" width=\"\(max(end - start, 2))\" height=\"8\"/>"
    guard phase.state.text.count * 7 <= end - start else {
      return "<g><title>\(phase.state.text) from \(phase.start.text)</title>\(band)</g>"
    }
    return band + "<text class=\"faint\" x=\"\(start)\" y=\"\(rows.breaker + 10)\">\(phase.state.text)</text>"
  }
}
