import Dispatch
import Expectations
import Rebound
import ReboundTelemetry
import ReboundTesting
import Testing

@Suite("MetricsTable")
struct MetricsTableTests {
  private let asked = Metric("asked", .init("source", "weather"))
  private let lasted = Metric("lasted_seconds", .init("source", "weather"))

  @Test("counts, apart by name and labels")
  func counters() {
    let table = MetricsTable()
    table.add(1, to: asked)
    table.add(2, to: asked)
    table.add(5, to: Metric("asked", .init("source", "news")))
    expectEqual(table.snapshot.counters, [asked: 3, Metric("asked", .init("source", "news")): 5])
  }

  @Test("puts a measurement into the first bucket whose bound is not below it")
  func buckets() throws {
    let table = MetricsTable(bounds: [5, 1, 1, .infinity, .nan])
    for value in [0, 0.5, 1, 1.1, 5, 5.1, 100] { table.record(value, in: lasted) }
    let histogram = try #require(table.snapshot.histograms[lasted])
    expectEqual(histogram.bounds, [1, 5])
    expectEqual(histogram.counts, [3, 2])
    expectEqual(histogram.count, 7)
    expectEqual(histogram.sum, 112.7)
  }

  @Test("refuses a measurement below zero, unless a bound is below zero, too")
  func negativeMeasurements() {
    for bounds: [Double] in [[], [0, 1]] {
      let table = MetricsTable(bounds: bounds)
      for value in [-0.5, -0.0] { table.record(value, in: lasted) }
      expectEqual(table.snapshot.histograms[lasted]?.count, 1)
      expectEqual(table.snapshot.refused, 1)
    }
    let table = MetricsTable(bounds: [1, -1])
    table.record(-0.5, in: lasted)
    expectEqual(table.snapshot.histograms[lasted]?.counts, [0, 1])
    expectEqual(table.snapshot.refused, 0)
  }

  @Test("has no more series than its limit, and says how much had no place")
  func limit() {
    let table = MetricsTable(seriesLimit: 2)
    for user in 1...10 { table.add(1, to: Metric("asked", .init("user", "\(user)"))) }
    table.record(1, in: lasted)
    table.add(1, to: Metric("asked", .init("user", "1")))
    expectEqual(table.snapshot.counters.count, 2)
    #expect(table.snapshot.histograms.isEmpty)
    expectEqual(table.snapshot.refused, 9)
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
    expectEqual(table.snapshot.refused, 4)
  }

  @Test("stays at the largest number instead of going beyond it")
  func overflow() {
    let table = MetricsTable()
    table.add(.max, to: asked)
    table.add(1, to: asked)
    expectEqual(table.snapshot.counters[asked], .max)
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
    expectEqual(table.snapshot.counters[asked], 8_000)
    expectEqual(table.snapshot.histograms[lasted]?.count, 8_000)
    expectEqual(table.snapshot.histograms[lasted]?.sum, 28_000)
  }

  // MARK: Gauges

  @Test("a gauge is read when somebody wants to know, each time anew, apart by labels")
  func gauges() throws {
    let table = MetricsTable()
    let opened = Log<String>()
    let zoo = Metric("app_open", .init("app", "zoo"))
    try table.watch(zoo) { Double(opened.count) - 0.5 }
    try table.watch(Metric("app_open", .init("app", "news"))) { 7 }
    expectEqual(table.snapshot.gauges, [zoo: -0.5, Metric("app_open", .init("app", "news")): 7])
    opened.write("a page")
    expectEqual(table.snapshot.gauges[zoo], 0.5)
    expectEqual(table.snapshot.refused, 0)
  }

  @Test("a gauge takes the place of the one before, and lets go of what that one held")
  func replacedGauge() throws {
    let table = MetricsTable()
    var held: Held? = Held()
    weak let goneHeld = held
    try table.watch(Metric("app_open")) { [held] in held.map { _ in 1 } }
    held = nil
    #expect(goneHeld != nil)
    try table.watch(Metric("app_open")) { 2 }
    #expect(goneHeld == nil)
    expectEqual(table.snapshot.gauges, [Metric("app_open"): 2])
  }

