import Foundation
import ReboundHTTP
import Testing

@Suite("HAR of failures")
struct HARFailuresTests {
  @Test(
    "what a system says has no secrets of the request, whatever marks stand around them",
    arguments: [
      ("no answer for s3cret, or k3y", "no answer for …, or …"),
      ("s3cret\u{301} and \u{301}s3cret", "…\u{301} and \u{301}…"),
      ("(k3y\u{FE0F})", "(…\u{FE0F})"), ("joe\u{301}:pass", "…\u{301}:…"), ("s3cre", "s3cre"),
    ]
  )
  func detail(said: String, kept: String) throws {
    let url = try #require(URL(string: "https://joe:pass@a.example/p?q=no&token=s3cret"))
    let message = TransportRequest(url, headers: ["X-API-Key": "k3y"])
    let failure = HAR.Failure(TransportFailure(.connect, detail: said), of: message, .standard)
    #expect(failure.detail.map { Array($0.utf8) } == Array(kept.utf8))
  }
}
