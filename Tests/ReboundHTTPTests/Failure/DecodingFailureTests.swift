import Expectations
import Foundation
import ReboundHTTP
import Testing

@Suite("DecodingFailure names the place, what was expected and what was found")
struct DecodingFailureTests {
  struct Station: Decodable {
    let name: String
    let readings: [Reading]
  }

  struct Reading: Decodable {
    let temperature: Double
  }

  static func failure<Value: Decodable>(_ type: Value.Type, _ body: String) throws -> DecodingFailure {
    let data = Data(body.utf8)
    let error = try #require(throws: DecodingError.self) { try JSONDecoder().decode(type, from: data) }
    return DecodingFailure(error, body: data)
  }

  @Test("a value of another type")
  func typeMismatch() throws {
    let failure = try Self.failure(
      Station.self,
      #"{"name":"Roma","readings":[{"temperature":1},{"temperature":"12 °C"}]}"#
    )
    expectEqual(failure.path, "readings[1].temperature")
    expectEqual(failure.expected, "Double")
    expectEqual(failure.found, #"a text: "12 °C""#)
  }

  @Test("a member that is missing")
  func missing() throws {
    let failure = try Self.failure(Place.self, #"{"name":"Rome","city":1}"#)
    expectEqual(failure.path, "")
    expectEqual(failure.expected, "a value for 'temperature'")
    expectEqual(failure.found, "an object with 'city', 'name'")
    #expect("\(failure)".hasPrefix("the answer: expected a value for 'temperature', found an object"))
  }

  @Test("a null where there should be something")
  func null() throws {
    let failure = try Self.failure(Place.self, #"{"name":"Rome","temperature":null}"#)
    expectEqual(failure.path, "temperature")
    expectEqual(failure.found, "null")
  }

  @Test("a document that is no JSON")
  func corrupted() throws {
    let failure = try Self.failure(Place.self, "Bad Gateway")
    #expect(failure.expected == nil)
    expectEqual(failure.snippet, "Bad Gateway")
  }

  @Test("the snippet is capped, and shows no secret, not even one that is of the wrong type")
  func snippet() throws {
    let long = try Self.failure(Place.self, #"{"name":""# + String(repeating: "é", count: 5_000) + #""}"#)
    expectEqual(long.snippet.count, DecodingFailure.snippetLength)
    struct Token: Decodable { let token: Int }
    let secret = try Self.failure(Token.self, #"{"token":"s3cret"}"#)
    #expect(!"\(secret)".contains("s3cret"))
    expectEqual(secret.found, "a text")
  }

  @Test(
    "what looks like a credential is not shown either, whatever its name",
    arguments: ["Bearer s3cret", "eyJhbGciOiJIUzI1NiJ9.e30.s3cret"]
  )
  func credential(value: String) throws {
    struct Answer: Decodable { let data: Int }
    let one = try Self.failure(Answer.self, #"{"data":"\#(value)"}"#)
    expectEqual(one.found, "a text")
    #expect(!"\(one)".contains("s3cret"))
    let several = try Self.failure([Int].self, #"[1,"\#(value)"]"#)
    expectEqual(several.path, "[1]")
    expectEqual(several.found, "a text")
  }

  @Test("a secret that is no case of an enumeration is not in the decoder's words")
  func enumeration() throws {
    enum Word: String, Decodable { case one }
    enum Number: Int, Decodable { case one }
    struct Words: Decodable { let secret: Word }
    struct Numbers: Decodable { let code: Number }
    struct Plain: Decodable { let word: Word }
    let word = try Self.failure(Words.self, #"{"secret":"s3cret"}"#)
    #expect(word.reason.contains("…"))
    #expect(!"\(word)".contains("s3cret"))
    let number = try Self.failure(Numbers.self, #"{"code":4711}"#)
    #expect(number.reason.contains("…"))
    #expect(!"\(number)".contains("4711"))
    #expect(try Self.failure(Plain.self, #"{"word":"two"}"#).reason.contains("two"))
  }
}
