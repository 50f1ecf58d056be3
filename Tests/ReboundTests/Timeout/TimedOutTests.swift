import Expectations
import Foundation
import Rebound
import Testing

@Suite("TimedOut")
struct TimedOutTests {
  @Test(
    "says what happened, where, and what to do next",
    arguments: [
      (TimedOut(.total, limit: .seconds(30), name: "weather"), "weather was not done within 30.0 seconds"),
      (TimedOut(.attempt, limit: .seconds(10)), "The request did not answer within 10.0 seconds"),
      (TimedOut(.firstValue, limit: .seconds(5)), "The request sent nothing within 5.0 seconds"),
      (
        TimedOut(.betweenValues, limit: .seconds(3), values: 1), "The request fell silent for 3.0 seconds after 1 value"
      ),
    ]
  )
  func description(error: TimedOut, text: String) {
    expectEqual(error.description, text + "; try again, or allow more time.")
  }

  @Test("tells an event in one line")
  func event() {
    let error = TimedOut(.betweenValues, limit: .seconds(3), elapsed: .seconds(8), values: 2, name: "weather")
    expectEqual(
      TimeoutEvent.timedOut(error).description,
      "weather timed out after 8.0 seconds (betweenValues, limit 3.0 seconds, values: 2)"
    )
  }

  @Test("has words for people", arguments: [TimedOut.Kind.total, .attempt, .firstValue])
  func words(kind: TimedOut.Kind) {
    let error = TimedOut(kind, limit: .seconds(3), name: "weather")
    expectEqual(error.localizedDescription, "The service did not answer in time.")
    expectEqual(TimedOut(.betweenValues, limit: .seconds(3)).localizedDescription, "The service stopped sending.")
    expectEqual(error.recoverySuggestion, "Try again.")
  }
}
