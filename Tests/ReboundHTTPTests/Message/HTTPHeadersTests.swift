import Expectations
import Foundation
import ReboundHTTP
import Testing

@Suite("HTTPHeaders")
struct HTTPHeadersTests {
  @Test("names know no case, and keep their spelling")
  func caseInsensitive() {
    var headers: HTTPHeaders = ["Content-Type": "text/plain", "accept": "*/*"]
    expectEqual(headers["content-type"], "text/plain")
    expectEqual(headers["ACCEPT"], "*/*")
    headers["CONTENT-TYPE"] = "text/html"
    expectEqual(headers.map(\.name), ["CONTENT-TYPE", "accept"])
    expectEqual(headers["Content-Type"], "text/html")
    #expect(headers["missing"] == nil)
  }

  @Test("fields of one name keep their order, and read as one list")
  func severalValues() {
    var headers: HTTPHeaders = ["Via": "a", "X": "1"]
    headers.add("via", "b, c")
    expectEqual(headers.values(of: "VIA"), ["a", "b, c"])
    expectEqual(headers["Via"], "a, b, c")
    expectEqual(headers.members(of: "Via"), ["a", "b", "c"])
    headers["Via"] = nil
    expectEqual(Array(headers), [HTTPHeaders.Field("X", "1")])
  }

  @Test("cookies are not joined, since their dates have commas")
  func setCookie() {
    var headers: HTTPHeaders = ["Set-Cookie": "a=1; Expires=Sun, 06 Nov 1994 08:49:37 GMT"]
    headers.add("set-cookie", "b=2")
    expectEqual(headers["Set-Cookie"], "a=1; Expires=Sun, 06 Nov 1994 08:49:37 GMT")
    expectEqual(headers.values(of: "Set-Cookie").count, 2)
  }

  @Test("setting others replaces all fields of their names, and keeps several of one name")
  func setOthers() {
    var headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3"]
    var others: HTTPHeaders = ["a": "4"]
    others.add("A", "5")
    headers.set(others)
    expectEqual(headers.values(of: "A"), ["4", "5"])
    expectEqual(headers["B"], "2")
  }

  @Test(
    "a field that would break out of its line is not valid",
    arguments: [
      ("X-Name", "plain", true), ("X-Name", "ü\t", true), ("X-Name", "", true),
      ("X-Name", "a\r\nX-Other: b", false), ("X-Name", "a\nb", false), ("X-Name", "a\0b", false),
      ("", "a", false), ("X Name", "a", false), ("X-Name:", "a", false), ("Näme", "a", false),
    ]
  )
  func validity(name: String, value: String, isValid: Bool) {
    expectEqual(HTTPHeaders.Field(name, value).isValid, isValid)
  }

  @Test("a character counts for as much at each place of a name and of a value, however long they are")
  func places() {
    let tokens = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    for byte in UInt8(0)...0x7F {
      let character = String(Unicode.Scalar(byte))
      let isText = byte == 0x09 || (0x20...0x7E).contains(byte)
      for (before, after) in [(0, 0), (0, 9), (3, 4), (7, 0), (8, 8), (17, 1)] {
        let text = String(repeating: "a", count: before) + character + String(repeating: "z", count: after)
        expectEqual(HTTPHeaders.Field("X", text).isValid, isText, "\(byte) behind \(before)")
        expectEqual(HTTPHeaders.Field(text, "x").isValid, tokens.contains(byte), "\(byte) behind \(before)")
      }
    }
    #expect(HTTPHeaders.Field("X", "Zürich, and the seven mountains around it").isValid)
    #expect(!HTTPHeaders.Field("X", "Zürich, and a line break behind\nit").isValid)
  }

  @Test("two names are one whatever the case of each letter, and not where any character differs")
  func equality() {
    let name = "X-Request-ID-0123"
    for place in name.indices {
      func with(_ character: String) -> String { name.replacingCharacters(in: place...place, with: character) }
      let character = String(name[place])
      #expect(HTTPHeaders.equal(name, with(character.lowercased())))
      #expect(HTTPHeaders.equal(with(character.uppercased()), name))
      #expect(!HTTPHeaders.equal(name, with("_")))
    }
    // A letter's other case is 32 away, and so is what is none.
    #expect(!HTTPHeaders.equal("@-Request", "`-Request"))
    #expect(!HTTPHeaders.equal("X-Request", "X-Reques"))
  }

  @Test("printing headers shows no secret")
  func description() {
    let headers: HTTPHeaders = ["Authorization": "Bearer abc", "Accept": "*/*"]
    expectEqual("\(headers)", "Authorization: …\nAccept: */*")
  }

  @Test("a field on its own shows no secret, printed, dumped or in a list")
  func fields() {
    let headers: HTTPHeaders = ["Authorization": "Bearer s3cret", "Location": "/?token=s3cret", "Accept": "*/*"]
    expectEqual(headers.map { "\($0)" }, ["Authorization: …", "Location: /?token=…", "Accept: */*"])
    var dumped = ""
    dump(headers, to: &dumped)
    dump(headers[0], to: &dumped)
    #expect(dumped.contains("*/*"))
    #expect(!"\(dumped) \(Array(headers)) \(String(reflecting: headers[0]))".contains("s3cret"))
  }
}
