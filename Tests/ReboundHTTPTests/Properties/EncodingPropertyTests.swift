import Foundation
import ReboundTesting
import Testing

@testable import ReboundHTTP

@Suite("encodings")
struct EncodingPropertyTests {
  private static let pairs = Generator<[(String, String)]>.array(of: zip(.string, .string), count: 0...6)

  private static func decoded(_ text: Substring) -> String? {
    text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
  }

  @Test("parameters come back from a query and a form as they were, whatever their characters")
  func parameters() throws {
    try forAll(Self.pairs, runs: 500) { pairs in
      let parameters = Parameters(pairs.map { Parameters.Pair($0.0, $0.1) })
      for encoded in [parameters.queryEncoded, parameters.formEncoded] {
        try requireTrue(encoded.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "'\(encoded)' is not ASCII")
        let items = encoded.split(separator: "&").map { $0.split(separator: "=", omittingEmptySubsequences: false) }
        try requireEqual(items.map { $0.count == 2 ? Self.decoded($0[0]) : nil }, pairs.map { $0.0 })
        try requireEqual(items.map { $0.count == 2 ? Self.decoded($0[1]) : nil }, pairs.map { $0.1 })
      }
      if !pairs.isEmpty {
        let url = URLComponents(string: "https://api.example/?\(parameters.queryEncoded)")
        try requireEqual(url?.queryItems?.map(\.value), pairs.map { $0.1 })
      }
    }
  }

  @Test("data in a path stays one step of it, and comes back as it was, or is refused")
  func paths() throws {
    var checkedCount = 0
    try forAll(Generator<String>.string, runs: 500) { text in
      let path: RequestPath = "a/\(text)/b"
      if ["", ".", ".."].contains(text) { return try requireTrue((try? path.encoded()) == nil, "it leads elsewhere") }
      let encoded = try path.encoded()
      let steps = encoded.split(separator: "/", omittingEmptySubsequences: false)
      try requireEqual(steps.count, 3, encoded)
      try requireEqual(steps[1].removingPercentEncoding, text)
      checkedCount += 1
    }
    #expect(checkedCount > 400)
  }

  @Test("a stream of events is the same in whatever pieces it comes")
  func pieces() throws {
    let text = Generator<String>.string(of: "\n\r:a diteo\u{FEFF}é", count: 0...200)
    let line = Generator<String>.element(of: [
      "data: a\n", "data\r\n", "id: 1\r", "event: b\n", "\n", "\r\n", "retry: 5\n",
    ])
    let texts = Generator<[String]>.array(of: .one(of: line, line, text)).map { $0.joined() }
    let sizes = Generator<[Int]>.array(of: .integer(in: 1...9), count: 1...20)
    try forAll(zip(texts, sizes), runs: 500) { text, sizes in
      let all = Data(text.utf8)
      var whole = EventStreamParser()
      let expected = try whole.events(in: all)
      var (parser, rest, events) = (EventStreamParser(), all, [ServerSentEvent]())
      var next = sizes.makeIterator()
      while !rest.isEmpty {
        let size = next.next() ?? 1
        events += try parser.events(in: rest.prefix(size))
        rest = rest.dropFirst(size)
      }
      try requireEqual(events, expected)
    }
  }

  /// Encoded as they are: what Foundation encodes by itself, it encodes all over again.
  private static let addresses = Generator<String> { choices in
    let user = choices.draw(.element(of: ["", "me@", "me:s3cr3t@"]))
    let path = choices.draw(.array(of: .element(of: ["a", "b", "/", ".", "%25", "%C3%A9"]), count: 0...8)).joined()
    let item = Generator { choices -> String in
      let name = choices.draw(.element(of: ["q", "token", "KEY", "to%6Ben", "a%20b"]))
      let harmless = Generator<String>.element(of: ["a", "=", "%26", "+", "%C3%A9", "%E2%80%A6"])
      let isHarmless = name == "q" || name == "a%20b"
      return "\(name)=" + (isHarmless ? choices.draw(.array(of: harmless, count: 0...4)).joined() : "s3cr3t")
    }
    let query = choices.draw(.array(of: item, count: 0...4)).joined(separator: "&")
    return "https://\(user)api.example/\(path)?\(query)"
  }

  @Test("an address has no secrets once they are left out, and doing so again changes nothing")
  func redactedAddresses() throws {
    try forAll(Self.addresses, runs: 500) { address in
      let url = try #require(URL(string: address, encodingInvalidCharacters: false))
      let once = Redaction.standard.url(url)
      try requireTrue(!once.contains("s3cr3t"), once)
      try requireEqual(Redaction.standard.archived(address: once), once)
    }
  }

  @Test("a text has no secrets once they are left out, even cut off, and doing so again changes nothing")
  func redactedTexts() throws {
    let value = Generator<String>.element(of: [
      #""s3cr3t""#, #"{"a": "s3cr3t", "b": ["s3cr3t"]}"#, #"["s3cr3t"]"#, #""\"s3cr3t""#,
    ])
    let member = Generator { choices -> String in
      let blank = choices.draw(.element(of: ["", " ", "\n"]))
      let isSecret = choices.draw(.bool)
      let name = isSecret ? choices.draw(.element(of: ["token", "Password"])) : "a"
      return "\"\(name)\"\(blank):\(blank)"
        + (isSecret ? choices.draw(value) : choices.draw(.element(of: ["1", "null", #"{"x":[]}"#])))
    }
    let object = Generator { choices in
      "[{" + choices.draw(.array(of: member, count: 0...5)).joined(separator: ",") + "}]"
    }
    try forAll(zip(object, .integer(in: 0...300)), runs: 500) { text, length in
      for text in [text, String(text.prefix(length))] {
        let once = Redaction.standard.text(text)
        try requireTrue(!once.contains("s3cr3t"), once)
        try requireEqual(Redaction.standard.text(once), once)
      }
      try requireTrue(
        (try? JSONDecoder().decode(JSONValue.self, from: Data(Redaction.standard.text(text).utf8))) != nil,
        "no JSON"
      )
    }
  }
}
