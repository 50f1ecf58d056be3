import Expectations
import Rebound
import ReboundTelemetry
import Testing

@Suite("MetricsTable+sums")
struct MetricsTableSumsTests {
  private let table = MetricsTable(bounds: [1, 10])

  private func decide(_ count: Int, _ source: String, _ decision: String) {
    table.add(count, to: Metric("decided", .init("source", source), .init("decision", decision)))
  }

  private func take(_ seconds: Double, _ operation: String, _ outcome: String) {
    table.record(seconds, in: Metric("took_seconds", .init("operation", operation), .init("outcome", outcome)))
  }

  @Test("counters of a name are added up, those with other labels left out")
  func count() {
    decide(1, "weather", "retrying")
    decide(2, "news", "retrying")
    decide(4, "news", "stopped")
    table.add(8, to: Metric("asked", .init("decision", "retrying")))
    let snapshot = table.snapshot
    expectEqual(snapshot.count(of: "decided"), 7)
    expectEqual(snapshot.count(of: "decided", .init("decision", "retrying")), 3)
    expectEqual(snapshot.count(of: "decided", .init("decision", "stopped"), .init("source", "news")), 4)
    expectEqual(snapshot.count(of: "decided", .init("decision", "stopped"), .init("source", "weather")), 0)
    expectEqual(snapshot.count(of: "decided", .init("source", "retrying")), 0)
    expectEqual(snapshot.count(of: "nothing"), 0)
  }

  @Test("a sum stays at the largest number instead of going beyond it")
  func overflow() {
    decide(.max, "weather", "retrying")
    decide(1, "news", "retrying")
    expectEqual(table.snapshot.count(of: "decided"), .max)
    expectEqual(table.snapshot.counts(of: "decided", by: "decision"), ["retrying": .max])
  }

  @Test("counters are told apart by a label, added up over the others")
  func counts() {
    decide(1, "weather", "retrying")
    decide(2, "news", "retrying")
    decide(4, "news", "stopped")
    table.add(8, to: Metric("decided"))
    table.add(16, to: Metric("decided", .init("decision", "")))
    expectEqual(table.snapshot.counts(of: "decided", by: "decision"), ["retrying": 3, "stopped": 4, "": 24])
    #expect(table.snapshot.counts(of: "nothing", by: "decision").isEmpty)
  }

  @Test("histograms of a name are put together, bucket by bucket")
  func histogram() throws {
    for (seconds, operation) in [(0.5, "ask"), (5, "ask"), (0.25, "tell"), (50, "tell")] {
      take(seconds, operation, "200")
    }
    take(2, "ask", "503")
    let all = try #require(table.snapshot.histogram(of: "took_seconds"))
    expectEqual(all.bounds, [1, 10])
    expectEqual(all.counts, [2, 2])
    expectEqual(all.count, 5)
    expectEqual(all.sum, 57.75)
    let some = table.snapshot.histogram(of: "took_seconds", .init("outcome", "200"), .init("operation", "tell"))
    expectEqual(some?.counts, [1, 0])
    expectEqual(some?.count, 2)
    #expect(table.snapshot.histogram(of: "took_seconds", .init("outcome", "404")) == nil)
    #expect(table.snapshot.histogram(of: "decided") == nil)
  }

  @Test("histograms are told apart by a label, put together over the others")
  func histograms() {
    take(0.5, "ask", "200")
    take(2, "tell", "200")
    take(3, "ask", "503")
    let byOutcome = table.snapshot.histograms(of: "took_seconds", by: "outcome")
    expectEqual(byOutcome.mapValues(\.counts), ["200": [1, 1], "503": [0, 1]])
    expectEqual(byOutcome.mapValues(\.sum), ["200": 2.5, "503": 3])
    expectEqual(table.snapshot.histograms(of: "took_seconds", by: "nothing").mapValues(\.count), ["": 3])
  }
}
