import Combine
import Rebound
import ReboundTesting
import Testing

/// The code of the pages in Sources/Rebound/Rebound.docc/Policies on failures and what follows them, as it stands there.
@Suite("The code of the pages on recovery")
struct RecoveryPagesTests {
  private struct Outage: Error, RetryAfterProviding {
    var retryAfter: Duration?
  }

  private let scheduler = TestScheduler()

  @Test("a retry waits as long as the service asks, and no shorter than its back-off")
  func retries() {
    var attempts = 0
    let request = Deferred {
      attempts += 1
      return Result<String, Outage>.Publisher(
        attempts == 1 ? .failure(Outage(retryAfter: .seconds(30))) : .success("sunny")
      )
    }
    var answers: [String] = []
    let time = scheduler.time

    let policy = RetryPolicy<Outage>(clamping: 3, backoff: .exponential(from: .seconds(1), upTo: .seconds(20)))
    let forecast =
      request
      .retry(policy, time: time)  // `time` is left out in the program
      .replaceError(with: "no forecast")
      .sink { answers.append($0) }

    scheduler.advance(by: .milliseconds(29_999))
    #expect(attempts == 1)
    scheduler.advance(by: .milliseconds(1_001))  // at most the back-off's own second later
    #expect(answers == ["sunny"])
    forecast.cancel()
  }

  @Test("a budget grants retries by the number of requests")
  func budgets() async throws {
    try await TimeSource.$current.withValue(scheduler.time) {
      var attempts = 0

      let budget = try RetryBudget.ratio(0.2)
      let policy = RetryPolicy<any Error>(clamping: 2, backoff: .immediate).within(budget)
      for _ in 1...100 {
        _ = try? await policy.run {
          attempts += 1
          throw Outage()
        }
      }
      #expect(attempts == 123)  // and not 300

      #expect(budget.snapshot().granted == 23)
    }
  }

  @Test("a stream that falls silent ends with an error that says so")
  func timeouts() throws {
    let readings = PassthroughSubject<Int, any Error>()
    let time = scheduler.time
    var failure: (any Error)?

    let policy = try TimeoutPolicy(firstValue: .seconds(10), betweenValues: .seconds(2), name: "The sensor")
    let listening =
      readings
      .timeout(policy, time: time)
      .sink {
        if case .failure(let error) = $0 { failure = error }
      } receiveValue: { _ in
      }
    readings.send(1)
    scheduler.advance(by: .seconds(2))
    let end = "The sensor fell silent for 2.0 seconds after 1 value; try again, or allow more time."
    #expect(failure.map { "\($0)" } == end)

    listening.cancel()
  }

  @Test("a hedge begins when the first attempt is late, and its answer is taken")
  func hedges() throws {
    let slow = PassthroughSubject<String, Outage>()
    let quick = Just("sunny").setFailureType(to: Outage.self).eraseToAnyPublisher()
    var attempts = 0
    let request = Deferred {
      attempts += 1
      return attempts == 1 ? slow.eraseToAnyPublisher() : quick
    }
    var answers: [String] = []
    let time = scheduler.time
    let budget = try RetryBudget.ratio(0.2)

    let policy = try HedgePolicy<Outage>(delay: .after(.milliseconds(300))).within(budget)
    let forecast =
      request
      .hedged(policy, time: time)
      .sink(receiveCompletion: { _ in }, receiveValue: { answers.append($0) })
    scheduler.advance(by: .milliseconds(300))
    #expect(attempts == 2)
    #expect(answers == ["sunny"])

    forecast.cancel()
  }

  @Test("a fallback covers what it is for, and the event keeps the failure")
  func fallbacks() async throws {
    enum Failure: Error { case busy, noSuchCity }
    let log = Lines()
    let forecast: @Sendable (String) async throws(Failure) -> String = { city throws(Failure) in
      throw city == "Rome" ? .busy : .noSuchCity
    }

    let policy = FallbackPolicy<Failure>()
      .when { $0 == .busy }
      .onEvent { log.write("\($0)") }
    let answer = try await policy.run { () throws(Failure) in
      try await forecast("Rome")
    } fallback: { _ in
      "no forecast"
    }
    #expect(answer == "no forecast")
    await #expect(throws: Failure.noSuchCity) {
      try await policy.run { () throws(Failure) in
        try await forecast("Atlantis")
      } fallback: { _ in
        "no forecast"
      }
    }
    #expect(log.all == ["falling back from busy", "no fallback for noSuchCity"])
  }

  @Test("the last good value comes with its age and the reason")
  func lastGoodValues() async throws {
    let time = scheduler.time

    let forecasts = try LastGood<String, String>(capacity: 50)
    let fresh = await forecasts.run(for: "Rome", time: time) { "sunny" }
    #expect(fresh.age == nil)
    scheduler.advance(by: .seconds(300))
    let saved = try await forecasts.run(for: "Rome", maxAge: .seconds(3600), time: time) { throw Outage() }
    #expect(saved.value == "sunny")
    #expect(saved.age == .seconds(300))
    #expect(saved.reason is Outage)
  }

  @Test("a poll runs at even intervals for as long as its condition holds")
  func repetition() throws {
    var readings: [Int] = []
    var now = 0
    let status = Deferred {
      now += 1
      return Just(now)
    }
    let time = scheduler.time

    let policy = try RepeatPolicy(every: .seconds(30)).while { runs in runs < 3 }
    let polling =
      status
      .repeat(policy, time: time)
      .sink { readings.append($0) }
    scheduler.advance(by: .seconds(300))
    #expect(readings == [1, 2, 3])

    polling.cancel()
  }

  @Test("seeded chaos fails the same calls again")
  func chaos() {
    let request = Just("sunny").setFailureType(to: Outage.self)
    let time = scheduler.time

    let chaos = Chaos<String, Outage>(random: .seeded(1)).fault(at: 0.2) { Outage() }
    var answers: [String] = []
    for _ in 1...1000 {
      _ =
        request
        .chaos(chaos, time: time)
        .retry(RetryPolicy(clamping: 2, backoff: .immediate), time: time)
        .replaceError(with: "no forecast")
        .sink { answers.append($0) }
    }
    #expect(answers.filter { $0 == "no forecast" }.count == 11)
  }
}
