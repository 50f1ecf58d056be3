import Expectations
import Rebound
import Testing

@Suite("CircuitBreakerEvent")
struct CircuitBreakerEventTests {
  @Test("is told in one line")
  func descriptions() {
    func text(_ kind: CircuitBreakerEvent.Kind) -> String {
      CircuitBreakerEvent(name: "weather", kind: kind).description
    }
    expectEqual(
      text(.changed(from: .halfOpen, to: .open, openTime: .seconds(60))),
      "weather: halfOpen, now open for 60.0 seconds"
    )
    expectEqual(text(.changed(from: .open, to: .halfOpen, openTime: nil)), "weather: open, now halfOpen")
    let refusal = CircuitOpen(name: "weather", retryAfter: .seconds(4))
    expectEqual(text(.refused(refusal)), "weather: call refused, try again in 4.0 seconds")
    expectEqual(text(.refused(CircuitOpen(name: "weather", retryAfter: nil))), "weather: call refused")
  }

  @Test("shares are of the calls there were, and none without a call")
  func ratios() {
    let metrics = CircuitBreaker.Snapshot(state: .closed, calls: 8, failures: 2, slowCalls: 4)
    expectEqual(metrics.failureRatio, 0.25)
    expectEqual(metrics.slowRatio, 0.5)
    #expect(CircuitBreaker.Snapshot(state: .open).failureRatio == nil)
    #expect(CircuitBreaker.Snapshot(state: .open).slowRatio == nil)
  }
}
