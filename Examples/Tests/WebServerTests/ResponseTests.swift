import Foundation
import Testing
import WebServer

@Suite("Response")
struct ResponseTests {
  private func text(_ response: Response) -> String? {
    guard case .data(let data) = response.content else { return nil }
    return String(decoding: data, as: UTF8.self)
  }

  @Test("JSON has its keys in order, and slashes as they are")
  func json() throws {
    let response = try Response.json(["b": "2/3", "a": "1"], status: 201)
    #expect(response.status == 201)
    #expect(response.headers["Content-Type"] == "application/json")
    #expect(text(response) == #"{"a":"1","b":"2/3"}"#)
  }

  @Test("an error is JSON with its reason, and with the failure's headers")
  func error() {
    let response = Response.error(HTTPError(503, "A \"quoted\" reason", headers: ["Retry-After": "5"]))
    #expect(response.status == 503)
    #expect(response.headers["Retry-After"] == "5")
    #expect(text(response) == #"{"error":true,"reason":"A \"quoted\" reason"}"#)
  }

  @Test("a truncated answer promises the whole and holds the first half")
  func truncated() {
    let response = Response(contentType: "text/plain", body: Data("12345".utf8)).truncated()
    guard case .truncated(let data, let length) = response.content else {
      Issue.record("the content is \(response.content)")
      return
    }
    #expect(data == Data("12".utf8))
    #expect(length == 5)
  }

  @Test("what has no whole body can't be truncated")
  func notTruncated() {
    guard case .dropped = Response.dropped.truncated().content else {
      Issue.record("a dropped answer was changed")
      return
    }
  }
}
