import Expectations
import Rebound
import ReboundHTTP
import ReboundTelemetry
import ReboundTesting
import Testing

@Suite("WebAPIClient+metrics")
struct WebAPIClientMetricsTests {
  private func sums(_ table: MetricsTable, _ name: String, by label: String = "outcome") -> [String: Double] {
    table.snapshot.histograms(of: name, by: label).mapValues(\.sum)
  }

  @Test("a call with a retry has the attempts' outcomes, the pause, and its whole time")
  func retried() throws {
    let table = MetricsTable()
    var test = ClientUnderTest(
      [.status(503).after(.milliseconds(250)), .offline, .status(204).after(.milliseconds(500))],
      [Retrying(RetryPolicy(clamping: 2, backoff: .constant(.seconds(1))))]
    )
    test.client = test.client.reporting(to: table)
    _ = try test.run(Anything())
    expectEqual(sums(table, "http_client_attempt_duration_seconds"), ["503": 0.25, "offline": 0, "204": 0.5])
    expectEqual(sums(table, "http_client_call_duration_seconds"), ["success": 2.75])
    expectEqual(sums(table, "http_client_retry_delay_seconds", by: "operation"), ["Anything": 2])
    expectEqual(table.snapshot.counts(of: "http_client_attempts", by: "resend"), ["false": 1, "true": 2])
  }

  @Test("a call whose subscriber wants no more than its response is one call, not a cancelled one besides")
  func first() throws {
    let table = MetricsTable()
    var test = ClientUnderTest([.ok("{}")])
    test.client = test.client.reporting(to: table)
    let recorder = Recorder<Anything.Response, NetworkFailure>(on: test.scheduler)
    test.client.publisher(for: Anything()).first().subscribe(recorder)
    try test.scheduler.run()
    #expect(recorder.isFinished)
    #expect(test.log.lines.filter { $0.hasSuffix("cancelled") }.isEmpty)
    let calls = table.snapshot.histograms(of: "http_client_call_duration_seconds", by: "outcome")
    expectEqual(calls.mapValues(\.count), ["success": 1])
  }

  @Test("calls that fail, are cancelled or get a copy say so")
  func outcomes() throws {
    let table = MetricsTable()
    var test = ClientUnderTest(
      [
        .status(404), .ok("{}", ["Cache-Control": "max-age=60"]), .silence,
      ],
      [Caching(in: HTTPCache())]
    )
    test.client = test.client.reporting(to: table)
    _ = try test.run(Anything(path: "missing"))
    _ = try test.run(Anything(path: "kept"))
    _ = try test.run(Anything(path: "kept"))
    let cancelled = test.send(Anything(path: "slow"))
    cancelled.cancel()
    let calls = table.snapshot.histograms(of: "http_client_call_duration_seconds", by: "outcome")
    expectEqual(calls.mapValues(\.count), ["404": 1, "success": 1, "cache": 1, "cancelled": 1])
    expectEqual(table.snapshot.count(of: "http_client_cache", .init("decision", "hit")), 1)
  }

  @Test("says on the page what each of its names stands for")
  func descriptions() throws {
    let table = MetricsTable()
    var test = ClientUnderTest(
      [.status(503), .ok("{}")],
      [Retrying(RetryPolicy(clamping: 2, backoff: .constant(.seconds(1)))), Caching(in: HTTPCache())]
    )
    test.client = test.client.reporting(to: table)
    _ = try test.run(Anything())
    let lines = table.openMetrics().split(separator: "\n")
    let names = lines.filter { $0.hasPrefix("# TYPE http_client_") }.compactMap {
      $0.split(separator: " ").dropFirst(2).first
    }
    expectEqual(names.count, 5)
    for name in names { expectEqual(lines.count { $0.hasPrefix("# HELP \(name) ") }, 1, "\(name)") }
  }

  @Test("without a sink a client works as before")
  func noSink() throws {
    var test = ClientUnderTest([.status(204)])
    test.client = test.client.reporting(to: nil)
    #expect(try test.run(Anything()).isFinished)
  }
}
