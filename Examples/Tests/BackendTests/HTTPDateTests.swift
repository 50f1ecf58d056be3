import Testing

@testable import Backend

@Suite("HTTPDate")
struct HTTPDateTests {
  @Test(
    "dates as servers must write them are valid",
    arguments: ["Sun, 06 Nov 1994 08:49:37 GMT", "Thu, 29 Feb 2024 23:59:59 GMT"]
  )
  func valid(text: String) {
    #expect(HTTPDate.isValid(text))
  }

  @Test(
    "anything else isn't",
    arguments: [
      "", "5", "Sunday, 06-Nov-94 08:49:37 GMT", "Mon, 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 24:49:37 GMT", "Thu, 30 Feb 2024 00:00:00 GMT",
      "sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
    ]
  )
  func invalid(text: String) {
    #expect(!HTTPDate.isValid(text))
  }
}
