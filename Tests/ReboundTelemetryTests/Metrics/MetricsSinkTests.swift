import Expectations
import Rebound
import ReboundTelemetry
import Testing

@Suite("MetricsSink")
struct MetricsSinkTests {
  /// As a bridge to a system that knows no descriptions.
  private struct Bridge: MetricsSink {
    let measured = Log<String>()

    func add(_ count: Int, to counter: Metric) { measured.write(counter.name) }
    func record(_ value: Double, in histogram: Metric) { measured.write(histogram.name) }
  }

  @Test("a sink need not take descriptions")
  func noDescriptions() {
    let bridge = Bridge()
    let events = PolicyEvents()
    let reporting = events.report(to: bridge)
    events.tell(BulkheadEvent.queued(1), of: "weather")
    expectEqual(bridge.measured.entries, ["rebound_decisions"])
    reporting.cancel()
  }
}
