import Combine
import Foundation
import Rebound
import ReboundTelemetry

// What the examples in the doc comments of ReboundTelemetry take for granted, besides those of the policies.
// With Rebound.

enum MetricsTable_sumsExamples {
  static var metrics: MetricsTable { given() }
  static var snapshot: MetricsTable.Snapshot { given() }
}

enum PolicySpansExamples {
  static var lines: JSONLines { given() }
}

enum MetricsTableExamples {
  final class Pages: Sendable {
    var count: Int { 0 }
  }
  static let pages = Pages()
  static func respond(_: String, type: String) {}
}

enum MetricsSinkExamples {
  struct Counter {
    init(label: String, dimensions: [(String, String)]) {}
    func increment(by: Int) {}
  }
  struct Recorder {
    init(label: String, dimensions: [(String, String)]) {}
    func record(_: Double) {}
  }
  struct Timer {
    init(label: String, dimensions: [(String, String)]) {}
    func recordSeconds(_: Double) {}
  }
}
