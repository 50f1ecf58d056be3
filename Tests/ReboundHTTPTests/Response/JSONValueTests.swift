import Expectations
import Foundation
import Testing

@testable import ReboundHTTP

@Suite("JSONValue")
struct JSONValueTests {
  private static func nested(_ depth: Int, _ start: String, _ end: String) -> Data {
    Data((String(repeating: start, count: depth) + "1" + String(repeating: end, count: depth)).utf8)
  }

  @Test("takes so many levels as fit on a small stack, and refuses more", arguments: [["[", "]"], [#"{"a":"#, "}"]])
  func depth(brackets: [String]) throws {
    let deepest = Self.nested(JSONValue.deepest, brackets[0], brackets[1])
    #expect(throws: Never.self) { try JSONDecoder().decode(JSONValue.self, from: deepest) }
    for depth in [JSONValue.deepest + 1, 500] {
      let deeper = Self.nested(depth, brackets[0], brackets[1])
      #expect(throws: DecodingError.self) { try JSONDecoder().decode(JSONValue.self, from: deeper) }
    }
  }

  @Test("values of all kinds come back as they were")
  func roundTrip() throws {
    let all: [JSONValue] = [.null, .bool(true), .number(1.5), .string("x"), .object([:]), .array([])]
    let value = JSONValue.object(["a": .array(all), "": .null])
    try expectEqual(JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value)), value)
  }
}
