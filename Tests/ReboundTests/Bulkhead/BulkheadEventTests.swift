import Expectations
import Foundation
import Rebound
import Testing

@Suite("BulkheadEvent")
struct BulkheadEventTests {
  @Test(
    "is one line for a log",
    arguments: [
      (BulkheadEvent.admitted(running: 3, limit: 10), "admitted; 3 of 10 run"),
      (.queued(2), "queued; 2 wait"),
      (.rejected(queued: 2, limit: 10), "rejected; 10 run and 2 wait"),
      (.timedOut(queued: 1), "rejected after the longest wait; 1 wait"),
      (.abandoned(queued: 1), "cancelled while queued; 1 wait"),
      (.released(running: 2), "released; 2 run"),
      (.limitChanged(7), "limit is now 7"),
    ]
  )
  func lines(event: BulkheadEvent, line: String) {
    expectEqual("\(event)", line)
  }

  @Test("a refusal says what is full and what to do")
  func refusals() {
    let full = BulkheadFull(name: "search", limit: 4, queued: 20)
    expectEqual("\(full)", "search is too busy; try again later. 4 calls may run at the same time, and 20 wait.")
    let late = BulkheadFull(name: "search", limit: 4, queued: 3, waited: .seconds(5))
    #expect("\(late)".hasPrefix("search was too busy for 5.0 seconds; try again later."))
  }

  @Test("a refusal has words for people")
  func words() {
    let full = BulkheadFull(name: "search", limit: 4, queued: 20)
    expectEqual(full.localizedDescription, "Too much is going on at once.")
    expectEqual(full.recoverySuggestion, "Try again in a moment.")
  }
}
