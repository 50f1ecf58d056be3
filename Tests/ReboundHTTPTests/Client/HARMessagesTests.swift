import Expectations
import Foundation
import Testing

@testable import ReboundHTTP

@Suite("HAR of messages")
struct HARMessagesTests {
  @Test(
    "an address has no secrets, whatever marks stand behind its punctuation",
    arguments: [
      ("/p?\u{301}key=shown", "/p?\u{301}key=shown"), ("/p?\u{301}&token=s3cret", "/p?\u{301}&token=…"),
      ("/\u{301}p?token=\u{301}s3cret&q=1", "/\u{301}p?token=…&q=1"), ("/p?q=1#\u{301}token=s3cret", "/p?q=1"),
      ("/p?q=1&\u{301}a=2&token=s3cret#\u{FE0F}s3cret", "/p?q=1&\u{301}a=2&token=…"),
      ("https://joe:s3cret@\u{301}a.example/p", "https://…@\u{301}a.example/p"),
      ("https:/\u{301}/joe@a/p", "https:/\u{301}/joe@a/p"), ("//\u{301}joe:s3cret@a.example/p", "//…@a.example/p"),
      ("https://a.example/\u{301}@b?q=1", "https://a.example/\u{301}@b?q=1"), ("?", "?"), ("", ""), ("#a", ""),
    ]
  )
  func addresses(text: String, shown: String) {
    expectEqual(Array(Redaction.standard.archived(address: text).utf8), Array(shown.utf8))
  }

  @Test(
    "the boundary is what the content type names, whatever marks stand behind its punctuation",
    arguments: [
      ("multipart/form-data; boundary=b", "b"), ("Multipart/Mixed;BOUNDARY=\"a b;c\"; q=1", "a b;c"),
      ("multipart/\u{301}form-data; boundary=b;q", "b"), ("multipart/form-data; boundary=\u{301}b c", "\u{301}b"),
      ("multipart/form-data; boundary=\"\u{301}b\"\u{301}c", "\u{301}b"),
      ("multipart/form-data; boundary=b;\u{301}c", "b"), ("multipart/form-data; boundary=\"b", "b"),
      ("multipart/form-data; boundary=", nil), ("multipart/form-data", nil), ("text/plain; boundary=b", nil),
    ] as [(String, String?)]
  )
  func boundaries(type: String, boundary: String?) {
    expectEqual(HAR.boundary(of: type).map { Array($0.utf8) }, boundary.map { Array($0.utf8) })
  }

  @Test(
    "the boundary is a parameter of its own, not the end of another's name and not what stands in its quotes",
    arguments: [
      ("multipart/form-data; notboundary=no; boundary=b", "b"), ("multipart/form-data; notboundary=no", nil),
      ("multipart/related; start=\"a; boundary=no\"; boundary=b", "b"),
      ("multipart/related; start=\"a\\\"; boundary=no\"; Boundary=b", "b"),
      ("multipart/related; start=\"boundary=no\"", nil), ("multipart/related;; ;boundary=\"a\\\"b\\\\\"", "a\"b\\"),
      ("multipart/related; start=\"a; boundary=b", "b"), ("multipart/related; boundary=b; boundary=no", "b"),
      ("multipart/related; boundary = b\t;q=1", "b"), ("multipart/related; boundary=\"\"", nil),
    ] as [(String, String?)]
  )
  func boundariesAmongOthers(type: String, boundary: String?) {
    expectEqual(HAR.boundary(of: type), boundary)
  }

  @Test("the parameters of an address are listed without secrets, also those that are a value alone")
  func queryStrings() throws {
    let query = "q=1&token=s3cret&eyJhbGciOiJIUzI1NiJ9.e30.s3cret&flag&next=https://me:s3cret@a.example/"
    let url = try #require(URL(string: "https://api.example/?\(query)"))
    let request = HAR.Request(TransportRequest(url), body: nil, .standard)
    expectEqual(request.queryString?.map(\.name), ["q", "token", "…", "flag", "next"])
    #expect(request.queryString?.map(\.value) == ["1", "…", "", "", "https://…@a.example/"])
    #expect(!request.url.contains("s3cret"))
  }

  @Test("a parameter that the address hides is hidden in the list, too, if its name has a space in it")
  func spacedNames() throws {
    let url = try #require(URL(string: "https://api.example/?my+number=s3cret&my%20number=s3cret&a+b=1"))
    let request = HAR.Request(TransportRequest(url), body: nil, .standard.hiding(parameter: "my number"))
    #expect(request.url == "https://api.example/?my+number=…&my%20number=…&a+b=1")
    expectEqual(request.queryString?.map(\.name), ["my+number", "my number", "a+b"])
    expectEqual(request.queryString?.map(\.value), ["…", "…", "1"])
  }

  @Test("an answer of events, and one with links, has no secrets")
  func eventsAndLinks() throws {
    let url = try #require(URL(string: "https://api.example/"))
    let events = "data: {\"a\":\"b\"}\n\nevent: session\ndata: {\"access_token\":\"s3cret\"}\n\n"
    let link = "<https://api.example/?api_key=s3cret&page=2>; rel=\"next\""
    let head = ResponseHead(status: 200, headers: ["Content-Type": "text/event-stream", "Link": link], url: url)
    let response = HAR.Response(head, Data(events.utf8), .standard)
    expectEqual(response.content?.text, events.replacing("s3cret", with: "…"))
    expectEqual(response.headers?.last?.value, link.replacing("s3cret", with: "…"))
  }

