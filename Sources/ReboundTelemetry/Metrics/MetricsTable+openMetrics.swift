import Rebound

extension MetricsTable {
  /// The media type of what ``openMetrics(gauges:)`` writes.
  public static let openMetricsType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

  /// All series as a text that Prometheus and its kin read.
  ///
  /// Written as OpenMetrics 1.0 has it: families by name, each with what ``describe(_:as:)`` was told of it, series by
  /// label, `# EOF` at the end.
  ///
  /// A collector refuses a page as a whole for one series that makes no sense. So such are left out, and
  /// `rebound_metrics_left_out` says how many are at the moment: those with two labels of one name, histograms with a label
  /// `le`, those whose name is that of another one's line, as `asked_total` is of the counter `asked`, and all but the first
  /// one of those that are the same on the page, or of another kind under the same name, as `a-b` and `a_b` are. A label
  /// that is empty is one that is not there. Histograms whose measurements may be negative, since a bound is, are written
  /// without their count and sum.
  ///
  /// - Parameter gauges: What shared objects hold now: see `PolicyEvents.gauges`.
  /// - Complexity: O(s log s) for s series.
  public func openMetrics(gauges: [PolicyGauge] = []) -> String {
    let snapshot = snapshot
    var page = OpenMetricsPage(descriptions: Self.ownDescriptions.merging(descriptions) { $1 })
    page.add(Metric(OpenMetricsPage.refusals), .counter, "\(snapshot.refused)")
    for (metric, count) in snapshot.counters.inOrder { page.add(metric, .counter, "\(count)") }
    for (metric, histogram) in snapshot.histograms.inOrder { page.add(metric, histogram) }
    for (metric, value) in snapshot.gauges.inOrder { page.add(metric, .gauge, OpenMetricsPage.text(of: value)) }
    for gauge in gauges {
      for measurement in gauge.reading.measurements { page.add(measurement, of: gauge.name) }
    }
    return page.text()
  }

  private static let ownDescriptions = [
    OpenMetricsPage.refusals: "Measurements that had no place in the table.",
    OpenMetricsPage.omissions: "Series that this page leaves out, since all of it would be refused for them.",
  ]
}

/// A page of metrics while it is written.
private struct OpenMetricsPage {
  private struct Family {
    let type: MetricsTable.Kind
    let help: String?
    /// By their labels, in whichever order these are written; with their place on the page.
    var series: [Set<Metric.Label>: (place: String, lines: [String])] = [:]
  }

  /// The counter of what has no place.
  static let refusals = "rebound_metrics_refused"
  /// What the page leaves out; no counter, since it may be less the next time.
  static let omissions = "rebound_metrics_left_out"

  private var families: [String: Family] = [:]
  private var descriptions: [String: String]
  /// How many series the whole page would be refused for.
  private var leftOut = 0

  init(descriptions: [String: String]) {
    self.descriptions = descriptions
    // Before anybody else takes the name.
    add(Metric(Self.omissions), .gauge, "0")
  }

  /// The whole page, once everything is added.
  mutating func text() -> String {
    leaveOutFamilies()
    families[Self.omissions]?.series[[]]?.lines = ["\(Self.omissions) \(leftOut)"]
    let lines = families.sorted { $0.key < $1.key }.flatMap { name, family in
      let unit = name.hasSuffix("_seconds") ? ["# UNIT \(name) seconds"] : []
      let help = family.help.map { ["# HELP \(name) \(Self.escaped($0))"] } ?? []
      return ["# TYPE \(name) \(family.type.rawValue)"] + unit + help
        + family.series.values.sorted { $0.place < $1.place }.flatMap(\.lines)
    }
    return (lines + ["# EOF"]).map { "\($0)\n" }.joined()
  }

  /// Leaves out the families whose name is that of another one's lines.
  private mutating func leaveOutFamilies() {
    var names: Set<String> = []
    // A name comes before all that begin with it.
    for (name, family) in families.sorted(by: { $0.key < $1.key }) {
      if names.contains(name) {
        families[name] = nil
        leftOut += family.series.count
      } else {
        names.formUnion(family.type.ends.map { name + $0 })
      }
    }
  }

  /// A number that need not be one: those have names of their own.
  static func text(of value: Double) -> String {
    if value.isNaN { return "NaN" }
    return value.isInfinite ? (value < 0 ? "-Inf" : "+Inf") : "\(value)"
  }

