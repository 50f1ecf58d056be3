/// The load of each policy over time as a picture: what came, what was served, and when the server was down.
///
/// The text depends on nothing but the results. Colours follow the reader's light or dark scheme.
public struct StormPlot {
  private let results: [StormResult]
  private let scenario: Scenario

  private let left = 60
  private let plotWidth = 720
  private let panelHeight = 96
  private let plotHeight = 64
  private let top = 56

  /// Makes a picture.
  ///
  /// - Parameters:
  ///   - results: One panel each.
  ///   - scenario: Which they all went through.
  public init(_ results: [StormResult], scenario: Scenario) {
    self.results = results
    self.scenario = scenario
  }

  /// The picture, as SVG.
  public var svg: String {
    let width = left + plotWidth + 20
    let height = top + results.count * panelHeight + 34
    let panels = results.enumerated().map { panel($1, at: top + $0 * panelHeight) }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" width="\(width)" height="\(height)" \
      role="img" aria-labelledby="title description" font-family="sans-serif" font-size="12">
      <title id="title">\(title)</title>
      <desc id="description">\(description)</desc>
      <style>
      .paper { fill: #ffffff } .ink { fill: #1f2328 } .faint { fill: #57606a } .down { fill: #57606a; opacity: 0.15 }
      .offered { fill: #c2410c; opacity: 0.75 } .served { fill: #2563eb } .normal { stroke: #57606a; stroke-dasharray: 4 3 }
      @media (prefers-color-scheme: dark) {
      .paper { fill: #0d1117 } .ink { fill: #e6edf3 } .faint { fill: #8d96a0 } .down { fill: #8d96a0; opacity: 0.2 }
      .offered { fill: #fb923c } .served { fill: #60a5fa } .normal { stroke: #8d96a0 }
      }
      </style>
      <rect class="paper" width="100%" height="100%"/>
      <text class="ink" x="12" y="22" font-size="15" font-weight="bold">\(title)</text>
      <text class="faint" x="12" y="40">Requests a second as multiples of the normal load, to one scale: \
      refused ones above, served ones below.</text>
      \(panels.joined(separator: "\n"))
      \(axis(at: top + results.count * panelHeight))
      </svg>

      """
  }

  private var title: String { "A server that is down for \(scenario.outage.count) s, and \(scenario.clients) clients" }

  private var description: String {
    results.map { result in
      let recovery = result.secondsToRecover.map { "recovered after \($0) s" } ?? "never recovered"
      return "\(result.policy): at most \(result.peakInOutage.rounded(to: 2)) times the normal load in the outage and "
        + "\(result.peakInRecovery.rounded(to: 2)) times after it, \(recovery)."
    }.joined(separator: " ")
  }

  /// How many times the normal load the plots are high.
  private var ceiling: Double {
    max(results.map { max($0.peakInOutage, $0.peakInRecovery) }.max() ?? 1, 1)
  }

  private func panel(_ result: StormResult, at y: Int) -> String {
    let base = y + panelHeight - 12
    let outage = (x(result.outage.lowerBound), x(result.outage.upperBound))
    let normal = height(1)
    return """
      <text class="ink" x="\(left)" y="\(y + 12)" font-weight="bold">\(result.policy)</text>
      <rect class="down" x="\(outage.0)" y="\(base - plotHeight)" width="\(outage.1 - outage.0)" height="\(plotHeight)"/>
      <path class="offered" d="\(area(result.offered, base))"/>
      <path class="served" d="\(area(result.served, base))"/>
      <line class="normal" x1="\(left)" x2="\(left + plotWidth)" y1="\(base - normal)" y2="\(base - normal)"/>
      <text class="faint" x="\(left - 6)" y="\(base - normal + 4)" text-anchor="end">1 ×</text>
      <text class="faint" x="\(left - 6)" y="\(base - plotHeight + 4)" text-anchor="end">\(ceiling.rounded(to: 0)) ×</text>
      """
  }

  private func area(_ counts: [Int], _ base: Int) -> String {
    var path = "M\(left) \(base)"
    for (second, count) in counts.enumerated() {
      path += "L\(x(second)) \(base - height(Double(count) / scenario.normalLoad))H\(x(second + 1))"
    }
    return path + "V\(base)Z"
  }

  private func axis(at y: Int) -> String {
    stride(from: 0, through: scenario.duration, by: 20).map { second in
      "<text class=\"faint\" x=\"\(x(second))\" y=\"\(y + 8)\" text-anchor=\"middle\">\(second) s</text>"
    }.joined(separator: "\n")
  }

  private func x(_ second: Int) -> Int { left + second * plotWidth / scenario.duration }

  private func height(_ load: Double) -> Int { Int((load / ceiling * Double(plotHeight)).rounded()) }
}
