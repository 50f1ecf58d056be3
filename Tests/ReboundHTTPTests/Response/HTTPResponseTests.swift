import Expectations
import Foundation
import Testing

@testable import ReboundHTTP

@Suite("HTTPResponse")
struct HTTPResponseTests {
  @Test(
    "the media type is what stands before the parameters, in lower case",
    arguments: [
      ("Application/JSON; charset=utf-8", "application/json"), (" text/html\t;q=1", "text/html"), (";a", ""),
      ("text/html;\u{301}", "text/html"), (String(repeating: "a", count: 255), String(repeating: "a", count: 255)),
      (String(repeating: "a", count: 256), nil),
    ] as [(String, String?)]
  )
  func mediaType(field: String, type: String?) throws {
    let url = try #require(URL(string: "https://api.example"))
    let head = ResponseHead(status: 200, headers: ["Content-Type": field], url: url)
    expectEqual(HTTPResponse(head: head, receivedAt: HTTPDate(secondsSinceEpoch: 0)).mediaType, type)
  }

  @Test("without a field there is no media type")
  func none() throws {
    let url = try #require(URL(string: "https://api.example"))
    let head = ResponseHead(status: 200, url: url)
    #expect(HTTPResponse(head: head, receivedAt: HTTPDate(secondsSinceEpoch: 0)).mediaType == nil)
  }
}
