import Combine
import Expectations
import Foundation
import Rebound
import ReboundTesting
import Testing

@Suite("An adaptive throttle")
struct AdaptiveThrottleTests {
  private let scheduler = TestScheduler()

  private func throttle(_ draws: RandomSource = .seeded(1), factor: Double = 2) throws -> AdaptiveThrottle {
    AdaptiveThrottle(
      "weather",
      policy: try AdaptiveThrottlePolicy(factor: factor, window: .seconds(10)),
      random: draws,
      overloadedWhen: { $0 as? TestFailure == .transient }
    )
  }

  /// Which of so many calls were made that end so.
  private func made(_ count: Int, _ throttle: AdaptiveThrottle, _ end: Result<Int, any Error>) -> Int {
    var made = 0
    for _ in 0..<count {
      let call = Deferred {
        made += 1
        return end.publisher
      }
      call.protected(by: throttle, time: scheduler.time).subscribe(Recorder<Int, any Error>())
    }
    return made
  }

  @Test func letsEverythingThroughWhileTheServiceAccepts() throws {
    let throttle = try throttle(.fixed(0))
    expectEqual(made(100, throttle, .success(1)), 100)
    expectEqual(throttle.snapshot(on: scheduler.time), .init(requests: 100, accepts: 100, refusalProbability: 0))
  }

  @Test("refuses more and more when the service accepts nothing, up to nine of ten")
  func acceptsNothing() throws {
    let throttle = try throttle()
    _ = made(1_000, throttle, .failure(TestFailure.transient))
    expectEqual(throttle.snapshot(on: scheduler.time).refusalProbability, 0.9)
    #expect((80...120).contains(made(1_000, throttle, .failure(TestFailure.transient))))
  }

  @Test("counts no call that is under way: many at once, of a service that is well, are all made")
  func inFlight() throws {
    let (throttle, scheduler) = (try throttle(.fixed(0)), scheduler)
    let upstreams = (0..<20).map { _ in TestPublisher<Int, any Error>() }
    for upstream in upstreams {
      upstream.protected(by: throttle, time: scheduler.time).subscribe(Recorder<Int, any Error>())
    }
    expectEqual(upstreams.map(\.subscriptionCount), Array(repeating: 1, count: 20))
    expectEqual(throttle.snapshot(on: scheduler.time), .init(requests: 0, accepts: 0, refusalProbability: 0))
    for upstream in upstreams { upstream.send(completion: .finished) }
    expectEqual(throttle.snapshot(on: scheduler.time), .init(requests: 20, accepts: 20, refusalProbability: 0))
  }

  @Test("counts a cancelled call as accepted after a value, and not at all before", arguments: [true, false])
  func cancelled(hasValue: Bool) throws {
    let throttle = try throttle(.fixed(0))
    let upstream = TestPublisher<Int, any Error>()
    for _ in 0..<100 {
      let recorder = Recorder<Int, any Error>()
      upstream.protected(by: throttle, time: scheduler.time).subscribe(recorder)
      if hasValue { upstream.send(1) }
      recorder.cancel()
    }
    expectEqual(upstream.subscriptionCount, 100)
    let count = hasValue ? 100 : 0
    expectEqual(throttle.snapshot(on: scheduler.time), .init(requests: count, accepts: count, refusalProbability: 0))
  }

  @Test func refusesWithTheProbabilityOfItsFormula() throws {
    let throttle = try throttle(.fixed(0.4))
    _ = made(10, throttle, .success(1))
    // (n − 20) / (n + 1) passes 0.4 between n = 34 and n = 35: 24 more calls are counted before.
    expectEqual(made(24, throttle, .failure(TestFailure.transient)), 24)
    expectEqual(made(1, throttle, .failure(TestFailure.transient)), 1)
    expectEqual(made(10, throttle, .failure(TestFailure.transient)), 0)
  }

  @Test func countsOtherFailuresAsAccepted() throws {
    let throttle = try throttle(.fixed(0))
    expectEqual(made(100, throttle, .failure(TestFailure.permanent)), 100)
  }

  @Test func forgetsWhatIsOlderThanItsWindow() throws {
    let throttle = try throttle(.fixed(0.8))
    _ = made(100, throttle, .failure(TestFailure.transient))
    expectEqual(made(1, throttle, .success(1)), 0)
    scheduler.advance(by: 11)
    expectEqual(made(1, throttle, .success(1)), 1)
    expectEqual(throttle.snapshot(on: scheduler.time).requests, 1)
  }

  @Test func movesOnATenthOfItsWindowAtATime() throws {
    let throttle = try throttle(.fixed(0))
    for _ in 0..<20 {
      _ = made(1, throttle, .success(1))
      scheduler.advance(by: 1)
    }
    #expect((9...10).contains(throttle.snapshot(on: scheduler.time).requests))
  }

  @Test func tellsItsRefusalsAndShowsItsGauge() throws {
    let events = PolicyEvents(time: scheduler.time)
    let log = Log<String>()
    let subscription = events.sink { log.write("\($0)") }
    let throttle = try throttle(.fixed(0))
    let pipeline = try Pipeline<Int>("weather", events: events, time: scheduler.time) { throttle }
    let call = Fail<Int, any Error>(error: TestFailure.transient)
    call.protected(by: pipeline).subscribe(Recorder<Int, any Error>())
    call.protected(by: pipeline).subscribe(Recorder<Int, any Error>())
    expectEqual(log.entries, ["weather: adaptive throttle: refused with probability 0.5"])
    withExtendedLifetime(subscription) {}
    expectEqual(events.gauges.count, 1)
  }

  @Test func isTheSameForAsynchronousFunctions() async throws {
    let throttle = try throttle(.fixed(0))
    await #expect(throws: TestFailure.transient) {
      try await throttle.run(time: scheduler.time) { () async throws -> Int in throw TestFailure.transient }
    }
    await #expect(throws: Throttled(name: "weather", refusalProbability: 0.5)) {
      try await throttle.run(time: scheduler.time) { () async throws -> Int in 1 }
    }
  }

  @Test func refusesNumbersThatMakeNoSense() {
    #expect(throws: InvalidPolicy.self) { try AdaptiveThrottlePolicy(factor: 0.5) }
    #expect(throws: InvalidPolicy.self) { try AdaptiveThrottlePolicy(window: .zero) }
  }

  @Test("its refusal has words for people")
  func words() {
    let refusal = Throttled(name: "weather", refusalProbability: 0.5)
    expectEqual(refusal.localizedDescription, "The service has too much to do.")
    expectEqual(refusal.recoverySuggestion, "Try again in a moment.")
  }
}
