import ReboundHTTP
import Testing

/// The code of Sources/ReboundHTTP/ReboundHTTP.docc, as it stands there.
@Suite("The code of ReboundHTTP's landing page")
struct ReboundHTTPPageTests {
  @Test("a date is measured against the server's clock")
  func landingPage() {
    let delay = RetryAfter.delay(
      fields: ["Sun, 06 Nov 1994 08:50:07 GMT"],
      date: "Sun, 06 Nov 1994 08:49:37 GMT",
      receivedAt: HTTPDate(secondsSinceEpoch: 0)
    )
    #expect(delay == .seconds(30))
  }
}
