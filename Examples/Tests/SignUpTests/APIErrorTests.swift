import Foundation
import Testing

@testable import SignUp

@Suite("APIError")
struct APIErrorTests {
  @Test(
    "each error has words for people, and others for the list of attempts",
    arguments: [
      (
        APIError.invalidRequest("no host"),
        "This can't be sent to the server. Check what you typed, and try again.", "not sent: no host"
      ),
      (
        .transport(URLError(.notConnectedToInternet)),
        "You are offline. Connect to the internet and try again.", "no answer"
      ),
      (.invalidResponse, "The server gave an answer that isn't one. Please try again later.", "not an answer"),
      (.validation("Username is too short."), "Username is too short.", "refused: Username is too short."),
      (
        .decoding(URLError(.cannotDecodeRawData)),
        "The server's answer has a form that this version does not know. Please update the app to the latest version.",
        "200 with an unreadable answer"
      ),
      (
        .captivePortal,
        "This network wants you to log in first. Open a browser, log in to the network, and try again.",
        "200 with a page of the network's own"
      ),
      (
        .server(status: 500, reason: "The database is corrupted", retryAfter: nil),
        "The database is corrupted", "500 The database is corrupted"
      ),
      (.server(status: 503, reason: nil, retryAfter: .seconds(2)), "Server error", "503 Server error"),
    ]
  )
  func words(error: APIError, words: String, outcome: String) {
    #expect(error.localizedDescription == words)
    #expect(error.outcome == outcome)
  }
}
