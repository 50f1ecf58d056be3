import Dispatch
import Rebound
import ReboundTesting
import Testing

@Suite("V2 MetricsTable")
struct MetricsTableTests {
  private let asked = Metric("asked", .init("source", "weather"))
  private let lasted = Metric("lasted_seconds", .init("source", "weather"))

  @Test("counts, apart by name and labels")
  func counters() {
    let table = MetricsTable()
    table.add(1, to: asked)
    table.add(2, to: asked)
    table.add(5, to: Metric("asked", .init("source", "news")))
    #expect(table.snapshot.counters == [asked: 3, Metric("asked", .init("source", "news")): 5])
  }

  @Test("puts a measurement into the first bucket whose bound is not below it")
  func buckets() throws {
    let table = MetricsTable(bounds: [5, 1, 1, .infinity, .nan])
    for value in [-1, 0.5, 1, 1.1, 5, 5.1, 100] { table.record(value, in: lasted) }
    let histogram = try #require(table.snapshot.histograms[lasted])
    #expect(histogram.bounds == [1, 5])
    #expect(histogram.counts == [3, 2])
    #expect(histogram.count == 7)
    #expect(histogram.sum == 111.7)
  }

  @Test("has no more series than its limit, and says how much had no place")
  func limit() {
    let table = MetricsTable(seriesLimit: 2)
    for user in 1...10 { table.add(1, to: Metric("asked", .init("user", "\(user)"))) }
    table.record(1, in: lasted)
    table.add(1, to: Metric("asked", .init("user", "1")))
    #expect(table.snapshot.counters.count == 2)
    #expect(table.snapshot.histograms.isEmpty)
    #expect(table.snapshot.refused == 9)
  }

  @Test("refuses what is no number, what counts backwards, and a name used for both kinds")
  func refusals() {
    let table = MetricsTable()
    table.add(-1, to: asked)
    table.record(.nan, in: lasted)
    table.record(.infinity, in: lasted)
    #expect(table.snapshot.counters.isEmpty)
    #expect(table.snapshot.histograms.isEmpty)
    table.add(1, to: asked)
    table.record(1, in: Metric("asked"))
    #expect(table.snapshot.refused == 4)
  }

  @Test("stays at the largest number instead of going beyond it")
  func overflow() {
    let table = MetricsTable()
    table.add(.max, to: asked)
    table.add(1, to: asked)
    #expect(table.snapshot.counters[asked] == .max)
  }

  @Test("loses nothing when several threads count")
  func concurrency() {
    let table = MetricsTable()
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for _ in 0..<1_000 {
        table.add(1, to: asked)
        table.record(Double(thread), in: lasted)
      }
    }
    #expect(table.snapshot.counters[asked] == 8_000)
    #expect(table.snapshot.histograms[lasted]?.count == 8_000)
    #expect(table.snapshot.histograms[lasted]?.sum == 28_000)
  }

  @Test("writes the page that collectors read")
  func page() throws {
    let table = MetricsTable(bounds: [0.5, 1])
    table.add(3, to: asked)
    table.add(1, to: Metric("asked", .init("source", "a \"b\"\\\n")))
    table.record(0.25, in: lasted)
    table.record(2, in: lasted)
    let bulkhead = Bulkhead("search", policy: try BulkheadPolicy(maxConcurrent: 2))
    let events = PolicyEvents()
    events.watch(bulkhead)
    let permit = try bulkhead.acquire()
    #expect(
      table.openMetrics(gauges: events.gauges) == #"""
        # TYPE asked counter
        asked_total{source="a \"b\"\\\n"} 1
        asked_total{source="weather"} 3
        # TYPE lasted_seconds histogram
        # UNIT lasted_seconds seconds
        lasted_seconds_bucket{source="weather",le="0.5"} 1
        lasted_seconds_bucket{source="weather",le="1.0"} 1
        lasted_seconds_bucket{source="weather",le="+Inf"} 2
        lasted_seconds_count{source="weather"} 2
        lasted_seconds_sum{source="weather"} 2.25
        # TYPE rebound_bulkhead_limit gauge
        rebound_bulkhead_limit{source="search"} 2
        # TYPE rebound_bulkhead_queued gauge
        rebound_bulkhead_queued{source="search"} 0
        # TYPE rebound_bulkhead_running gauge
        rebound_bulkhead_running{source="search"} 1
        # TYPE rebound_metrics_refused counter
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
    let gauge = PolicyGauge(name: "twin", reading: .rateLimiter(queued: 1, share: 1))
    let lines = table.openMetrics(gauges: [gauge, gauge]).split(separator: "\n")
    #expect(lines.contains(#"_2_much_total{the_label="x"} 1"#))
    #expect(lines.filter { $0.hasPrefix("rebound_limiter_queued{") }.count == 1)
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
}