  mutating func add(_ metric: Metric, _ type: MetricsTable.Kind, _ value: String) {
    add(metric, type, ["\(Self.sample(metric, type == .counter ? "_total" : "")) \(value)"])
  }

  mutating func add(_ measurement: PolicyMeasurement, of source: String) {
    let name = measurement.name
    // What the program itself has said of a name counts.
    if descriptions[name] == nil { descriptions[name] = measurement.meaning }
    // Most are counts.
    let value = Int(exactly: measurement.value).map { "\($0)" } ?? Self.text(of: measurement.value)
    add(Metric(name, labels: [.init("source", source)] + measurement.labels), .gauge, value)
  }

  mutating func add(_ metric: Metric, _ histogram: MetricsTable.Histogram) {
    var lines: [String] = []
    var below = 0
    for (bound, count) in zip(histogram.bounds, histogram.counts) {
      below += count
      lines.append("\(Self.sample(metric, "_bucket", .init("le", "\(bound)"))) \(below)")
    }
    lines.append("\(Self.sample(metric, "_bucket", .init("le", "+Inf"))) \(histogram.count)")
    // Where measurements may be negative the sum may go down, and the format takes neither.
    if !histogram.isSigned {
      lines.append("\(Self.sample(metric, "_count")) \(histogram.count)")
      lines.append("\(Self.sample(metric, "_sum")) \(Self.text(of: histogram.sum))")
    }
    add(metric, .histogram, lines)
  }

  private mutating func add(_ metric: Metric, _ type: MetricsTable.Kind, _ lines: [String]) {
    let name = Self.name(metric.name)
    let labels = Self.labels(of: metric)
    let names = Set(labels.map(\.name))
    guard names.count == labels.count, type != .histogram || !names.contains("le"),
      // Two objects may have one name; a page with a series twice, or with two kinds of them, is refused as a whole.
      families[name]?.type ?? type == type, families[name]?.series[Set(labels)] == nil
    else {
      return leftOut += 1
    }
    families[name, default: Family(type: type, help: descriptions[metric.name])].series[Set(labels)] =
      (Self.sample(metric, ""), lines)
  }

  /// Its labels as they are written; one that is empty is none.
  private static func labels(of metric: Metric) -> [Metric.Label] {
    metric.labels.filter { !$0.value.isEmpty }.map { Metric.Label(name($0.name), $0.value) }
  }

  private static func sample(_ metric: Metric, _ suffix: String, _ extra: Metric.Label? = nil) -> String {
    let labels = (labels(of: metric) + (extra.map { [$0] } ?? [])).map { "\($0.name)=\"\(escaped($0.value))\"" }
    return name(metric.name) + suffix + (labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}")
  }

  /// A name with nothing in it that the format has no place for.
  private static func name(_ text: String) -> String {
    let bytes = text.unicodeScalars.map { scalar -> UInt8 in
      let byte = UInt8(truncatingIfNeeded: scalar.value)
      return scalar.isASCII && (byte.isLetter || byte.isDigit) ? byte : UInt8(ascii: "_")
    }
    let name = String(decoding: bytes, as: UTF8.self)
    return bytes.first?.isDigit == false ? name : "_" + name
  }

  private static func escaped(_ text: String) -> String {
    // Scalar by scalar: to whoever reads it, a quote with an accent on it is a quote.
    let escaped = text.unicodeScalars.reduce(into: String.UnicodeScalarView()) { escaped, scalar in
      switch scalar {
      case "\\": escaped += "\\\\".unicodeScalars
      case "\"": escaped += "\\\"".unicodeScalars
      case "\n": escaped += "\\n".unicodeScalars
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }
}

extension Dictionary where Key == Metric {
  /// By name and labels: where two are the same on the page, it is always the same one that stands there.
  fileprivate var inOrder: [Element] {
    map { ([$0.key.name] + $0.key.labels.flatMap { [$0.name, $0.value] }, $0) }
      .sorted { $0.0.lexicographicallyPrecedes($1.0) }
      .map(\.1)
  }
}

extension MetricsTable.Kind {
  /// What the lines of a family have behind its name (OpenMetrics 1.0, "Suffixes").
  fileprivate var ends: [String] {
    switch self {
    case .counter: ["_total", "_created"]
    case .gauge: []
    case .histogram: ["_bucket", "_count", "_sum", "_created"]
    }
  }
}
