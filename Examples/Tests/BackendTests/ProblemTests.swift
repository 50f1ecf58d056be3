import Foundation
import Testing
import WebServer

@testable import Backend

@Suite("Problem")
struct ProblemTests {
  @Test("a problem is written as RFC 9457 says, with what a 401 asks for")
  func written() throws {
    let problem = Problem(status: 401, title: "No", detail: "Not you.", challenge: "Bearer")
    let response = try problem.response()
    #expect(response.status == 401)
    #expect(response.headers["Content-Type"] == "application/problem+json")
    #expect(response.headers["WWW-Authenticate"] == "Bearer")
    guard case .data(let body) = response.content else {
      Issue.record("there is no body")
      return
    }
    #expect(String(decoding: body, as: UTF8.self) == #"{"detail":"Not you.","status":401,"title":"No"}"#)
  }
}
