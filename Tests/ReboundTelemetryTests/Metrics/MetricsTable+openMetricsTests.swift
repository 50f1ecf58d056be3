import Expectations
import Rebound
import ReboundTelemetry
import Testing

@Suite("MetricsTable+openMetrics")
struct MetricsTableOpenMetricsTests {
  private let asked = Metric("asked", .init("source", "weather"))
  private let lasted = Metric("lasted_seconds", .init("source", "weather"))

  @Test("writes the page that collectors read")
  func page() throws {
    let table = MetricsTable(bounds: [0.5, 1])
    table.add(3, to: asked)
    table.add(1, to: Metric("asked", .init("source", "a \"b\"\\\n")))
    table.record(0.25, in: lasted)
    table.record(2, in: lasted)
    table.describe("lasted_seconds", as: "How long it lasted.")
    table.describe("app_open", as: "Pages that were open.")
    table.describe("app_open", as: "Pages that are open now.")
    table.describe("nothing", as: "Nobody measures it.")
    try table.watch(Metric("app_open", .init("app", "zoo"))) { 1.5 }
    let bulkhead = Bulkhead("search", policy: try BulkheadPolicy(maxConcurrent: 2))
    let events = PolicyEvents()
    events.watch(bulkhead)
    let permit = try bulkhead.acquire()
    expectEqual(
      table.openMetrics(gauges: events.gauges),
      #"""
      # TYPE app_open gauge
      # HELP app_open Pages that are open now.
      app_open{app="zoo"} 1.5
      # TYPE asked counter
      asked_total{source="a \"b\"\\\n"} 1
      asked_total{source="weather"} 3
      # TYPE lasted_seconds histogram
      # UNIT lasted_seconds seconds
      # HELP lasted_seconds How long it lasted.
      lasted_seconds_bucket{source="weather",le="0.5"} 1
      lasted_seconds_bucket{source="weather",le="1.0"} 1
      lasted_seconds_bucket{source="weather",le="+Inf"} 2
      lasted_seconds_count{source="weather"} 2
      lasted_seconds_sum{source="weather"} 2.25
      # TYPE rebound_bulkhead_limit gauge
      # HELP rebound_bulkhead_limit Calls that may run in a bulkhead at the same time.
      rebound_bulkhead_limit{source="search"} 2
      # TYPE rebound_bulkhead_queued gauge
      # HELP rebound_bulkhead_queued Calls that wait for a place in a bulkhead.
      rebound_bulkhead_queued{source="search"} 0
      # TYPE rebound_bulkhead_running gauge
      # HELP rebound_bulkhead_running Calls that run in a bulkhead.
      rebound_bulkhead_running{source="search"} 1
      # TYPE rebound_metrics_left_out gauge
      # HELP rebound_metrics_left_out Series that this page leaves out, since all of it would be refused for them.
      rebound_metrics_left_out 0
      # TYPE rebound_metrics_refused counter
      # HELP rebound_metrics_refused Measurements that had no place in the table.
      rebound_metrics_refused_total 0
      # EOF

      """#
    )
    permit.release()
  }

  @Test("writes names and repeated gauges so that the page can be read all the same")
  func oddNames() throws {
    let table = MetricsTable()
    table.add(1, to: Metric("2 much", .init("the-label", "x")))
    let gauge = PolicyGauge(name: "twin", kind: .rateLimiter, reading: RateLimiter.Snapshot(queued: 1, share: 1))
    let lines = table.openMetrics(gauges: [gauge, gauge]).split(separator: "\n")
    #expect(lines.contains(#"_2_much_total{the_label="x"} 1"#))
    expectEqual(lines.filter { $0.hasPrefix("rebound_limiter_queued{") }.count, 1)
    #expect(lines.contains("rebound_metrics_left_out 2"))
  }

  @Test("a label's quotes and backslashes are escaped on the page, whatever marks follow them")
  func labelsWithMarks() {
    let table = MetricsTable()
    table.add(1, to: Metric("asked", .init("source", "a\"\u{301}b\\\u{FE0F}c\n\u{301}\r\nd")))
    let expected =
      #"asked_total{source="a\""# + "\u{301}" + #"b\\"# + "\u{FE0F}" + #"c\n"# + "\u{301}" + "\r" + #"\nd"} 1"#
    let lines = table.openMetrics().utf8.split(separator: UInt8(ascii: "\n")).map { Array($0) }
    #expect(lines.contains(Array(expected.utf8)))
  }

  @Test("a name keeps the digits and letters of ASCII, and nothing else")
  func namesWithMarks() {
    let table = MetricsTable()
    table.add(1, to: Metric("1a\u{301}٣-b"))
    #expect(table.openMetrics().contains("\n_1a___b_total 1\n"))
  }

  @Test("what was said of a name has one line, its quotes, backslashes and line breaks escaped, whatever marks follow")
  func help() {
    let table = MetricsTable()
    table.add(1, to: Metric("as ked"))
    table.describe("as ked", as: "How \"often\"\u{301},\nwith \\\u{301}\r\nor without")
    let expected =
      #"# HELP as_ked How \"often\""# + "\u{301}" + #",\nwith \\"# + "\u{301}\r" + #"\nor without"#
    let lines = table.openMetrics().utf8.split(separator: UInt8(ascii: "\n")).map { Array($0) }
    #expect(lines.contains(Array(expected.utf8)))
  }

  @Test(
    "a gauge that is no plain number is written as the format calls it",
    arguments: [
      (Double.nan, "NaN"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (3, "3.0"), (1e300, "1e+300"), (-0.5, "-0.5"),
    ]
  )
  func gaugeValues(value: Double, text: String) throws {
    let table = MetricsTable()
    try table.watch(Metric("app_open")) { value }
    #expect(table.openMetrics().contains("\napp_open \(text)\n"))
  }

  @Test("a family has one kind, also when two names become one on the page")
  func oneKind() throws {
    let table = MetricsTable()
    table.add(1, to: Metric("app-open"))
    table.record(1, in: Metric("app open"))
    try table.watch(Metric("app_open")) { 1 }
    let page = page(of: table)
    expectEqual(page.lines, ["# TYPE app_open counter", "app_open_total 1"])
    expectEqual(page.leftOut, "2")
  }

  /// The lines of a page without those that are about itself, and how many series it says that it leaves out.
  private func page(of table: MetricsTable, gauges: [PolicyGauge] = []) -> (lines: [Substring], leftOut: Substring?) {
    let lines = table.openMetrics(gauges: gauges).split(separator: "\n").dropLast()
    let leftOut = lines.first { $0.hasPrefix("rebound_metrics_left_out ") }?.split(separator: " ").last
    return (lines.filter { !$0.contains("rebound_metrics_") }, leftOut)
  }

  @Test("what a page leaves out is no measurement that was refused, and the next page may leave out less")
  func refusalsAreNotLeftOut() {
    let table = MetricsTable()
    table.add(-1, to: asked)
    let gauge = PolicyGauge(name: "front", kind: .bulkhead, reading: Doors())
    for (gauges, leftOut) in [([gauge], 1), ([], 0)] {
      let lines = table.openMetrics(gauges: gauges).split(separator: "\n")
      #expect(lines.contains("rebound_metrics_refused_total 1"))
      #expect(lines.contains("rebound_metrics_left_out \(leftOut)"))
    }
  }

  @Test("a series is on the page once, whatever the order of its labels, and a label that is empty is none")
  func oneSeries() {
    let table = MetricsTable(bounds: [])
    let (app, tab) = (Metric.Label("app", "zoo"), Metric.Label("tab", "map"))
    table.add(1, to: Metric("asked", app, tab))
    table.add(2, to: Metric("asked", tab, app))
    table.add(3, to: Metric("told"))
    table.add(4, to: Metric("told", .init("source", "")))
    table.record(1, in: Metric("lasted", .init("le", ""), app))
    let page = page(of: table)
    expectEqual(
      page.lines,
      [
        "# TYPE asked counter", #"asked_total{app="zoo",tab="map"} 1"#,
        "# TYPE lasted histogram", #"lasted_bucket{app="zoo",le="+Inf"} 1"#, #"lasted_count{app="zoo"} 1"#,
        #"lasted_sum{app="zoo"} 1.0"#,
        "# TYPE told counter", "told_total 3",
      ]
    )
    expectEqual(page.leftOut, "2")
  }

  @Test("of names that become one on the page the first one stands there, and the others are counted")
  func oneName() {
    // Each table may have its series in another order.
    for _ in 0..<20 {
      let table = MetricsTable()
      for (index, mark) in ["-", ".", "/", ":", "_"].enumerated() { table.add(index, to: Metric("a\(mark)b")) }
      table.add(7, to: Metric("rebound_metrics_refused"))
      let page = page(of: table)
      expectEqual(page.lines, ["# TYPE a_b counter", "a_b_total 0"])
      expectEqual(page.leftOut, "5")
    }
  }

  @Test(
    "a series with two labels of one name is left out and counted, also when two names become one on the page",
    arguments: [["app", "app"], ["the-app", "the_app"]]
  )
  func repeatedLabels(names: [String]) {
    let table = MetricsTable(bounds: [1])
    let labels = names.map { Metric.Label($0, "zoo") }
    table.add(1, to: Metric("asked", labels: labels))
    table.record(1, in: Metric("lasted_seconds", labels: labels))
    table.add(2, to: Metric("asked", labels: Array(labels.prefix(1))))
    let page = page(of: table)
    expectEqual(
      page.lines,
      ["# TYPE asked counter", #"asked_total{\#(names[0] == "app" ? "app" : "the_app")="zoo"} 2"#]
    )
    expectEqual(page.leftOut, "2")
  }

  private struct Doors: PolicyReading {
    let description = "doors"
    let details: [EventField] = []
    let measurements = [
      PolicyMeasurement("doors_open", 1, labels: [.init("source", "street")]), PolicyMeasurement("doors_shut", 2),
    ]
  }

  @Test("a gauge with a label of the name that stands before those of all gauges is left out and counted")
  func repeatedSource() {
    let gauge = PolicyGauge(name: "front", kind: .bulkhead, reading: Doors())
    let page = page(of: MetricsTable(), gauges: [gauge])
    expectEqual(page.lines, ["# TYPE doors_shut gauge", #"doors_shut{source="front"} 2"#])
    expectEqual(page.leftOut, "1")
  }

  @Test("a label that is called like the bounds of buckets is one of counters, and not of histograms")
  func bucketLabels() {
    let table = MetricsTable(bounds: [1])
    table.add(1, to: Metric("asked", .init("le", "1")))
    table.record(1, in: Metric("lasted_seconds", .init("le", "1")))
    let page = page(of: table)
    expectEqual(page.lines, ["# TYPE asked counter", #"asked_total{le="1"} 1"#])
    expectEqual(page.leftOut, "1")
  }

  @Test("families whose name is that of another one's lines are left out and counted, and no others")
  func clashes() {
    let table = MetricsTable(bounds: [])
    for name in ["asked", "asked_total", "asked_created", "asked_count", "asked_total_total"] {
      table.add(1, to: Metric(name))
    }
    table.record(1, in: Metric("lasted"))
    for name in ["lasted_bucket", "lasted_count", "lasted_sum", "lasted_total"] {
      for app in ["zoo", "news"] { table.add(1, to: Metric(name, .init("app", app))) }
    }
    table.add(1, to: Metric("rebound_metrics_refused_total"))
    let page = page(of: table)
    expectEqual(
      page.lines,
      [
        "# TYPE asked counter", "asked_total 1",
        "# TYPE asked_count counter", "asked_count_total 1",
        "# TYPE asked_total_total counter", "asked_total_total_total 1",
        "# TYPE lasted histogram", #"lasted_bucket{le="+Inf"} 1"#, "lasted_count 1", "lasted_sum 1.0",
        "# TYPE lasted_total counter", #"lasted_total_total{app="news"} 1"#, #"lasted_total_total{app="zoo"} 1"#,
      ]
    )
    // Three counters, and two series each of three more.
    expectEqual(page.leftOut, "9")
  }

  @Test("a histogram whose measurements may be negative has buckets only")
  func negativeBounds() {
    let table = MetricsTable(bounds: [-1, 0])
    table.record(-0.5, in: Metric("drift_seconds"))
    let page = page(of: table)
    expectEqual(
      page.lines,
      [
        "# TYPE drift_seconds histogram", "# UNIT drift_seconds seconds", #"drift_seconds_bucket{le="-1.0"} 0"#,
        #"drift_seconds_bucket{le="0.0"} 1"#, #"drift_seconds_bucket{le="+Inf"} 1"#,
      ]
    )
    expectEqual(page.leftOut, "0")
  }
}
