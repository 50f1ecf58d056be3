import Foundation

@testable import Rebound
@testable import ReboundHTTP

extension FuzzTarget {
  /// What a server says about an error: problem details (RFC 9457) and other JSON.
  static let problems = FuzzTarget(
    "problems",
    seeds: problemSeeds,
    words: [
      #""error":"#, #""errors":"#, #""message":"#, #""type":"#, #""status":"#, #""pointer":"#, #"\u0000"#, #"\ud800"#,
      "1e999", "-0", "null", "{}", "[]", "\u{FEFF}",
    ]
  ) { input in
    let type = input.byte() == UInt8(ascii: "p") ? "application/problem+json" : "application/json"
    let body = Data(input.rest())
    let head = ResponseHead(status: 400, headers: ["Content-Type": type], url: anyURL)
    let response = HTTPResponse(head: head, body: body, receivedAt: HTTPDate(secondsSinceEpoch: 0))
    let message = ErrorParser.standard.parse(response)
    if let text = message?.text { expect(text.utf8.count <= body.count * 3, "more text than was sent") }
    for (field, errors) in message?.problem?.fieldErrors ?? [:] {
      expect(!errors.isEmpty, "the field '\(field)' has a list of no errors")
    }
    guard let value = try? JSONDecoder().decode(JSONValue.self, from: body) else { return }
    guard let again = try? JSONEncoder().encode(value) else { return expect(false, "cannot be written: \(value)") }
    expectEqual(try? JSONDecoder().decode(JSONValue.self, from: again), value, "JSON comes back changed")
  }

  private static let problemSeeds: [String] = [
    #"p{"type":"/probs/credit","title":"No","status":403,"detail":"30 < 50","instance":"//a?b#c","balance":30}"#,
    #"p{"type":"","status":1e3,"errors":{"name":["short","odd"],"age":"low"}}"#,
    ##"p{"errors":[{"pointer":"#/a/b","detail":"x"},{"name":"n","message":"y"}],"status":9007199254740993}"##,
    #"j{"error":{"message":"","error":{"reason":"deep"}},"x":[1,-0.0,1e308,null,true,"\u00e9\ud83d\ude00"]}"#,
    "j" + String(repeating: "[", count: 600),
    "j" + String(repeating: #"{"error":"#, count: 300) + "1" + String(repeating: "}", count: 300),
  ]
}
