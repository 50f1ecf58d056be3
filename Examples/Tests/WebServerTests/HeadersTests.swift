import Testing
import WebServer

@Suite("Headers")
struct HeadersTests {
  @Test("names are compared without regard to case, and repeated fields are kept in order")
  func lookUp() {
    var headers: Headers = ["Accept": "a", "X-Other": "b"]
    headers.add("ACCEPT", "c")
    #expect(headers["accept"] == "a")
    #expect(headers.values(of: "Accept") == ["a", "c"])
    #expect(headers.fields.map(\.name) == ["Accept", "X-Other", "ACCEPT"])
    #expect(headers["absent"] == nil)
  }

  @Test("setting a field replaces all of its name, and setting nil removes them")
  func set() {
    var headers: Headers = ["A": "1", "a": "2", "B": "3"]
    headers["A"] = "4"
    #expect(headers.values(of: "a") == ["4"])
    headers["b"] = nil
    #expect(headers.values(of: "B").isEmpty)
  }
}
