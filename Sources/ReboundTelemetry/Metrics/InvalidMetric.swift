import Foundation
import Rebound

/// A gauge that no page could tell of, refused when it is to be watched.
public enum InvalidMetric: Error, Hashable, Sendable {
  /// The name has characters other than letters, digits and underscores of ASCII, or does not begin with a letter.
  case name(String)
  /// The name ends as the names of the numbers do that counters and histograms are written as.
  case reservedEnd(String)
  /// The name of a label is none.
  case label(String)
  /// Two labels have the same name.
  case repeatedLabel(String)
  /// The name is that of a counter or a histogram in this table.
  case otherKind(String)
  /// The table is full, with so many series.
  case tooManySeries(Int)
}

extension InvalidMetric: CustomStringConvertible {
  /// What is wrong, with the name that is, and what to give instead.
  public var description: String {
    switch self {
    case .name(let name):
      "Gauge: '\(name)' is no name. Give letters, digits and underscores of ASCII, a letter first."
    case .reservedEnd(let name):
      "Gauge: '\(name)' ends like a part of a counter or a histogram. Leave out the last word, or put another one there."
    case .label(let name):
      "Gauge: '\(name)' is no name of a label. Give letters, digits and underscores of ASCII, a letter first."
    case .repeatedLabel(let name): "Gauge: the label '\(name)' is there twice. Give each name once."
    case .otherKind(let name):
      "Gauge: '\(name)' is a counter or a histogram in this table already. Give the gauge another name."
    case .tooManySeries(let limit):
      "Gauge: the table holds \(limit) series, and no more. Give labels with fewer values, or make a larger table."
    }
  }
}

extension InvalidMetric: LocalizedError {
  /// What is wrong, and what to give instead.
  public var errorDescription: String? { description }
}

extension Metric {
  /// What OpenMetrics 1.0 adds to the names of counters and histograms ("Suffixes").
  private static let reservedEnds = [
    "_total", "_created", "_count", "_sum", "_bucket", "_gcount", "_gsum", "_info",
  ]

  func validateAsGauge() throws(InvalidMetric) {
    guard Metric.isName(name) else { throw .name(name) }
    if Metric.reservedEnds.contains(where: name.hasSuffix) { throw .reservedEnd(name) }
    var names: Set<String> = []
    for label in labels {
      guard Metric.isName(label.name) else { throw .label(label.name) }
      guard names.insert(label.name).inserted else { throw .repeatedLabel(label.name) }
    }
  }

  /// Names that begin with an underscore, or have colons, are reserved by OpenMetrics.
  private static func isName(_ text: String) -> Bool {
    text.utf8.first?.isLetter == true && text.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
  }
}

extension UInt8 {
  /// Whether it is a letter of ASCII.
  var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
  /// Whether it is a digit of ASCII.
  var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
