import Testing
import WebServer

@Suite("Method")
struct HTTPMethodTests {
  @Test("methods are case-sensitive")
  func caseSensitive() {
    #expect(HTTPMethod(rawValue: "GET") == .get)
    #expect(HTTPMethod(rawValue: "get") != .get)
  }
}
