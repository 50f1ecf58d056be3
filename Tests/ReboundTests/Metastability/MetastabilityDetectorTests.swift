import Combine
import Rebound
import ReboundTesting
import Testing

@Suite("A detector of metastability")
struct MetastabilityDetectorTests {
  private let scheduler = TestScheduler()
  private let detector = MetastabilityDetector("weather")
  private let log = Log<String>()

  /// So many requests with three retries each, of which every so many attempts succeed; none if it is `nil`.
  private func call(_ requests: Int, everyNthSucceeds: Int?) throws {
    detector.onEvent { [log] in log.write($0.word) }
    let pipeline = try Pipeline<Int>("weather", time: scheduler.time) {
      detector.requests
      Retry(RetryPolicy(clamping: 3, backoff: .immediate))
      detector.attempts
    }
    var attempts = 0
    for _ in 0..<requests {
      let call = Deferred {
        attempts += 1
        let succeeds = everyNthSucceeds.map { attempts.isMultiple(of: $0) } ?? false
        return (succeeds ? Result<Int, any Error>.success(1) : .failure(TestFailure.transient)).publisher
      }
      call.protected(by: pipeline).subscribe(Recorder<Int, any Error>(on: scheduler))
      scheduler.advance(by: 0.1)
    }
  }

  @Test func suspectsWhatAnswersSomeAndRefusesMostWhileMostIsMadeAgain() throws {
    try call(20, everyNthSucceeds: 5)
    #expect(log.entries == ["suspected"])
    #expect(detector.snapshot(on: scheduler.time).isSuspected)
  }

  @Test func doesNotTakeAnOutageForIt() throws {
    try call(50, everyNthSucceeds: nil)
    #expect(log.entries.isEmpty)
  }

  @Test func doesNotTakeAFewFailuresForIt() throws {
    try call(50, everyNthSucceeds: 1)
    #expect(log.entries.isEmpty)
  }

  @Test func clearsWhatIsOver() throws {
    try call(20, everyNthSucceeds: 5)
    scheduler.advance(by: 10)
    #expect(!detector.snapshot(on: scheduler.time).isSuspected)
    try call(1, everyNthSucceeds: 1)
    #expect(log.entries.prefix(2) == ["suspected", "cleared"])
  }

  @Test func isAGaugeAndAnEventOfItsPipeline() throws {
    let events = PolicyEvents(time: scheduler.time)
    _ = try Pipeline<Int>("weather", events: events) {
      detector.requests
      Retry(.standard)
      detector.attempts
    }
    #expect(events.gauges.map { "\($0)" } == ["weather: metastability: 0 requests, 0 attempts succeeded, 0 failed"])
  }

  @Test func refusesNumbersThatMakeNoSense() {
    #expect(throws: InvalidPolicy.self) { try MetastabilityDetector.Rule(over: .zero) }
    #expect(throws: InvalidPolicy.self) { try MetastabilityDetector.Rule(over: .seconds(1), failureRatio: 0) }
  }
}
