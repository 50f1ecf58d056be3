import Foundation
import Testing
import WebServer

@Suite("Request")
struct RequestTests {
  private struct Person: Decodable, Equatable {
    let name: String
    let age: Int?
  }

  private func post(_ body: String, contentType: String? = "application/json") throws -> Request {
    try Request(
      .post,
      "/",
      headers: contentType.map { ["Content-Type": $0] } ?? [:],
      body: Data(body.utf8)
    )
  }

  @Test("a parameter's values are found in order, nil for one without a value")
  func queryValues() throws {
    let request = try Request(.get, "/?a=1&b=2&a&a=")
    #expect(request.queryValues(of: "a") == ["1", nil, ""])
    #expect(request.queryValues(of: "c").isEmpty)
  }

  @Test(
    "JSON is decoded, whatever the content type's case and parameters",
    arguments: ["application/json", "Application/JSON", "application/json; charset=utf-8", "application/json ;x=y"]
  )
  func json(contentType: String) throws {
    let request = try post(#"{"name":"Zoë"}"#, contentType: contentType)
    #expect(try request.decodeJSON(Person.self) == Person(name: "Zoë", age: nil))
  }

  @Test("another content type, or none, is unsupported", arguments: [nil, "text/plain", "application/jsonp", ""])
  func contentType(contentType: String?) throws {
    let request = try post("{}", contentType: contentType)
    let error = #expect(throws: HTTPError.self) { try request.decodeJSON(Person.self) }
    #expect(error?.status == 415)
  }

  @Test(
    "a body that can't be used is a bad request, with a reason that names the place",
    arguments: [
      ("", "The body isn't valid JSON"),
      ("{", "The body isn't valid JSON"),
      ("[]", "The body must be a JSON object"),
      ("{}", "The field name is missing"),
      (#"{"name":null}"#, "The field name must be of type String"),
      (#"{"name":1}"#, "The field name must be of type String"),
      (#"{"name":"a","age":"b"}"#, "The field age must be of type Int"),
    ]
  )
  func malformed(body: String, reason: String) throws {
    let request = try post(body)
    let error = #expect(throws: HTTPError.self) { try request.decodeJSON(Person.self) }
    #expect(error == HTTPError(400, reason))
  }

  @Test("a body that isn't UTF-8 is a bad request")
  func notUTF8() throws {
    let body = Data(#"{"name":""#.utf8) + [0xFF] + Data(#""}"#.utf8)
    let request = try Request(.post, "/", headers: ["Content-Type": "application/json"], body: body)
    let error = #expect(throws: HTTPError.self) { try request.decodeJSON(Person.self) }
    #expect(error?.status == 400)
  }
}
