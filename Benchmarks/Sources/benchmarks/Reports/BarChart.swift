import Foundation

/// Horizontal bars on a logarithmic scale, as a picture that depends on nothing but its numbers.
struct BarChart {
  struct Bar {
    let name: String
    let value: Double
    let limit: Double?
  }

  let title: String
  let bars: [Bar]

  private let rowHeight = 22
  private let nameWidth = 360
  private let barWidth = 420

  var svg: String {
    let width = nameWidth + barWidth + 90
    let height = 50 + bars.count * rowHeight
    let rows = bars.enumerated().map { row($1, at: 44 + $0 * rowHeight) }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" \
      font-family="sans-serif" font-size="13">
      <rect width="100%" height="100%" fill="#ffffff"/>
      <text x="12" y="24" font-size="15" font-weight="bold" fill="#1f2328">\(escaped(title))</text>
      \(rows.joined(separator: "\n"))
      </svg>

      """
  }

  private func row(_ bar: Bar, at y: Int) -> String {
    let isOver = bar.limit.map { bar.value > $0 } ?? false
    var parts = [
      "<text x=\"\(nameWidth - 8)\" y=\"\(y + 13)\" text-anchor=\"end\" fill=\"#1f2328\">\(escaped(bar.name))</text>",
      "<rect x=\"\(nameWidth)\" y=\"\(y)\" width=\"\(length(bar.value))\" height=\"16\" "
        + "fill=\"\(isOver ? "#c2410c" : "#2563eb")\"/>",
    ]
    if let limit = bar.limit {
      let x = nameWidth + length(limit)
      parts.append(
        "<line x1=\"\(x)\" y1=\"\(y - 2)\" x2=\"\(x)\" y2=\"\(y + 18)\" stroke=\"#1f2328\" stroke-width=\"2\"/>"
      )
    }
    let end = nameWidth + max(length(bar.value), bar.limit.map(length) ?? 0)
    parts.append("<text x=\"\(end + 6)\" y=\"\(y + 13)\" fill=\"#57606a\">\(bar.value.short)</text>")
    return parts.joined(separator: "\n")
  }

  /// Pixels: one tenth of the smallest thing shown is nothing, the largest bar fills the width.
  private func length(_ value: Double) -> Int {
    let largest = bars.map { max($0.value, $0.limit ?? 0) }.max() ?? 1
    let floor = 0.1
    guard value > floor, largest > floor else { return 0 }
    return Int((log(value / floor) / log(largest / floor) * Double(barWidth)).rounded())
  }

  private func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
  }
}
