import Expectations
import Foundation
import ReboundHTTP
import Testing

@Suite("ErrorParser and ProblemDetails")
struct ErrorParserTests {
  static func answer(_ body: String, type: String? = "application/json", status: Int = 400) -> HTTPResponse {
    let headers: HTTPHeaders = type.map { ["Content-Type": $0] } ?? [:]
    return HTTPResponse(
      head: ResponseHead(status: status, headers: headers, url: .service.appendingPathComponent("orders/7")),
      body: Data(body.utf8),
      receivedAt: HTTPDate(secondsSinceEpoch: 0)
    )
  }

  @Test(
    "the usual members are read, in this order",
    arguments: [
      (#"{"message":"a","reason":"b"}"#, "a"),
      (#"{"error":true,"reason":"Username is too short."}"#, "Username is too short."),
      (#"{"error":"bad"}"#, "bad"), (#"{"error":{"code":7,"message":"inner"}}"#, "inner"),
      (#"{"message":"","detail":"d"}"#, "d"), (#"{"error":"invalid_grant","error_description":"x"}"#, "invalid_grant"),
      (#"{"message":7}"#, nil), (#"{}"#, nil), (#"[]"#, nil), (#""text""#, nil), ("", nil), ("<html>", nil), ("{", nil),
    ] as [(String, String?)]
  )
  func usualMembers(body: String, text: String?) {
    expectEqual(ErrorParser.standard.parse(Self.answer(body))?.text, text)
  }

  @Test("all members of problem details are read, others kept, relative addresses resolved")
  func problemDetails() throws {
    let body = #"""
      {"type":"/problems/out-of-credit","title":"Out of credit","status":403,"detail":"It costs 50.",
       "instance":"msgs/5","balance":30,"accounts":["/a/1"]}
      """#
    let problem = try #require(
      ErrorParser.standard.parse(Self.answer(body, type: "application/problem+json; charset=utf-8"))?.problem
    )
    #expect(problem.type == "https://api.example/problems/out-of-credit")
    expectEqual(problem.title, "Out of credit")
    expectEqual(problem.status, 403)
    expectEqual(problem.detail, "It costs 50.")
    #expect(problem.instance == "https://api.example/v1/orders/msgs/5")
    expectEqual(problem.extensions, ["balance": .number(30), "accounts": .array([.string("/a/1")])])
  }

  @Test("without a type it is about:blank")
  func problemDefaults() {
    let problem = ProblemDetails(members: [:])
    expectEqual(problem.type, "about:blank")
    #expect(problem.title == nil && problem.status == nil && problem.detail == nil && problem.instance == nil)
    expectEqual(ProblemDetails(members: ["type": .string("")]).type, "about:blank")
  }

  @Test("members of the wrong type are passed over")
  func problemBadMembers() {
    let problem = ProblemDetails(members: [
      "type": .number(1), "title": .array([]), "status": .string("403"), "detail": .null, "instance": .bool(true),
    ])
    expectEqual(problem, ProblemDetails(members: [:]))
    #expect(ProblemDetails(members: ["status": .number(403.5)]).status == nil)
  }

  @Test("a body that claims to be problem details and is not says nothing", arguments: ["[]", "nonsense", "", "3"])
  func problemNotAnObject(body: String) {
    #expect(ErrorParser.standard.parse(Self.answer(body, type: "application/problem+json")) == nil)
  }

  @Test("its text for people is the detail, or else the title")
  func problemText() {
    let type = "application/problem+json"
    expectEqual(ErrorParser.standard.parse(Self.answer(#"{"title":"t","detail":"d"}"#, type: type))?.text, "d")
    expectEqual(ErrorParser.standard.parse(Self.answer(#"{"title":"t"}"#, type: type))?.text, "t")
    #expect(ErrorParser.standard.parse(Self.answer("{}", type: type))?.text == nil)
  }

  @Test(
    "errors of fields are read from the usual forms",
    arguments: [
      #"{"errors":{"name":["too short","taken"],"age":"missing","x":7}}"#,
      ##"""
      {"errors":[{"name":"name","detail":"too short"},{"field":"name","message":"taken"},
      {"pointer":"#/age","detail":"missing"},{"a":1}]}
      """##,
    ]
  )
  func fieldErrors(body: String) throws {
    let problem = ErrorParser.standard.parse(Self.answer(body, type: "application/problem+json"))?.problem
    expectEqual(problem?.fieldErrors, ["name": ["too short", "taken"], "age": ["missing"]])
  }

  @Test("an error type of the program is decoded, and anything else read as usual")
  func ownType() throws {
    struct SignUpError: Error, Decodable, Equatable, LocalizedError {
      let code: Int
      var errorDescription: String? { "code \(code)" }
    }
    let parser = ErrorParser.json(SignUpError.self)
    let message = try #require(parser.parse(Self.answer(#"{"code":7,"message":"m"}"#)))
    expectEqual(message.error as? SignUpError, SignUpError(code: 7))
    expectEqual(message.text, "code 7")
    let other = try #require(parser.parse(Self.answer(#"{"message":"m"}"#)))
    #expect(other.error == nil)
    expectEqual(other.text, "m")
  }
}
