import Expectations
import Foundation
import Testing

@testable import ReboundHTTP

@Suite("ResponseHead")
struct ResponseHeadTests {
  @Test("what is changed in a copy is not changed in what it was copied from")
  func copies() throws {
    let url = try #require(URL(string: "https://api.example/a"))
    let elsewhere = try #require(URL(string: "https://api.example/b"))
    let head = ResponseHead(status: 200, headers: ["Age": "17"], url: url)
    var copy = head
    copy.status = 404
    copy.headers["Age"] = "18"
    copy.url = elsewhere
    copy.httpVersion = "HTTP/2"
    copy.timings = TransportTimings(firstByte: .seconds(1))
    expectEqual(head, ResponseHead(status: 200, headers: ["Age": "17"], url: url))
    #expect(head.timings == nil)
    expectEqual(copy, ResponseHead(status: 404, headers: ["Age": "18"], url: elsewhere, httpVersion: "HTTP/2"))
    expectEqual(copy.timings, TransportTimings(firstByte: .seconds(1)))
    copy.timings = nil
    #expect(copy.timings == nil)
  }

  @Test("heads that differ only in how long they took are equal")
  func equality() throws {
    let url = try #require(URL(string: "https://api.example/a"))
    let head = ResponseHead(status: 200, url: url)
    var timed = head
    timed.timings = TransportTimings(firstByte: .seconds(1))
    expectEqual(timed, head)
    expectEqual(timed.hashValue, head.hashValue)
  }
}
