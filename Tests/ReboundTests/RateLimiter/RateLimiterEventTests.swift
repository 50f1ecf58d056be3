import Expectations
import Foundation
import Rebound
import Testing

@Suite("RateLimiterEvent")
struct RateLimiterEventTests {
  @Test(
    "is one line for a log",
    arguments: [
      (RateLimiterEvent.admitted, "admitted"),
      (.queued(wait: .seconds(2), queued: 3), "queued for 2.0 seconds; 3 wait"),
      (.admittedAfterWait(queued: 2), "admitted after a wait; 2 wait"),
      (.rejected(retryAfter: .milliseconds(500)), "rejected; possible in 0.5 seconds"),
      (.abandoned(queued: 1), "cancelled while queued; 1 wait"),
      (.throttled(share: 0.5, pause: nil), "throttled to 0.5 of the full rate"),
      (.throttled(share: 0.5, pause: .seconds(9)), "throttled to 0.5 of the full rate after a pause of 9.0 seconds"),
      (.recovered(share: 0.75), "recovered to 0.75 of the full rate"),
    ]
  )
  func lines(event: RateLimiterEvent, line: String) {
    expectEqual("\(event)", line)
  }

  @Test("a refusal says when to try again")
  func refusal() {
    let error = RateLimited(name: "search", retryAfter: .milliseconds(250), queued: 3)
    expectEqual("\(error)", "search is called too often; try again in 0.25 seconds. 3 calls wait.")
  }

  @Test("a refusal has words for people")
  func words() {
    let error = RateLimited(name: "search", retryAfter: .milliseconds(2_500), queued: 3)
    expectEqual(error.localizedDescription, "That was asked for too often.")
    expectEqual(error.recoverySuggestion, "Try again in 3 seconds.")
  }
}
