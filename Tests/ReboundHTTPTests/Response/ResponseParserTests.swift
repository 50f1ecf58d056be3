import Expectations
import Foundation
import ReboundHTTP
import Testing

@Suite("ResponseParser")
struct ResponseParserTests {
  private static func name(_ length: Int, _ mark: String = "\u{301}") -> String {
    String(repeating: "n", count: length - mark.utf8.count) + mark
  }

  private static func answer(_ body: Data) -> HTTPResponse {
    HTTPResponse(head: ResponseHead(status: 200, url: .service), body: body, receivedAt: HTTPDate(secondsSinceEpoch: 0))
  }

  private static func parsed(_ text: String, as encoding: String.Encoding = .utf8) throws -> JSONValue {
    try ResponseParser<JSONValue>.json().parse(answer(#require(text.data(using: encoding))))
  }

  @Test(
    "JSON is refused if a member's name is longer than 1,024 bytes and not plain ASCII",
    arguments: [
      #"{"\#(name(1_025))":1}"#, #"[{"a":"b"},{"\#(name(1_025, "é"))" \#n : 1}]"#,
      #"{"a":"\"","b\\":{"\#(name(1_025, #"\u0301"#))":1}}"#, #"{"\#(name(1_026, #"\""#))":1}"#,
    ]
  )
  func longNames(text: String) throws {
    let error = #expect(throws: DecodingError.self) { try Self.parsed(text) }
    guard case .dataCorrupted(let context) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(context.debugDescription.contains("1024 bytes"))
    let answer = Self.answer(Data(text.utf8))
    #expect(throws: DecodingError.self) { try ResponseParser<JSONValue?>.jsonIfAny().parse(answer) }
    #expect(throws: DecodingError.self) { try ResponseParser<Int>.json(JSONValue.self) { _ in 1 }.parse(answer) }
  }

  @Test(
    "JSON is refused for its long names whatever its encoding",
    arguments: [.utf8, .utf16, .utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian]
      as [String.Encoding]
  )
  func encodings(encoding: String.Encoding) throws {
    try expectEqual(Self.parsed(#"{"é":1}"#, as: encoding), .object(["é": .number(1)]))
    #expect(throws: DecodingError.self) { try Self.parsed(#"{"\#(Self.name(1_025))":1}"#, as: encoding) }
  }

  @Test("JSON may have long names of plain ASCII, others up to 1,024 bytes, and texts of any length")
  func taken() throws {
    let long = Self.name(5_000, "n")
    try expectEqual(Self.parsed(#"{"\#(long)":"é"}"#), .object([long: .string("é")]))
    let full = Self.name(1_024)
    try expectEqual(Self.parsed(#"{"\#(full)":1}"#), .object([full: .number(1)]))
    let texts = [Self.name(5_000), Self.name(1_025)]
    try expectEqual(
      Self.parsed(#"{"a":["\#(texts[0])","\#(texts[1])"]}"#),
      .object(["a": .array(texts.map { .string($0) })])
    )
  }

  @Test("what begins like a long name and never ends is no JSON", arguments: ["", "\\", "\"", "\":", "\\\""])
  func cutOff(end: String) {
    #expect(throws: DecodingError.self) { try Self.parsed("{\"" + Self.name(1_025) + end) }
  }

  @Test("JSON5, as a decoder allows it, is not looked through")
  func json5() throws {
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    let name = Self.name(1_025)
    let answer = Self.answer(Data(#"{"\#(name)":1}"#.utf8))
    try expectEqual(ResponseParser<JSONValue>.json(decoder: decoder).parse(answer), .object([name: .number(1)]))
  }

  @Test("an error with such a name says nothing, and is no error of the program")
  func errors() throws {
    struct Refusal: Error, Decodable { let message: String }
    let body = #"{"\#(Self.name(1_025))":1,"message":"no"}"#
    for type in ["application/json", "application/problem+json"] {
      let answer = ErrorParserTests.answer(body, type: type)
      #expect(ErrorParser.standard.parse(answer) == nil)
      #expect(ErrorParser.json(Refusal.self).parse(answer) == nil)
    }
  }

  @Test("a failure to decode such a document is described without decoding it again")
  func described() throws {
    let body = Data(#"{"name":1,"\#(Self.name(1_025))":1}"#.utf8)
    let error = try #require(throws: DecodingError.self) { try JSONDecoder().decode(Place.self, from: body) }
    let failure = DecodingFailure(error, body: body)
    expectEqual(failure.path, "name")
    #expect(failure.found == nil)
  }
}
