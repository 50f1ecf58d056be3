import Combine
import Rebound
import ReboundTelemetry
import Testing

/// The code of Sources/ReboundTelemetry/ReboundTelemetry.docc/ReboundTelemetry.md, as it stands there.
@Suite("The code of ReboundTelemetry's pages")
struct ReboundTelemetryPageTests {
  private struct Outage: Error {}

  private actor Station {
    private var attempts = 0

    func degrees() throws -> Int {
      attempts += 1
      if attempts == 1 { throw Outage() }
      return 21
    }
  }

  @Test("decisions are counted, and stand on a page")
  func metrics() async throws {
    let station = Station()
    var subscriptions: Set<AnyCancellable> = []

    let events = PolicyEvents()
    let metrics = MetricsTable()
    events.report(to: metrics).store(in: &subscriptions)
    let weather = try Pipeline<Int>("weather", events: events) {
      Retry(RetryPolicy(clamping: 2, backoff: .immediate))
    }
    let degrees = try await weather.run { try await station.degrees() }
    #expect(degrees == 21)
    #expect(metrics.snapshot.count(of: "rebound_decisions", .init("decision", "retrying")) == 1)
    #expect(
      metrics.openMetrics(gauges: events.gauges).contains(#"{source="weather",policy="retry",decision="retrying"} 1"#)
    )
  }

  @Test("executions and their attempts are spans")
  func spans() async throws {
    let station = Station()
    let log = Lines()
    let events = PolicyEvents()

    let spans = PolicySpans(of: events) { span in
      log.write("\(span.name) \(span.outcome): \(span.events.map(\.decision.word))")
      for attempt in span.children { log.write("\(attempt.part) \(attempt.outcome)") }
    }
    let measured = try Pipeline<Int>("weather", events: events) {
      Stopwatch()
      Retry(RetryPolicy(clamping: 2, backoff: .immediate))
      Stopwatch("attempt")
    }

    #expect(try await measured.run { try await station.degrees() } == 21)
    #expect(log.all == ["weather succeeded: [\"retrying\"]", "attempt failed", "attempt succeeded"])
    withExtendedLifetime(spans) {}
  }
}
