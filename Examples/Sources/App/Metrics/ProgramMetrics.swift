import Foundation
import Rebound
import ReboundTelemetry
import WebServer

/// What the whole program has measured, all apps of all pages together: the page that a collector reads.
struct ProgramMetrics: Sendable {
  /// What was counted and measured since the start.
  let table = MetricsTable()
  /// Knows the policies that all pages share.
  let shared = PolicyEvents()

  /// Makes one of a program that has just started.
  init() {
    table.describe("app_pages_opened", as: "Pages that were opened since the start.")
    table.describe("app_pages_open", as: "Pages that are open now.")
  }

  /// Answers `GET /metrics`.
  ///
  /// A collector gets OpenMetrics. A person who follows a link gets the same text as a type that a browser shows, where
  /// it would save the other one to a file.
  func response(to request: Request) -> Response {
    let isPerson = request.headers.values(of: "Accept").contains { $0.lowercased().contains("text/html") }
    return Response(
      headers: [
        "Content-Type": isPerson ? "text/plain; charset=utf-8" : MetricsTable.openMetricsType,
        "Vary": "Accept",
      ],
      content: .data(Data(table.openMetrics(gauges: shared.gauges).utf8))
    )
  }

  /// Counts a page that has come.
  func pageOpened() { table.add(1, to: Metric("app_pages_opened")) }

  /// Tells from now on how many pages are open.
  ///
  /// - Parameter count: Counts them, on the thread of whoever asks; `nil` once there is nothing to count any more.
  func tellPages(_ count: @escaping @Sendable () -> Int?) throws(InvalidMetric) {
    try table.watch(Metric("app_pages_open")) { count().map(Double.init) }
  }
}
