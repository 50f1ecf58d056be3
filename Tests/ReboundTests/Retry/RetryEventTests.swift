import Expectations
import Rebound
import Testing

@Suite("RetryEvent")
struct RetryEventTests {
  @Test("reads as one line of a log")
  func describes() {
    let event = RetryEvent(
      attempt: 2,
      error: TestFailure.transient,
      delay: .milliseconds(1_500),
      delaySource: .hint,
      outcome: .retrying
    )
    expectEqual(event.description, "attempt 2 failed (transient); retrying in 1.5 seconds (hint)")
    let last = RetryEvent(attempt: 3, error: TestFailure.transient, outcome: .stopped(.attemptsExhausted))
    expectEqual(last.description, "attempt 3 failed (transient); stopped: attempts exhausted")
  }
}
