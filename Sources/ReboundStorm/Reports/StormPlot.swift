import ReboundTesting

/// The load of each policy over time as a picture: what came, what was served, and when something was wrong.
///
/// The text depends on nothing but the results. Colours follow the reader's light or dark scheme.
public struct StormPlot {
  private let results: [Storm]
  private let scenario: Scenario
  /// How many times the normal load the plots are high.
  private let ceiling: Double

  private var seconds: Int { Int(scenario.duration.rounded(.up)) }

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
  public init(_ results: [Storm], scenario: Scenario) {
    self.results = results
    self.scenario = scenario
    ceiling = max(results.map { Double($0.series.highest) / $0.normalLoad }.max() ?? 1, 1)
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
      <desc id="description">\(description.escapedForXML)</desc>
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

  private var title: String {
    let faults =
      if let begin = scenario.beginOfFaults, let end = scenario.endOfFaults {
        "\(scenario.faults.count == 1 ? "A fault of" : "Faults over") \((end - begin).short) s"
      } else {
        "No fault"
      }
    return "\(faults), and \(scenario.arrivals.rate.short) requests a second"
  }

  private var description: String {
    results.map { result in
      let recovery = result.secondsToRecover.map { "recovered after \($0) s" } ?? "never recovered"
      return "\(result.name): at most \(result.peakInTrouble.shown(2)) times the normal load in the fault and "
        + "\(result.peakAfterTrouble.shown(2)) times after it, \(recovery)."
    }.joined(separator: " ")
  }

  private func panel(_ result: Storm, at y: Int) -> String {
    let base = y + panelHeight - 12
    let trouble = (x(result.trouble.lowerBound), x(result.trouble.upperBound))
    let normal = height(1)
    return """
      <text class="ink" x="\(left)" y="\(y + 12)" font-weight="bold">\(result.name.escapedForXML)</text>
      <rect class="down" x="\(trouble.0)" y="\(base - plotHeight)" width="\(trouble.1 - trouble.0)" height="\(plotHeight)"/>
      <path class="offered" d="\(area(result.series.offered, result, base))"/>
      <path class="served" d="\(area(result.series.served, result, base))"/>
      <line class="normal" x1="\(left)" x2="\(left + plotWidth)" y1="\(base - normal)" y2="\(base - normal)"/>
      <text class="faint" x="\(left - 6)" y="\(base - normal + 4)" text-anchor="end">1 ×</text>
      <text class="faint" x="\(left - 6)" y="\(base - plotHeight + 4)" text-anchor="end">\(ceiling.short) ×</text>
      """
  }

  private func area(_ counts: [Int], _ result: Storm, _ base: Int) -> String {
    let normal = result.normalLoad
    var path = "M\(left) \(base)"
    for (second, count) in counts.enumerated() {
      path += "L\(x(second)) \(base - height(Double(count) / normal))H\(x(second + 1))"
    }
    return path + "V\(base)Z"
  }

  private func axis(at y: Int) -> String {
    stride(from: 0, through: seconds, by: max(seconds / 9, 1)).map { second in
      "<text class=\"faint\" x=\"\(x(second))\" y=\"\(y + 8)\" text-anchor=\"middle\">\(second) s</text>"
    }.joined(separator: "\n")
  }

  private func x(_ second: Int) -> Int { left + second * plotWidth / seconds }

  private func height(_ load: Double) -> Int { Int((load / ceiling * Double(plotHeight)).rounded()) }
}
