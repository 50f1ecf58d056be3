import Foundation
import ReboundHTTP
import Testing

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
}
