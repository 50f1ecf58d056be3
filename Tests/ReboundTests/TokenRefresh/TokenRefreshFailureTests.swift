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
        TokenRefreshFailure(reason: .excessive, retryAfter: .seconds(9)),
        "The session was renewed too often in a short time; try again in 9.0 seconds, or sign in again.", false
      ),
    ]
  )
  func texts(failure: TokenRefreshFailure, text: String, needsSignIn: Bool) {
    #expect("\(failure)" == text)
    #expect(failure.needsSignIn == needsSignIn)
  }
}
