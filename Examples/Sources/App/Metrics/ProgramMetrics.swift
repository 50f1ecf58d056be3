import Foundation
import Rebound
import WebServer

/// What the whole program has measured, all apps of all pages together: the page that a collector reads.
struct ProgramMetrics: Sendable {
  /// What was counted and measured since the start.
  let table = MetricsTable()
  /// Knows the policies that all pages share.
  let shared = PolicyEvents()

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

  /// Counts a page that has come; those that are open are these less those that are gone.
  func pageOpened() { table.add(1, to: Metric("app_pages_opened")) }

  /// Counts a page that is gone.
  func pageClosed() { table.add(1, to: Metric("app_pages_closed")) }
}
