import Expectations
import Testing

@testable import ReboundHTTPTesting

@Suite("ForwardProxy")
struct ForwardProxyTests {
  private let proxy: ForwardProxy
  private let client: Socket

  init() throws {
    proxy = try ForwardProxy()
    client = try .connected(to: proxy.port)
  }

  /// Sends something, and reads the answer.
  private func ask(_ text: String) -> String {
    client.send(text.utf8) ? client.readAnswer() : ""
  }

  private func server(_ answers: [String: String]) throws -> MisbehavingServer {
    let server = try MisbehavingServer()
    for (path, body) in answers { server.program(path, .answer(body)) }
    return server
  }

  @Test("over one connection it asks whichever server each request is for")
  func servers() throws {
    let servers = try ["one.", "two."].map { try server(["/": $0]) }
    for (index, body) in [(0, "one."), (1, "two."), (1, "two."), (0, "one.")] {
      let answer = ask("GET \(servers[index].url()) HTTP/1.1\r\nHost: there\r\n\r\n")
      #expect(answer.hasSuffix("\r\n\r\n\(body)"))
    }
    expectEqual(servers.map(\.requests.count), [2, 2])
    expectEqual(servers.map(\.connectionCount), [2, 1])
  }

  @Test("it passes chunks on, and the fields behind them, and what comes then is another request")
  func chunks() throws {
    let server = try server(["/": "ok."])
    let chunks = "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Sum: 1\r\n\r\n"
    for count in 1...2 {
      let answer = ask("PUT \(server.url()) HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)")
      #expect(answer.hasSuffix("ok."))
      expectEqual(server.requests.map(\.body), Array(repeating: Array("abcde".utf8), count: count))
    }
  }

  @Test("what comes right behind the wish for a tunnel goes through it once")
  func early() throws {
    let server = try server(["/a": "a.", "/b": "b."])
    let wish = "CONNECT there:\(server.port) HTTP/1.1\r\n\r\n"
    #expect(ask("\(wish)GET /a HTTP/1.1\r\n\r\n").hasSuffix("\r\n\r\na."))
    #expect(ask("GET /b HTTP/1.1\r\n\r\n").hasSuffix("\r\n\r\nb."))
    expectEqual(server.requests.map(\.path), ["/a", "/b"])
  }

  @Test(
    "a port that there is not is answered with a 502",
    arguments: ["GET http://there:70000/", "CONNECT there:70000"]
  )
  func port(line: String) {
    #expect(ask("\(line) HTTP/1.1\r\n\r\n").hasPrefix("HTTP/1.1 502"))
  }
}