  @Test("a gauge without a number any more is dropped, and its place is free")
  func droppedGauge() throws {
    let table = MetricsTable(seriesLimit: 1)
    var held: Held? = Held()
    try table.watch(Metric("app_open")) { [weak held] in held.map { _ in 1 } }
    #expect(throws: InvalidMetric.tooManySeries(1)) { try table.watch(Metric("app_closed")) { 1 } }
    held = nil
    #expect(table.snapshot.gauges.isEmpty)
    try table.watch(Metric("app_closed")) { .nan }
    expectEqual(table.snapshot.gauges[Metric("app_closed")]?.isNaN, true)
    expectEqual(table.snapshot.gauges.count, 1)
  }

  @Test("the name of a gauge is free again when the last one that had it is dropped")
  func freedName() throws {
    let table = MetricsTable()
    try table.watch(Metric("app_pages", .init("app", "weather"))) { nil }
    try table.watch(Metric("app_pages", .init("app", "animals"))) { 1 }
    _ = table.snapshot
    table.add(1, to: Metric("app_pages"))
    expectEqual(table.snapshot.refused, 1)

    try table.watch(Metric("app_pages", .init("app", "animals"))) { nil }
    _ = table.snapshot
    table.add(1, to: Metric("app_pages"))
    expectEqual(table.snapshot.count(of: "app_pages"), 1)
  }

  @Test("a gauge that is put in the place of one that just ends stays")
  func gaugeReplacedMeanwhile() throws {
    let table = MetricsTable()
    try table.watch(Metric("app_open")) { [weak table] in
      // Read with the lock open, so the table can be asked for more.
      #expect(throws: Never.self) { try table?.watch(Metric("app_open")) { 3 } }
      return nil
    }
    #expect(table.snapshot.gauges.isEmpty)
    expectEqual(table.snapshot.gauges, [Metric("app_open"): 3])
  }

  @Test("a name is used for one kind alone")
  func kinds() throws {
    let table = MetricsTable()
    table.add(1, to: asked)
    table.record(1, in: lasted)
    #expect(throws: InvalidMetric.otherKind("asked")) { try table.watch(Metric("asked")) { 1 } }
    #expect(throws: InvalidMetric.otherKind("lasted_seconds")) { try table.watch(lasted) { 1 } }
    try table.watch(Metric("app_open")) { 1 }
    table.add(1, to: Metric("app_open", .init("source", "weather")))
    table.record(1, in: Metric("app_open"))
    expectEqual(table.snapshot.refused, 2)
    expectEqual(table.snapshot.gauges, [Metric("app_open"): 1])
  }

  @Test("gauges are series like others, and have the same limit")
  func gaugeLimit() throws {
    let table = MetricsTable(seriesLimit: 2)
    for app in ["zoo", "news"] { try table.watch(Metric("app_open", .init("app", app))) { 1 } }
    try table.watch(Metric("app_open", .init("app", "zoo"))) { 2 }
    #expect(throws: InvalidMetric.tooManySeries(2)) { try table.watch(Metric("app_open", .init("app", "mail"))) { 1 } }
    table.add(1, to: asked)
    #expect(table.snapshot.counters.isEmpty)
    expectEqual(table.snapshot.refused, 1)
  }

  @Test("gauges are watched, read and dropped on several threads")
  func concurrentGauges() {
    let table = MetricsTable()
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for turn in 0..<200 {
        #expect(throws: Never.self) {
          try table.watch(Metric("app_open", .init("thread", "\(thread)"))) { turn % 2 == 0 ? nil : Double(turn) }
        }
        #expect(table.snapshot.gauges.values.allSatisfy { $0.truncatingRemainder(dividingBy: 2) == 1 })
      }
    }
    expectEqual(table.snapshot.gauges.count, 8)
  }

  @Test("no more names are described than there may be series, and what had no place is counted")
  func manyDescriptions() {
    let table = MetricsTable(seriesLimit: 2)
    for name in ["a", "b", "c", "a", "c"] { table.describe(name, as: "Words on \(name).") }
    for name in ["a", "b", "c"] { table.add(1, to: Metric(name)) }
    let lines = table.openMetrics().split(separator: "\n").filter {
      $0.hasPrefix("# HELP ") && !$0.contains("rebound_")
    }
    expectEqual(lines, ["# HELP a Words on a.", "# HELP b Words on b."])
    // Two descriptions, and one counter.
    expectEqual(table.snapshot.refused, 3)
  }
}

private final class Held: Sendable {}