  private static func archived(_ body: String, _ type: String = "multipart/form-data; boundary=b") -> String {
    String(decoding: Redaction.standard.archived(Data(body.utf8), type: type), as: UTF8.self)
  }

  @Test(
    "the parts of a form whose names are those of secrets have no contents",
    arguments: [
      ("--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\ns3cret\r\n--b--\r\n", ["s3cret": false]),
      ("--b\r\nContent-Disposition: form-data; name=\"token\"\u{301}\r\n\r\ns3cret\r\n--b--\r\n", ["s3cret": false]),
      (
        "--b\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nshown\r\n--b\r\nContent-Disposition: b;name=token\r\n\r\ns3cret",
        ["shown": true, "s3cret": false]
      ),
      ("--b\r\nContent-Disposition: form-data; name=\"token\"\r\n--b\r\nA: b\r\n\r\nshown\r\n--b--", ["shown": true]),
      ("before--b--after\r\n\r\nshown", ["before": true, "after": true, "shown": true]),
    ]
  )
  func parts(body: String, texts: [String: Bool]) {
    let archived = Self.archived(body)
    for (text, isShown) in texts { expectEqual(archived.contains(text), isShown, "\(archived)") }
    expectEqual(Self.archived(archived), archived)
  }

  @Test(
    "the name of a part is a parameter of its own, not the end of another's name and not what stands in its quotes",
    arguments: [
      ("Content-Disposition: form-data; name=\"q\"; filename=\"a; name=token\"", true),
      ("Content-Disposition: form-data; name=\"q\"; filename=\"a\\\"; name=key\"", true),
      ("Content-Disposition: form-data; filename=token", true),
      ("Content-Disposition: form-data; name=q; filename=\"token\"", true),
      ("Content-Type: text/plain; name=token", true),
      ("X-Note: name=token\r\nContent-Disposition: form-data; name=q", true),
      ("Content-Disposition: form-data; filename=\"a; name=q\"; name=\"token\"", false),
      ("Content-Disposition: form-data; filename=\"a\\\\\"; name=\"token\"", false),
      ("Content-Disposition: form-data; filename=\"a\\\"; name=\"token\"", false),
      ("Content-Disposition: form-data; filename=\"a; name=token", false),
      ("content-disposition : form-data; NAME = \"to\\ken\" ; filename=a", false),
      ("Content-Disposition: form-data;\r\n\tname=\"token\"", false),
      ("Content-Disposition: form-data;\n name=\"token\"\nContent-Type: text/plain", false),
      ("Content-Disposition: form-data; name=q; name=token", false),
      ("Content-Disposition: form-data; name=to%6Ben", false),
      ("Content-Disposition: form-data; name=\"token\"x; filename=a", false),
    ]
  )
  func partNames(fields: String, isShown: Bool) {
    let archived = Self.archived("--b\r\n\(fields)\r\n\r\ns3cret\r\n--b--\r\n")
    expectEqual(archived.contains("s3cret"), isShown, "\(archived)")
    #expect(archived.contains(fields), "\(archived)")
  }

  @Test(
    "a part is known by the name that it was sent with, whatever is in it",
    arguments: ["token", "a\"b", "a\\", "a\\\"; name=\"q", "a;b", "a\r\nb", "\"", "ä ö", "100 %"]
  )
  func sentNames(name: String) throws {
    let redaction = Redaction.standard.hiding(parameter: name)
    for fileName in ["a.txt", "; name=\"q\"", "C:\\"] {
      let part = MultipartPart.data(name, Data(), fileName: fileName).header
      let body = Data("--b\r\n\(part)s3cret\r\n--b--\r\n".utf8)
      let archived = redaction.archived(body, type: "multipart/form-data; boundary=b")
      #expect(!String(decoding: archived, as: UTF8.self).contains("s3cret"), "\(part)")
    }
  }

  @Test("a part with many fields and quotes that nothing ends takes no longer than it is", .timeLimit(.minutes(10)))
  func manyQuotes() {
    let quotes = String(repeating: "; a=\"\\\"", count: 100_000)
    let lines = String(repeating: "\r\n x", count: 100_000)
    let fields = "Content-Disposition: form-data\(quotes)\(lines); name=token"
    expectEqual(Self.archived("--b\r\n\(fields)\r\n\r\ns3cret\r\n--b--"), "--b\r\n\(fields)\r\n\r\n…\r\n--b--")
  }

  @Test("a part without a blank line does not end at that of another", .timeLimit(.minutes(10)))
  func manyParts() {
    // Looked for behind each of them, the only blank line would be looked for in 20 GB.
    let delimiters = String(repeating: "--b\n", count: 100_000)
    let secret = "--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n"
    expectEqual(Self.archived("\(delimiters)\(secret)s3cret\r\n--b--"), "\(delimiters)\(secret)…\r\n--b--")
  }

  @Test("a form is one whatever marks stand behind its media type")
  func forms() {
    expectEqual(Self.archived("q=1&token=s3cret", "Application/X-www-form-urlencoded\u{301}"), "q=1&token=…")
    // In other texts, a pair ends where no form would go on.
    expectEqual(Self.archived("q=1&token=s3cret shown", "application/x-www-form"), "q=1&token=… shown")
  }
}
