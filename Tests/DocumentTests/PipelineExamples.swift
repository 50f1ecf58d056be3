import Combine
import Rebound
import ReboundTesting
import Testing

/// The code of Sources/Rebound/Rebound.docc/Composing-policies.md, as it stands there.
@Suite("The code of the article on composing policies")
struct PipelineExamples {
  private enum Failure: Error {
    case busy
  }

  enum ThrottleEvent: PolicyDecision {
    case slowedDown(to: Int)

    static let kind = PolicyKind("throttle")
    var severity: PolicyEvent.Severity { .warning }
    var word: String { "slowed_down" }
    var description: String {
      switch self {
      case .slowedDown(let rate): "down to \(rate) a second"
      }
    }
  }

  @Test("tells a decision of one's own")
  func own() {
    let events = PolicyEvents()
    var log: [String] = []
    var rates: [Int] = []
    let listening = events.sink { event in
      log.append("\(event)")
      if case .slowedDown(let rate) = event.decision as? ThrottleEvent { rates.append(rate) }
    }
    events.tell(ThrottleEvent.slowedDown(to: 5), of: "weather")
    #expect(log == ["weather: throttle: down to 5 a second"])
    #expect(rates == [5])
    listening.cancel()
  }

  @Test("falls back after three attempts, and tells each decision")
  func composing() throws {
    var subscriptions: Set<AnyCancellable> = []
    let request = Fail<String, Failure>(error: .busy)

    let scheduler = TestScheduler()
    let events = PolicyEvents()
    let breaker = CircuitBreaker("api", policy: try CircuitBreakerPolicy(consecutiveFailures: 3))
    let budget = try RetryBudget.ratio(0.2)

    let weather = try Pipeline<String>("weather", events: events, time: scheduler.time) {  // left out in the program
      Fallback(to: "no forecast")
      Timeout(total: .seconds(10))
      Retry(.init(clamping: 2, backoff: .constant(.seconds(1))), budget: budget)
      breaker
      Timeout(attempt: .seconds(3))
    }

    var log: [String] = []
    events.sink { log.append("\($0)") }.store(in: &subscriptions)
    var forecasts: [String] = []
    request
      .protected(by: weather)
      .sink(receiveCompletion: { _ in }, receiveValue: { forecasts.append($0) })
      .store(in: &subscriptions)
    scheduler.advance(by: .seconds(10))

    #expect(forecasts == ["no forecast"])
    #expect(
      log == [
        "weather: retry: attempt 1 failed (busy); retrying in 1.0 seconds (computed)",
        "weather: retry: attempt 2 failed (busy); retrying in 1.0 seconds (computed)",
        "api: circuit breaker: closed, now open for 30.0 seconds",
        "weather: retry: attempt 3 failed (busy); stopped: attempts exhausted",
        "weather: fallback: falling back from busy",
      ]
    )
  }
}
