import Foundation
import Testing

@testable import ReboundHTTP

@Suite("ResponseHead+description")
struct ResponseHeadDescriptionTests {
  @Test("printing or dumping a head shows what has come, and no secret")
  func secrets() throws {
    let url = try #require(URL(string: "https://api.example/a?token=s3cret&q=Rome"))
    let headers: HTTPHeaders = ["Set-Cookie": "s3cret", "Location": "/?code=s3cret", "Age": "17"]
    let head = ResponseHead(status: 302, headers: headers, url: url, httpVersion: "HTTP/2")
    #expect("\(head)" == "302 from https://api.example/a?token=…&q=Rome")
    var dumped = ""
    dump(head, to: &dumped)
    for shown in ["302", "17", "HTTP/2"] { #expect(dumped.contains(shown), "\(shown)") }
    #expect(!"\(dumped) \([head]) \(String(reflecting: head))".contains("s3cret"))
  }

  @Test("dumping an answer behind a redirect, or what is asked about a copy of it, shows no signed address")
  func redirected() throws {
    let url = try #require(URL(string: "https://s3.example/x?X-Amz-Signature=s3cret"))
    let receivedAt = HTTPDate(secondsSinceEpoch: 0)
    let redirect = HTTPResponse(head: ResponseHead(status: 302, url: url), receivedAt: receivedAt)
    var response = HTTPResponse(head: ResponseHead(status: 200, url: url), receivedAt: receivedAt)
    response.head.redirectChain = RedirectChain(
      redirect,
      to: TransportRequest(url),
      next: TransportRequest(url),
      after: nil
    )
    let question = CopyQuestion(url: url, etag: nil, lastModified: nil)
    var dumped = ""
    dump(response, to: &dumped)
    dump(question, to: &dumped)
    #expect(dumped.contains("s3.example"))
    #expect(!"\(dumped) \(response) \(question)".contains("s3cret"))
  }
}
