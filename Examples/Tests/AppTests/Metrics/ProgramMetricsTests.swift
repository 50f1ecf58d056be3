import Foundation
import Rebound
import Testing
import WebServer

@testable import App

@Suite("ProgramMetrics")
struct ProgramMetricsTests {
  private let metrics = ProgramMetrics()

  private func response(accept: String...) throws -> Response {
    var headers = Headers()
    for value in accept { headers.add("Accept", value) }
    return metrics.response(to: try Request(.get, "/metrics", headers: headers))
  }

  private func text(_ response: Response) throws -> String {
    guard case .data(let body) = response.content else { return "" }
    return String(decoding: body, as: UTF8.self)
  }

  @Test(
    "a collector gets OpenMetrics, whatever it accepts",
    arguments: [nil, "*/*", "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"]
  )
  func collector(accept: String?) throws {
    let response = try accept.map { try self.response(accept: $0) } ?? self.response()
    #expect(response.headers["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
    #expect(response.headers["Vary"] == "Accept")
    let page = #"""
      # TYPE rebound_metrics_left_out gauge
      # HELP rebound_metrics_left_out Series that this page leaves out, since all of it would be refused for them.
      rebound_metrics_left_out 0
      # TYPE rebound_metrics_refused counter
      # HELP rebound_metrics_refused Measurements that had no place in the table.
      rebound_metrics_refused_total 0
      # EOF

      """#
    #expect(try text(response) == page)
  }

  @Test("a browser gets the same text as a type that it shows")
  func person() throws {
    let response = try response(accept: "text/html,application/xhtml+xml,*/*;q=0.8")
    #expect(response.status == 200)
    #expect(response.headers["Content-Type"] == "text/plain; charset=utf-8")
    #expect(try text(response) == text(self.response()))
  }

  @Test("what shared policies hold stands among the numbers")
  func gauges() throws {
    let budget = try RetryBudget.bucket(tokens: 7, cost: 1)
    metrics.shared.watch(budget, named: "weather")
    #expect(
      try text(response()).contains("\nrebound_budget_available{source=\"weather\"} 7\n")
    )
  }

  @Test("pages are counted when they come, and told as long as somebody knows of them")
  func pages() throws {
    let open = Locked<Int?>(2)
    try metrics.tellPages { open.withLock { $0 } }
    for _ in 1...3 { metrics.pageOpened() }
    let page = try text(response())
    #expect(page.contains("\napp_pages_opened_total 3\n"))
    #expect(
      page.contains("# TYPE app_pages_open gauge\n# HELP app_pages_open Pages that are open now.\napp_pages_open 2.0\n")
    )
    open.withLock { $0 = nil }
    #expect(try !text(response()).contains("app_pages_open "))
  }
}
