import Expectations
import Rebound
import Testing

@Suite("TokenRefreshEvent")
struct TokenRefreshEventTests {
  @Test(
    "is one line for a log",
    arguments: [
      (TokenRefreshEvent.signedIn(version: 1), "credential 1: signed in"),
      (.refreshBegins(version: 1, .refused), "credential 1: refresh begins (refused)"),
      (.refreshed(version: 2, waiters: 9), "credential 2: refreshed; 9 waiting requests go on"),
      (
        .rejected(version: 2, TestFailure.permanent, waiters: 1),
        "credential 2: session rejected (permanent); 1 waiting requests fail"
      ),
      (
        .failed(version: 2, TestFailure.transient, cooldown: .seconds(1), waiters: 3),
        "credential 2: refresh failed (transient); next in 1.0 seconds; 3 waiting requests"
      ),
      (
        .notStored(version: 2, TestFailure.transient),
        "credential 2: its successor could not be stored (transient)"
      ),
      (.tooManyRefreshes(version: 3, retryAfter: .seconds(4)), "credential 3: too many refreshes; next in 4.0 seconds"),
      (.signedOut(waiters: 2), "signed out; 2 waiting requests fail"),
      (.lateResultDropped, "a refresh ended after its session; its result is dropped"),
    ]
  )
  func lines(event: TokenRefreshEvent, line: String) {
    expectEqual("\(event)", line)
  }
}
