import ReboundTelemetry

@testable import Rebound
@testable import ReboundHTTP

extension FuzzTarget {
  /// The page of metrics: one that a collector reads, whatever the labels hold.
  static let metrics = FuzzTarget(
    "metrics",
    seeds: ["name\nsource\nweather", "1é-\nle\n\"\\\u{A}", "a_seconds\nb\n\"\u{301}\n\\\u{301}"],
    words: ["\"", "\"\u{301}", "\\", "\\\u{301}", "\r\n", "\u{2028}", "#", "{", "٣"]
  ) { input in
    let table = MetricsTable(bounds: [1, 2])
    // Labels are the program's own words. To hash longer ones may take long, by no fault of this package.
    let lines = String(decoding: input.rest().prefix(4_096), as: UTF8.self)
      .split(separator: "\n", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
    for (index, line) in lines.enumerated() {
      let label = Metric.Label(lines[(index + 1) % lines.count], "\(lines[(index + 2) % lines.count])\n")
      table.add(index, to: Metric(line, label))
    }
    table.record(1, in: Metric("\(lines[0])_seconds", .init("le", lines[0])))
    let page = table.openMetrics()
    expect(page.utf8.reversed().starts(with: "# EOF\n".utf8.reversed()), "a page without an end")
    for line in page.utf8.split(separator: UInt8(ascii: "\n")) {
      expect(
        line.first == UInt8(ascii: "#") || isSample(line),
        "'\(String(decoding: line, as: UTF8.self))' is no sample"
      )
    }
  }

  /// Whether a line is `name{label="value",…} number` (OpenMetrics 1.0, ABNF).
  private static func isSample(_ line: some Collection<UInt8>) -> Bool {
    var rest = Array(line)[...]
    guard takeName(&rest) else { return false }
    if rest.first == UInt8(ascii: "{") {
      repeat {
        rest.removeFirst()
        guard takeName(&rest), rest.starts(with: [0x3D, 0x22]) else { return false }
        rest = rest.dropFirst(2)
        guard takeValue(&rest) else { return false }
      } while rest.first == UInt8(ascii: ",")
      guard rest.popFirst() == UInt8(ascii: "}") else { return false }
    }
    guard rest.popFirst() == UInt8(ascii: " ") else { return false }
    return Double(String(decoding: rest, as: UTF8.self)) != nil
  }

  private static func takeName(_ rest: inout ArraySlice<UInt8>) -> Bool {
    guard let first = rest.first, !(0x30...0x39).contains(first) else { return false }
    let name = rest.prefix { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
    }
    rest = rest[name.endIndex...]
    return !name.isEmpty
  }

  private static func takeValue(_ rest: inout ArraySlice<UInt8>) -> Bool {
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\"") { return true }
      if byte == UInt8(ascii: "\\"), ![0x6E, 0x22, 0x5C].contains(rest.popFirst()) { return false }
    }
    return false
  }
}
