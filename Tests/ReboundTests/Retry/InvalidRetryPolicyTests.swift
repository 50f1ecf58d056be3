import Rebound
import Testing

@Suite("InvalidRetryPolicy")
struct InvalidRetryPolicyTests {
  @Test(
    "says what is wrong, with which number, and what to give instead",
    arguments: [
      (.negativeRetries(-1), "Retry policy: maxRetries is -1. Give 0 for no retry, or nil to retry for ever."),
      (
        .negativeDelay(.seconds(-1)),
        "Retry policy: a delay is -1.0 seconds. Give zero to retry at once, or a positive duration."
      ),
      (
        .baseNotPositive(.zero),
        "Retry policy: delays that grow cannot start from 0.0 seconds. Give a positive duration, or use .immediate."
      ),
      (
        .multiplierOutOfRange(0.5),
        "Retry policy: the multiplier is 0.5. Give a finite number from 1; 2 doubles each delay."
      ),
      (
        .capNotPositive(.zero),
        "Retry policy: the longest delay is 0.0 seconds. Give a positive duration, or nil for no cap."
      ),
      (
        .capBelowBase(cap: .seconds(1), base: .seconds(2)),
        "Retry policy: the longest delay, 1.0 seconds, is shorter than the first, 2.0 seconds."
          + " Raise one or lower the other."
      ),
      (
        .jitterRatioOutOfRange(2),
        "Retry policy: the jitter's ratio is 2.0. Give a number from 0 to 1; 0.25 is a quarter up or down."
      ),
      (
        .negativeMaxHint(.seconds(-1)),
        "Retry policy: maxHint is -1.0 seconds. Give zero to stop on every hint, or a positive duration."
      ),
      (
        .deadlineNotPositive(.zero),
        "Retry policy: the deadline is 0.0 seconds. Give a positive duration, or nil for none."
      ),
    ] as [(InvalidRetryPolicy, String)]
  )
  func describes(error: InvalidRetryPolicy, text: String) {
    #expect(error.description == text)
  }
}
