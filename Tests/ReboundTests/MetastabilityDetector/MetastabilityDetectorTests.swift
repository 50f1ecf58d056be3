import Combine
import Expectations
import Foundation
import Rebound
import ReboundTesting
import Testing

@Suite("A metastability detector")
struct MetastabilityDetectorTests {
  private let scheduler = TestScheduler()

  /// Twenty requests a second for so long, each with so many attempts that fail, and then, of so many requests, one that
  /// succeeds.
  private func play(
    _ detector: MetastabilityDetector,
    seconds: Int,
    failures: Int,
    answeredOneIn answered: Int? = 1,
    perSecond: Int = 20,
    events: PolicyEvents? = nil
  ) throws -> Int {
    var made = 0
    let retry = try RetryPolicy<any Error>(maxRetries: failures, backoff: .immediate)
    let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) {
      detector.requests
      Retry(retry)
      detector
    }
    for request in 0..<seconds * perSecond {
      var attempts = 0
      let isAnswered = answered.map { request % $0 == 0 } ?? false
      let call = Deferred { () -> AnyPublisher<Int, any Error> in
        made += 1
        attempts += 1
        return isAnswered && attempts > failures
          ? Just(1).setFailureType(to: (any Error).self).eraseToAnyPublisher()
          : Fail(error: TestFailure.transient).eraseToAnyPublisher()
      }
      call.protected(by: pipeline).subscribe(Recorder<Int, any Error>())
      scheduler.advance(by: .milliseconds(1_000 / perSecond))
    }
    return made
  }

  private func isSuspected(_ detector: MetastabilityDetector) -> Bool {
    detector.snapshot(on: scheduler.time).isSuspected
  }

  @Test func raisesItsAlarmWithinFiveSecondsWhenRetriesKeepAServiceDownThatAnswersAFew() throws {
    let detector = MetastabilityDetector("weather")
    _ = try play(detector, seconds: 20, failures: 0)
    #expect(!isSuspected(detector))
    _ = try play(detector, seconds: 5, failures: 4, answeredOneIn: 5)
    #expect(isSuspected(detector))
  }

  @Test func raisesNoneInAnOutageInWhichNobodyIsAnswered() throws {
    let detector = MetastabilityDetector("weather")
    _ = try play(detector, seconds: 20, failures: 0)
    _ = try play(detector, seconds: 30, failures: 4, answeredOneIn: nil)
    #expect(!isSuspected(detector))
  }

  @Test func raisesNoneWithoutRetriesHoweverFewAreAnswered() throws {
    let detector = MetastabilityDetector("weather")
    _ = try play(detector, seconds: 20, failures: 0)
    _ = try play(detector, seconds: 30, failures: 0, answeredOneIn: 5)
    #expect(!isSuspected(detector))
  }

  @Test func raisesNoneWhenMoreIsAskedForThanTheServiceHasBorne() throws {
    let detector = MetastabilityDetector("weather")
    _ = try play(detector, seconds: 20, failures: 0)
    _ = try play(detector, seconds: 30, failures: 4, answeredOneIn: 5, perSecond: 60)
    #expect(!isSuspected(detector))
  }

  @Test func raisesNoneWhileRetriesSucceed() throws {
    let detector = MetastabilityDetector("weather")
    _ = try play(detector, seconds: 20, failures: 0)
    _ = try play(detector, seconds: 30, failures: 2)
    #expect(!isSuspected(detector))
  }

  @Test func endsItsAlarmWhenTheServiceAnswersAgain() throws {
    let detector = MetastabilityDetector("weather")
    _ = try play(detector, seconds: 20, failures: 0)
    _ = try play(detector, seconds: 5, failures: 4, answeredOneIn: 5)
    _ = try play(detector, seconds: 4, failures: 0)
    #expect(!isSuspected(detector))
  }

  @Test func letsNoMoreAttemptsThroughThanRequestsWhileItRefusesRetries() throws {
    let detector = MetastabilityDetector("weather", policy: try MetastabilityPolicy(refusesRetries: true))
    _ = try play(detector, seconds: 20, failures: 0)
    _ = try play(detector, seconds: 5, failures: 4, answeredOneIn: 5)
    #expect(isSuspected(detector))
    // The first attempt of each is made, so what succeeds at the fifth does not.
    try expectEqual(play(detector, seconds: 1, failures: 4, answeredOneIn: 5), 20)
  }

  @Test("counts a cancelled attempt as answered after a value, and not before", arguments: [true, false])
  func cancelled(hasValue: Bool) {
    let detector = MetastabilityDetector("weather")
    let upstream = TestPublisher<Int, any Error>()
    let recorder = Recorder<Int, any Error>()
    upstream.protected(by: detector, time: scheduler.time).subscribe(recorder)
    if hasValue { upstream.send(1) }
    recorder.cancel()
    let answers = hasValue ? 1 : 0
    expectEqual(
      detector.snapshot(on: scheduler.time),
      .init(requests: 0, attempts: 1, answers: answers, isSuspected: false)
    )
  }

  @Test func tellsItsAlarmAndShowsItsGauge() throws {
    let events = PolicyEvents(time: scheduler.time)
    let log = Log<String>()
    let subscription = events.sink { event in
      if event.decision is MetastabilityEvent { log.write("\(event.decision)") }
    }
    let detector = MetastabilityDetector("weather")
    _ = try play(detector, seconds: 20, failures: 0, events: events)
    _ = try play(detector, seconds: 10, failures: 4, answeredOneIn: 5, events: events)
    _ = try play(detector, seconds: 10, failures: 0, events: events)
    expectEqual(log.entries.count, 2)
    expectEqual(log.entries.first?.hasPrefix("retries seem to keep the service down: "), true)
    expectEqual(log.entries.last, "retries no longer seem to keep the service down")
    let gauge = try #require(events.gauges.first { $0.kind == .metastabilityDetector })
    expectEqual(
      gauge.reading.measurements.map(\.name),
      ["rebound_metastability_suspected", "rebound_attempts_per_request"]
    )
    withExtendedLifetime((subscription, detector)) {}
  }

  @Test func refusesNumbersThatMakeNoSense() {
    #expect(throws: InvalidPolicy.self) { try MetastabilityPolicy(attemptsPerRequest: 1) }
    #expect(throws: InvalidPolicy.self) { try MetastabilityPolicy(answeredShare: 1) }
    #expect(throws: InvalidPolicy.self) { try MetastabilityPolicy(window: .zero) }
    #expect(throws: InvalidPolicy.self) { try MetastabilityPolicy(hold: .seconds(-1)) }
  }

  @Test("its refusal has words for people")
  func words() {
    let refusal = RetriesSuspended(name: "weather")
    expectEqual(refusal.localizedDescription, "The service has too much to do.")
    expectEqual(refusal.recoverySuggestion, "Try again later.")
  }
}
