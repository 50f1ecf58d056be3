import Foundation
import Testing
import WebServer

@testable import Backend

@Suite("FaultRule")
struct FaultRuleTests {
  private func decode(_ json: String) throws(HTTPError) -> FaultRule {
    try Request(.post, "/", headers: ["Content-Type": "application/json"], body: Data(json.utf8))
      .decodeJSON(FaultRule.self)
  }

  @Test("a rule is read with all that it says")
  func full() throws {
    let rule = try decode(
      """
      {"path":"/signUp","fault":"status","status":503,"reason":"Busy","retryAfter":"5",
       "latencyMilliseconds":800,"times":2}
      """
    )
    #expect(
      rule
        == FaultRule(
          path: "/signUp",
          kind: .status,
          status: 503,
          reason: "Busy",
          retryAfter: "5",
          latency: .milliseconds(800),
          times: 2
        )
    )
  }

  @Test("what is left out has its default", arguments: FaultRule.Kind.allCases.filter { $0 != .status })
  func short(kind: FaultRule.Kind) throws {
    let rule = try decode(#"{"path":"*","fault":"\#(kind.rawValue)"}"#)
    #expect(
      rule
        == FaultRule(
          path: "*",
          kind: kind,
          status: nil,
          reason: nil,
          retryAfter: nil,
          latency: .zero,
          times: nil
        )
    )
  }

  @Test("an HTTP-date is as good as seconds")
  func date() throws {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(try decode(#"{"path":"*","fault":"status","status":503,"retryAfter":"\#(date)"}"#).retryAfter == date)
  }

  @Test(
    "a rule that makes no sense is refused with the reason",
    arguments: [
      (#"{"fault":"drop"}"#, "The field path is missing"),
      (#"{"path":"*"}"#, "The field fault is missing"),
      (#"{"path":"signUp","fault":"drop"}"#, #"The path must be "*" or begin with a slash"#),
      (#"{"path":"/control/faults","fault":"drop"}"#, "Control routes never fail on command"),
      (
        #"{"path":"*","fault":"explode"}"#,
        "There is no fault 'explode'; there are: none, status, drop, truncate, garbage, captivePortal"
      ),
      (#"{"path":"*","fault":"status"}"#, "The fault 'status' needs a status from 400 to 599"),
      (#"{"path":"*","fault":"status","status":200}"#, "The fault 'status' needs a status from 400 to 599"),
      (#"{"path":"*","fault":"status","status":"503"}"#, "The field status must be of type Int"),
      (
        #"{"path":"*","fault":"drop","status":503}"#,
        "The fields status, reason and retryAfter are for the fault 'status' only"
      ),
      (
        #"{"path":"*","fault":"status","status":503,"retryAfter":"soon"}"#,
        #"retryAfter must be whole seconds ("5") or an HTTP-date ("Sun, 06 Nov 1994 08:49:37 GMT")"#
      ),
      (
        #"{"path":"*","fault":"status","status":503,"retryAfter":"-1"}"#,
        #"retryAfter must be whole seconds ("5") or an HTTP-date ("Sun, 06 Nov 1994 08:49:37 GMT")"#
      ),
      (
        #"{"path":"*","fault":"none","latencyMilliseconds":-1}"#,
        "latencyMilliseconds must be from 0 to 600000"
      ),
      (
        #"{"path":"*","fault":"none","latencyMilliseconds":600001}"#,
        "latencyMilliseconds must be from 0 to 600000"
      ),
      (
        #"{"path":"*","fault":"drop","times":0}"#,
        "times must be at least 1; leave it out for a fault until it is deleted"
      ),
      (
        #"{"path":"*","fault":"drop","time":1}"#,
        "There is no field 'time'; there are: path, fault, status, reason, retryAfter, latencyMilliseconds, times"
      ),
    ]
  )
  func refused(json: String, reason: String) {
    let error = #expect(throws: HTTPError.self) { try decode(json) }
    #expect(error == HTTPError(400, reason))
  }
}
