import Testing
import WebServer

@Suite("HTTPServerError")
struct HTTPServerErrorTests {
  @Test(
    "every error says in words what happened",
    arguments: [
      (
        HTTPServerError.portTaken(address: "127.0.0.1", port: 8080),
        "Port 8080 is taken: another program listens on 127.0.0.1:8080 already"
      ),
      (.portForbidden(port: 80), "Port 80 is reserved by the system: choose one from 1024 on"),
      (.addressUnavailable("::1"), "'::1' isn't an IPv4 address of this machine"),
      (
        .system(operation: "socket", reason: "Too many open files"),
        "The web server couldn't start: socket failed: Too many open files"
      ),
    ]
  )
  func text(error: HTTPServerError, text: String) {
    #expect(error.description == text)
    #expect(error.localizedDescription == text)
  }
}
