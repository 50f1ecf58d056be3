import ReboundTesting

/// The results of several policies as one page for a browser, which needs nothing from outside: a table, and for each policy
/// what the service got, answered and did for nobody, over time.
///
/// A row of the table shows and hides its picture; the pointer over a picture shows the figures of that second.
public struct StormPage {
  private let storms: [Storm]
  /// How many requests a second the pictures are high.
  private let ceiling: Double

  /// Makes a page.
  ///
  /// - Parameter storms: A row and a picture each.
  public init(_ storms: [Storm]) {
    self.storms = storms
    ceiling = max(storms.map { max(Double($0.series.highest), $0.normalLoad) }.max() ?? 0, 1)
  }

  /// The page.
  public var html: String {
    """
    <!doctype html>
    <html lang="en">
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Storm</title>
    <style>
    :root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif; background: Canvas; color: CanvasText }
    body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
    table { border-collapse: collapse; width: 100% }
    th, td { text-align: right; padding: .3rem .5rem; border-bottom: 1px solid #8884 }
    th:first-child, td:first-child { text-align: left }
    .table { overflow-x: auto }
    button { all: unset; cursor: pointer; text-decoration: underline; min-width: 24px; min-height: 24px }
    button:focus-visible { outline: 2px solid }
    figure { margin: 1.5rem 0 } figcaption { font-weight: 600 } pre { white-space: pre-wrap }
    svg { width: 100%; height: 140px; display: block }
    .offered { fill: #c2410c; color: light-dark(#c2410c, #fb923c) }
    .served { fill: #2563eb; color: light-dark(#2563eb, #60a5fa) }
    .wasted { fill: #a855f7; color: light-dark(#7e22ce, #c084fc) } .down { fill: #8883 }
    .normal { stroke: currentColor; stroke-dasharray: 4 3; vector-effect: non-scaling-stroke }
    </style>
    <main>
    <h1>Storm</h1>
    <p>Requests a second that the service got (<b class="offered">orange</b>), answered
    (<b class="served">blue</b>) and worked on for nobody (<b class="wasted">purple</b>), all to one scale. The
    dashed line is the normal load; it is grey where something was wrong.</p>
    <div class="table" role="region" aria-label="All policies" tabindex="0">
    <table><thead><tr>\(head)</tr></thead><tbody>
    \(rows)
    </tbody></table>
    </div>
    \(figures)
    </main>
    <script>
    for (const button of document.querySelectorAll('button')) {
      button.addEventListener('click', () => {
        const figure = document.getElementById(button.getAttribute('aria-controls'))
        figure.hidden = !figure.hidden
        button.setAttribute('aria-expanded', String(!figure.hidden))
      })
    }
    for (const figure of document.querySelectorAll('figure')) {
      const series = JSON.parse(figure.querySelector('script').textContent)
      const output = figure.querySelector('output')
      const picture = figure.querySelector('svg')
      picture.addEventListener('pointermove', event => {
        const box = picture.getBoundingClientRect()
        const last = series.offered.length - 1
        const second = Math.min(last, Math.max(0, Math.floor((event.clientX - box.left) / box.width * (last + 1))))
        output.textContent = `${second} s: got ${series.offered[second]}, answered ${series.served[second]}, ` +
          `for nobody ${series.wasted[second]}, given up ${series.givenUp[second]}`
      })
    }
    </script>
    </html>

    """
  }

  private var head: String {
    let columns = ["policy", "peak in the fault", "peak after it", "in all", "recovered after", "given up", "p99"]
    return columns.map { "<th scope=\"col\">\($0)</th>" }.joined()
  }

  private var rows: String {
    storms.enumerated().map { index, storm in
      let name =
        "<button aria-controls=\"storm-\(index)\" aria-expanded=\"true\">\(storm.name.escapedForXML)</button>"
      return "<tr><td>\(name)</td>" + storm.cells.map { "<td>\($0)</td>" }.joined() + "</tr>"
    }.joined(separator: "\n")
  }

  private var figures: String {
    storms.enumerated().map { index, storm in
      let advice = storm.advice.map { "<pre>\("\($0)".escapedForXML)</pre>" }.joined()
      return """
        <figure id="storm-\(index)"><figcaption>\(storm.name.escapedForXML)</figcaption>
        \(picture(storm))
        <output role="status">&nbsp;</output>\(advice)
        <script type="application/json">\(json(storm.series))</script>
        </figure>
        """
    }.joined(separator: "\n")
  }

  private func picture(_ storm: Storm) -> String {
    let series = storm.series
    let normal = 100 - storm.normalLoad / ceiling * 100
    return """
      <svg viewBox="0 0 \(series.offered.count) 100" preserveAspectRatio="none" role="img" aria-label="\(storm.summary.escapedForXML)">
      <rect class="down" x="\(storm.trouble.lowerBound)" width="\(storm.trouble.count)" height="100"/>
      <path class="offered" d="\(area(series.offered))"/>
      <path class="served" d="\(area(series.served))"/>
      <path class="wasted" d="\(area(series.wasted))"/>
      <line class="normal" x2="\(series.offered.count)" y1="\(normal.shown(2))" y2="\(normal.shown(2))"/>
      </svg>
      """
  }

  private func area(_ counts: [Int]) -> String {
    let path = counts.enumerated().map { second, count in
      "L\(second) \((100 - Double(count) / ceiling * 100).shown(2))H\(second + 1)"
    }
    return "M0 100" + path.joined() + "V100Z"
  }

  private func json(_ series: StormSeries) -> String {
    let lists = [
      ("offered", series.offered), ("served", series.served), ("wasted", series.wasted), ("givenUp", series.givenUp),
    ]
    return "{" + lists.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
  }
}
