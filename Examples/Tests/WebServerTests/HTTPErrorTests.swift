import Testing
import WebServer

@Suite("HTTPError")
struct HTTPErrorTests {
  @Test("its description says status and reason")
  func description() {
    #expect("\(HTTPError(404, "There is nothing"))" == "404: There is nothing")
  }
}
