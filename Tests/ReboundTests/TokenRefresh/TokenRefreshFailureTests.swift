import Expectations
import Foundation
import Rebound
import Testing

@Suite("TokenRefreshFailure")
struct TokenRefreshFailureTests {
  @Test(
    "says what happened and what to do next",
    arguments: [
      (TokenRefreshFailure(reason: .signedOut), "Nobody is signed in; sign in and try again.", true),
      (
        TokenRefreshFailure(reason: .rejected, underlying: TestFailure.permanent),
        "The session is over; sign in again. Cause: permanent.", true
      ),
      (
        TokenRefreshFailure(reason: .failed, underlying: TestFailure.transient, retryAfter: .seconds(2)),
        "The session could not be renewed; try again in 2.0 seconds. Cause: transient.", false
      ),
      (
        TokenRefreshFailure(reason: .rejected, underlying: TokenRefreshFailure(reason: .rejected)),
        "The session is over; sign in again. Cause: The session is over; sign in again.", true
      ),
      (
        TokenRefreshFailure(reason: .tooManyRefreshes, retryAfter: .seconds(9)),
        "The session was renewed too often in a short time; try again in 9.0 seconds, or sign in again.", false
      ),
    ]
  )
  func texts(failure: TokenRefreshFailure, text: String, needsSignIn: Bool) {
    expectEqual("\(failure)", text)
    expectEqual(failure.needsSignIn, needsSignIn)
  }

  @Test(
    "has words for people for each reason",
    arguments: [
      (.signedOut, "You are not signed in.", "Sign in, and try again."),
      (.rejected, "Your session is over.", "Sign in again."),
      (.denied, "The service grants no access.", "Check the key."),
      (.failed, "Your session could not be renewed.", "Try again in 2 seconds."),
      (.tooManyRefreshes, "Your session was renewed too often in a short time.", "Try again in 2 seconds."),
    ] as [(TokenRefreshFailure.Reason, String, String)]
  )
  func words(reason: TokenRefreshFailure.Reason, description: String, suggestion: String) {
    let cause = TimedOut(.total, limit: .seconds(1))
    let failure = TokenRefreshFailure(reason: reason, underlying: cause, retryAfter: .seconds(2))
    expectEqual(failure.localizedDescription, description)
    expectEqual(failure.failureReason, "The service did not answer in time.")
    expectEqual(failure.recoverySuggestion, suggestion)
  }
}
