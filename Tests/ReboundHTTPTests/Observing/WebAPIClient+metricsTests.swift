import Rebound
import ReboundHTTP
import ReboundTesting
import Testing

@Suite("V2 WebAPIClient+metrics")
struct WebAPIClientMetricsTests {
  private func sums(_ table: MetricsTable, _ name: String) -> [String: Double] {
    let histograms = table.snapshot.histograms.filter { $0.key.name == name }
    return Dictionary(uniqueKeysWithValues: histograms.map { ($0.key.labels.last?.value ?? "", $0.value.sum) })
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
    #expect(sums(table, "http_client_attempt_duration_seconds") == ["503": 0.25, "offline": 0, "204": 0.5])
    #expect(sums(table, "http_client_call_duration_seconds") == ["success": 2.75])
    #expect(sums(table, "http_client_retry_delay_seconds") == ["Anything": 2])
    let attempts = table.snapshot.counters.filter { $0.key.name == "http_client_attempts" }
    let resends = Dictionary(uniqueKeysWithValues: attempts.map { ($0.key.labels.last?.value, $0.value) })
    #expect(resends == ["false": 1, "true": 2])
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
    let calls = table.snapshot.histograms.filter { $0.key.name == "http_client_call_duration_seconds" }
    #expect(calls.map { $0.key.labels.last?.value } == ["success"])
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
    let calls = table.snapshot.histograms.filter { $0.key.name == "http_client_call_duration_seconds" }
    let counts = Dictionary(uniqueKeysWithValues: calls.map { ($0.key.labels.last?.value, $0.value.count) })
    #expect(counts == ["404": 1, "success": 1, "cache": 1, "cancelled": 1])
    #expect(table.snapshot.counters.contains { $0.key.labels.last?.value == "hit" && $0.value == 1 })
  }
}
