import Testing

@testable import WebServer

@Suite("RequestTarget")
struct RequestTargetTests {
  @Test(
    "paths are decoded, and an escaped slash stays inside its segment",
    arguments: [
      ("/", [""]), ("/health", ["health"]), ("/a/b/", ["a", "b", ""]), ("/a%2Fb/c", ["a/b", "c"]),
      ("/Zo%C3%AB", ["Zoë"]), ("/Zoë", ["Zoë"]), ("/a+b", ["a+b"]), ("/a#fragment", ["a"]), ("*", ["*"]),
    ]
  )
  func path(target: String, segments: [String]) throws {
    #expect(try RequestTarget(target).segments == segments)
  }

  @Test(
    "queries are decoded in order, with repeated and valueless parameters",
    arguments: [
      ("/", []),
      ("/?", []),
      ("/?a=1&b=2&a=3", [("a", "1"), ("b", "2"), ("a", "3")]),
      ("/?a", [("a", nil)]),
      ("/?a=", [("a", "")]),
      ("/?=a", [("", "a")]),
      ("/?a=b=c", [("a", "b=c")]),
      ("/?&a=1&&", [("a", "1")]),
      ("/?a+b=c+d%2Be", [("a b", "c d+e")]),
      ("/?n=Zo%C3%AB-%C3%9Cnal", [("n", "Zoë-Ünal")]),
      ("/?n=Zoë", [("n", "Zoë")]),
      ("/?n=a%26b%3Dc", [("n", "a&b=c")]),
      ("/?n=%00", [("n", "\0")]),
      ("/?n=a?b", [("n", "a?b")]),
    ] as [(String, [(String, String?)])]
  )
  func query(target: String, items: [(String, String?)]) throws {
    #expect(try RequestTarget(target).query == items.map { QueryItem(name: $0, value: $1) })
  }

  @Test(
    "what isn't UTF-8, or isn't an escape, is a bad request",
    arguments: ["/%FF", "/?a=%FF%FE", "/?%C3=1", "/%C3%28", "/%", "/%4", "/?a=%zz", "/?a=%4", "/%ED%A0%80"]
  )
  func malformed(target: String) {
    let error = #expect(throws: HTTPError.self) { try RequestTarget(target) }
    #expect(error?.status == 400)
  }

  @Test("a target in absolute form gives its authority")
  func absoluteForm() throws {
    let target = try RequestTarget("http://localhost:8080/a?b=c")
    #expect(target.authority == "localhost:8080")
    #expect(target.path == "/a")
    #expect(target.query == [QueryItem(name: "b", value: "c")])
    #expect(try RequestTarget("http://localhost?b").authority == "localhost")
    #expect(try RequestTarget("/a").authority == nil)
  }
}
