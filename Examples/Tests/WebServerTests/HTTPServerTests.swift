import Foundation
import ServerTesting
import Testing

@testable import WebServer

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("HTTPServer")
struct HTTPServerTests {
  /// Says what the handler was given.
  private static func echo(_ request: Request) -> Response {
    let query = request.query.map { "\($0.name)=\($0.value ?? "nil")" }.joined(separator: ",")
    let text = "\(request.method.rawValue) \(request.path) [\(query)] \(request.body.count)"
    return Response(contentType: "text/plain", body: Data(text.utf8))
  }

  // The heartbeat goes by the real clock: on a machine with much else to do, one comes between a test's own events.
  private static let withoutHeartbeat: HTTPServer.Configuration = {
    var configuration = HTTPServer.Configuration()
    configuration.heartbeat = nil
    return configuration
  }()

  private func withServer(
    _ configuration: HTTPServer.Configuration = HTTPServerTests.withoutHeartbeat,
    handler: @escaping @Sendable (Request) async -> Response = { HTTPServerTests.echo($0) },
    _ body: (HTTPServer) async throws -> Void
  ) async throws {
    let server = try HTTPServer(configuration, handler: handler)
    do {
      try await body(server)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  // MARK: Requests

  @Test(
    "a handler gets method, decoded path, query and body",
    arguments: [
      ("GET", "/a%20b?x=1&x&y=%C3%A9+z", nil, "GET /a b [x=1,x=nil,y=é z] 0"),
      ("POST", "/", "12345", "POST / [] 5"),
      ("PATCH", "/", "", "PATCH / [] 0"),
    ]
  )
  func echoed(method: String, target: String, body: String?, text: String) async throws {
    try await withServer { server in
      let answer = try await LoopbackClient.request(
        method,
        target,
        port: server.port,
        body: body.map { Data($0.utf8) }
      )
      #expect(answer?.status == 200)
      #expect(answer?.text == text)
    }
  }

  @Test("a body sent in chunks is put together", arguments: ["chunked", "Chunked"])
  func chunked(coding: String) async throws {
    try await withServer { server in
      let client = try LoopbackClient(port: server.port)
      try await client.send(
        "POST / HTTP/1.1\r\nHost: localhost:\(server.port)\r\nTransfer-Encoding: \(coding)\r\nConnection: close\r\n\r\n"
      )
      try await client.send("3\r\nabc\r\n")
      try await client.send("2\r\nde\r\n0\r\n\r\n")
      #expect(Answer(try await client.receiveAll())?.text == "POST / [] 5")
    }
  }

  @Test("a connection serves one request after another")
  func keepAlive() async throws {
    try await withServer { server in
      let client = try LoopbackClient(port: server.port)
      for number in 1...3 {
        try await client.send("GET /\(number) HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n")
        #expect(try await client.receive(until: "[] 0").contains("GET /\(number) [] 0"))
      }
    }
  }

  @Test("requests sent all at once are answered in order")
  func pipelined() async throws {
    try await withServer { server in
      let client = try LoopbackClient(port: server.port)
      let requests = (1...10).map { "GET /\($0) HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n" }
      try await client.send(requests.joined())
      let text = try await client.receive(until: "GET /10 [] 0")
      #expect(text.matches(of: #/GET /(\d+) \[/#).map { String($0.1) } == (1...10).map(String.init))
    }
  }

  @Test("repeated headers arrive, in order")
  func repeatedHeaders() async throws {
    try await withServer(handler: { request in
      Response(contentType: "text/plain", body: Data(request.headers.values(of: "x-name").joined(separator: "|").utf8))
    }) { server in
      let answer = try await LoopbackClient.request(
        "GET",
        "/",
        port: server.port,
        headers: ["X-Name: a", "x-name: Zoë", "X-NAME:"]
      )
      #expect(answer?.text == "a|Zoë|")
    }
  }

  @Test("HEAD is answered like GET, without the body")
  func head() async throws {
    try await withServer { server in
      let answer = try await LoopbackClient.request("HEAD", "/", port: server.port)
      #expect(answer?.status == 200)
      #expect(answer?["Content-Length"] == "11")
      #expect(answer?.body.isEmpty == true)
    }
  }

  // MARK: Refusals

  @Test(
    "a target that isn't valid UTF-8 is a bad request, in JSON",
    arguments: ["/%FF", "/?a=%FF", "/?a=%zz"]
  )
  func malformedTarget(target: String) async throws {
    try await withServer { server in
      let answer = try await LoopbackClient.request("GET", target, port: server.port)
      #expect(answer?.status == 400)
      #expect(answer?.text.hasPrefix(#"{"error":true,"reason":"#) == true)
    }
  }

  @Test("raw bytes that aren't UTF-8 are a bad request")
  func rawBytes() async throws {
    try await withServer { server in
      let client = try LoopbackClient(port: server.port)
      let head = Data("GET /?a=".utf8) + [0xFF] + Data(" HTTP/1.1\r\nHost: localhost:\(server.port)\r\n".utf8)
      try await client.send(head + Data("Connection: close\r\n\r\n".utf8))
      #expect(Answer(try await client.receiveAll())?.status == 400)
    }
  }

  @Test(
    "a request that says in two ways where it ends, or in none, is refused, and what follows it is no request",
    arguments: [
      "Content-Length: 2\r\nContent-Length: 200", "Content-Length: 2\r\nContent-Length: 2",
      "Content-Length: 200\r\nTransfer-Encoding: chunked", "Transfer-Encoding: gzip",
      "Transfer-Encoding: gzip, chunked",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    ]
  )
  func unclearEnd(fields: String) async throws {
    try await withServer(handler: { _ in
      Issue.record("the handler was called")
      return Response()
    }) { server in
      let host = "Host: localhost:\(server.port)\r\n"
      for method in ["POST", "GET"] {
        let client = try LoopbackClient(port: server.port)
        try await client.send(
          "\(method) / HTTP/1.1\r\n\(host)\(fields)\r\n\r\n2\r\n{}\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\n\(host)\r\n"
        )
        let answer = Answer(try await client.receiveAll())
        #expect(answer?.status == 400)
        #expect(answer?["Connection"] == "close")
        let reason = "The request must say where it ends by one Content-Length, or else by Transfer-Encoding: chunked"
        #expect(answer?.text == #"{"error":true,"reason":"\#(reason)"}"#)
      }
    }
  }

  @Test("a foreign Host is refused before the handler sees the request")
  func foreignHost() async throws {
    try await withServer(handler: { _ in
      Issue.record("the handler was called")
      return Response()
    }) { server in
      let answer = try await LoopbackClient.request("GET", "/", port: server.port, headers: ["Host: evil.example"])
      #expect(answer?.status == 403)
      #expect(answer?.text == #"{"error":true,"reason":"The host 'evil.example' isn't served here"}"#)
    }
  }

  @Test("a request without a Host is a bad request")
  func missingHost() async throws {
    try await withServer { server in
      let client = try LoopbackClient(port: server.port)
      try await client.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
      #expect(Answer(try await client.receiveAll())?.status == 400)
    }
  }

  @Test("a foreign Origin is refused; the server's own and the allowed ones aren't")
  func origin() async throws {
    var configuration = HTTPServer.Configuration()
    configuration.allowedOrigins = ["https://app.example"]
    try await withServer(configuration) { server in
      func answer(_ origin: String) async throws -> Answer? {
        try await LoopbackClient.request("GET", "/", port: server.port, headers: ["Origin: \(origin)"])
      }
      #expect(try await answer("http://evil.example")?.status == 403)
      #expect(try await answer("http://localhost:\(server.port)")?.status == 200)
      let allowed = try await answer("https://app.example")
      #expect(allowed?.status == 200)
      #expect(allowed?["Access-Control-Allow-Origin"] == "https://app.example")
    }
  }

  @Test("a body larger than the limit is refused by its announced length; one at the limit isn't")
  func bodyLimit() async throws {
    var configuration = HTTPServer.Configuration()
    configuration.bodyLimit = 100
    try await withServer(configuration) { server in
      func answer(_ size: Int) async throws -> Answer? {
        try await LoopbackClient.request("POST", "/", port: server.port, body: Data(repeating: 0x61, count: size))
      }
      #expect(try await answer(100)?.text == "POST / [] 100")
      let refused = try await answer(101)
      #expect(refused?.status == 413)
      #expect(refused?.text == #"{"error":true,"reason":"The body is larger than 100 bytes"}"#)
    }
  }

  @Test("a body in chunks is cut off once it is over the limit")
  func chunkedBodyLimit() async throws {
    var configuration = HTTPServer.Configuration()
    configuration.bodyLimit = 100
    try await withServer(configuration) { server in
      let client = try LoopbackClient(port: server.port)
      try await client.send(
        "POST / HTTP/1.1\r\nHost: localhost:\(server.port)\r\nTransfer-Encoding: chunked\r\n\r\n"
      )
      try await client.send("65\r\n\(String(repeating: "a", count: 101))\r\n")
      #expect(try await client.receiveAll().isEmpty)
    }
  }

  @Test(
    "what isn't HTTP doesn't stop the server",
    arguments: ["nonsense\r\n\r\n", "\r\n\r\n\r\n", "GET\r\n\r\n", "\0\0\0"]
  )
  func nonsense(bytes: String) async throws {
    try await withServer { server async throws in
      let client = try LoopbackClient(port: server.port)
      try await client.send(bytes)
      #expect(try await LoopbackClient.request("GET", "/", port: server.port)?.status == 200)
    }
  }

  // MARK: Answers

  @Test("every answer forbids guessing its type and storing it, unless it says otherwise")
  func defaultHeaders() async throws {
    try await withServer(handler: { request in
      request.path == "/own" ? Response(headers: ["Cache-Control": "max-age=60"]) : Response()
    }) { server in
      let usual = try await LoopbackClient.request("GET", "/", port: server.port)
      #expect(usual?["X-Content-Type-Options"] == "nosniff")
      #expect(usual?["Cache-Control"] == "no-store")
      let own = try await LoopbackClient.request("GET", "/own", port: server.port)
      #expect(own?.headers.filter { $0.name == "cache-control" }.map(\.value) == ["max-age=60"])
    }
  }

  @Test(
    "an answer that can't be sent becomes an apology",
    arguments: [("X-Name", "a\r\nX-Forged: b", 200), ("", "", 99)]
  )
  func unsendable(name: String, value: String, status: Int) async throws {
    try await withServer(handler: { _ in
      Response(status: status, headers: name.isEmpty ? [:] : [name: value])
    }) { server in
      let answer = try await LoopbackClient.request("GET", "/", port: server.port)
      #expect(answer?.status == 500)
      #expect(answer?["X-Forged"] == nil)
    }
  }

  @Test("a dropped request gets no answer, and the server goes on")
  func dropped() async throws {
    try await withServer(handler: { $0.path == "/drop" ? .dropped : Response() }) { server in
      let dropped = try await LoopbackClient.request("GET", "/drop", port: server.port)
      #expect(dropped == nil)
      let next = try await LoopbackClient.request("GET", "/", port: server.port)
      #expect(next?.status == 200)
    }
  }

  @Test("a truncated answer declares more than it sends")
  func truncated() async throws {
    let body = Data(repeating: 0x61, count: 20_001)
    try await withServer(handler: { _ in Response(contentType: "text/plain", body: body).truncated() }) { server in
      let answer = try await LoopbackClient.request("GET", "/", port: server.port)
      #expect(answer?["Content-Length"] == "20001")
      #expect(answer?.body.count == 10_000)
    }
  }

  @Test("a large answer arrives whole at a real client")
  func large() async throws {
    let body = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try await withServer(handler: { _ in Response(contentType: "application/octet-stream", body: body) }) { server in
      let url = try #require(URL(string: server.url))
      let (data, _) = try await URLSession.shared.data(from: url)
      #expect(data == body)
    }
  }

  @Test("a delayed answer waits for its time, while others are answered")
  func delayed() async throws {
    let timer = ManualTimer()
    var configuration = HTTPServer.Configuration()
    configuration.timer = timer
    configuration.heartbeat = nil
    configuration.headTimeout = nil
    configuration.bodyTimeout = nil
    try await withServer(
      configuration,
      handler: { request in
        var response = HTTPServerTests.echo(request)
        if request.path == "/late" { response.delay = .seconds(10) }
        return response
      }
    ) { server in
      let late = try LoopbackClient(port: server.port)
      try await late.send("GET /late HTTP/1.1\r\nHost: localhost:\(server.port)\r\nConnection: close\r\n\r\n")
      try await timer.waitForWork()
      for _ in 1...20 {
        #expect(try await LoopbackClient.request("GET", "/", port: server.port)?.status == 200)
      }
      timer.advance(by: .milliseconds(9999))
      #expect(try await LoopbackClient.request("GET", "/", port: server.port)?.status == 200)
      #expect(!late.isReadable)
      timer.advance(by: .milliseconds(1))
      #expect(Answer(try await late.receiveAll())?.text == "GET /late [] 0")
    }
  }

  // MARK: Events

  @Test("events arrive as they are sent, and the stream ends when it is closed")
  func events() async throws {
    let stream = EventStream()
    try await withServer(handler: { _ in .events(stream) }) { server in
      let client = try LoopbackClient(port: server.port)
      try await client.send("GET / HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n")
      let head = try await client.receive(until: ":\n\n")
      #expect(head.contains("Content-Type: text/event-stream\r\n"))
      #expect(head.contains("Cache-Control: no-store\r\n"))

      stream.send(event: "state", id: "1", data: "first")
      #expect(try await client.receive(until: "\n\n").contains("event: state\nid: 1\ndata: first\n\n"))
      stream.send(data: String(repeating: "x", count: 100_000))
      #expect(try await client.receive(until: "x\n\n").filter { $0 == "x" }.count == 100_000)
      stream.close()
      #expect(try await client.receive(until: "0\r\n\r\n").hasSuffix("0\r\n\r\n"))
    }
  }

  @Test("HEAD of a stream gets its headers, and the stream is over")
  func headOfEvents() async throws {
    let stream = EventStream()
    let closed = Signal()
    stream.onClose { closed.give() }
    try await withServer(handler: { _ in .events(stream) }) { server in
      let answer = try await LoopbackClient.request("HEAD", "/", port: server.port)
      #expect(answer?["Content-Type"] == "text/event-stream")
      #expect(answer?.body.isEmpty == true)
      try await closed.wait()
    }
  }

  @Test("a stream serves one request; another one with it is refused, and doesn't disturb the first")
  func sharedStream() async throws {
    let stream = EventStream()
    try await withServer(handler: { _ in .events(stream) }) { server in
      let client = try LoopbackClient(port: server.port)
      try await client.send("GET / HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n")
      _ = try await client.receive(until: ":\n\n")
      let second = try await LoopbackClient.request("GET", "/", port: server.port)
      #expect(second?.status == 500)
      stream.send(data: "still here")
      #expect(try await client.receive(until: "still here\n\n").contains("data: still here"))
    }
  }

  @Test("a client that goes away is noticed by the heartbeat, and others aren't disturbed")
  func deadClient() async throws {
    var configuration = HTTPServer.Configuration()
    configuration.heartbeat = .milliseconds(10)
    let streams = Locked<[String: EventStream]>([:])
    let closed = Signal()
    try await withServer(
      configuration,
      handler: { request in
        let stream = EventStream()
        if request.path == "/dead" { stream.onClose { closed.give() } }
        streams.withLock { $0[request.path] = stream }
        return .events(stream)
      }
    ) { server in
      func open(_ path: String) async throws -> LoopbackClient {
        let client = try LoopbackClient(port: server.port)
        try await client.send("GET \(path) HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n")
        _ = try await client.receive(until: ":\n\n")
        return client
      }
      let alive = try await open("/alive")
      _ = try await open("/dead")
      try await closed.wait()
      #expect(streams.withLock { $0["/dead"] }?.isClosed == true)
      #expect(streams.withLock { $0["/alive"] }?.send(data: "still here") == true)
      #expect(try await alive.receive(until: "still here\n\n").contains("data: still here"))
    }
  }

  @Test("a stream whose client doesn't read is broken off when its queue is full")
  func slowClient() async throws {
    let stream = EventStream(capacity: 10)
    let closed = Signal()
    stream.onClose { closed.give() }
    try await withServer(handler: { _ in .events(stream) }) { server in
      let client = try LoopbackClient(port: server.port)
      try await client.send("GET / HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n")
      _ = try await client.receive(until: ":\n\n")
      // Far more than the sockets' buffers hold, so that sending must come to an end.
      let event = String(repeating: "x", count: 1 << 20)
      var sent = 0
      while stream.send(data: event), sent < 10_000 { sent += 1 }
      #expect(stream.isClosed)
      #expect(sent < 10_000)
      _ = try await client.receiveAll()
      try await closed.wait()
    }
  }

  @Test("a hundred streams all get what is sent to all")
  func manyStreams() async throws {
    let streams = Locked<[EventStream]>([])
    try await withServer(handler: { _ in
      let stream = EventStream()
      streams.withLock { $0.append(stream) }
      return .events(stream)
    }) { server in
      var clients: [LoopbackClient] = []
      for _ in 1...100 {
        let client = try LoopbackClient(port: server.port)
        // To HTTP/1.0 the body is sent without chunks, which makes it easy to read.
        try await client.send("GET / HTTP/1.0\r\nHost: localhost:\(server.port)\r\n\r\n")
        _ = try await client.receive(until: ":\n\n")
        clients.append(client)
      }
      for number in 1...20 {
        for stream in streams.withLock({ $0 }) { stream.send(data: "\(number);") }
      }
      for client in clients {
        let text = try await client.receive(until: "20;\n\n")
        let numbers = text.split(separator: "\n").filter { $0.hasPrefix("data: ") }.map { $0.dropFirst(6) }
        #expect(numbers.map(String.init) == (1...20).map { "\($0);" })
      }
    }
  }

  // MARK: Limits for clients

  #if os(Linux)
    // Only here the machine has more than one address without being told so.
    @Test("clients of one address beyond its limit are hung up on; another address is served all the same")
    func addressLimit() async throws {
      var configuration = HTTPServer.Configuration()
      configuration.connectionLimitPerAddress = 2
      try await withServer(configuration) { server in
        let request = "GET / HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n"
        let idle = [try LoopbackClient(port: server.port), try LoopbackClient(port: server.port)]
        for client in idle {
          try await client.send(request)
          #expect(try await client.receive(until: "[] 0").contains("200 OK"))
        }
        let refused = try LoopbackClient(port: server.port)
        #expect(try await refused.receiveAll().isEmpty)
        let other = try LoopbackClient(port: server.port, from: "127.0.0.2")
        try await other.send(request)
        #expect(try await other.receive(until: "[] 0").contains("200 OK"))
        withExtendedLifetime(idle) {}
      }
    }

    @Test("one address cannot shut out all others, however few can be connected at all")
    func addressShare() async throws {
      var configuration = HTTPServer.Configuration()
      configuration.connectionLimit = 8
      try await withServer(configuration) { server in
        let request = "GET / HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n"
        let idle = try (1...6).map { _ in try LoopbackClient(port: server.port) }
        for client in idle {
          try await client.send(request)
          #expect(try await client.receive(until: "[] 0").contains("200 OK"))
        }
        let refused = try LoopbackClient(port: server.port)
        #expect(try await refused.receiveAll().isEmpty)
        let other = try LoopbackClient(port: server.port, from: "127.0.0.2")
        try await other.send(request)
        #expect(try await other.receive(until: "[] 0").contains("200 OK"))
        withExtendedLifetime(idle) {}
      }
    }
  #endif

  @Test("the limit for one address is at least one, and at most three quarters of all")
  func usableAddressLimit() {
    var configuration = HTTPServer.Configuration()
    #expect(configuration.usableConnectionLimitPerAddress <= configuration.usableConnectionLimit / 4 * 3)
    configuration.connectionLimitPerAddress = 10
    #expect(configuration.usableConnectionLimitPerAddress == 10)
    configuration.connectionLimitPerAddress = -1
    #expect(configuration.usableConnectionLimitPerAddress == 1)
    configuration.connectionLimit = 1
    configuration.connectionLimitPerAddress = 1_000
    #expect(configuration.usableConnectionLimitPerAddress == 1)
  }

  @Test("a client whose head takes too long is hung up on, though a byte of it comes now and then")
  func drippingHead() async throws {
    let timer = ManualTimer()
    var configuration = HTTPServer.Configuration()
    configuration.timer = timer
    configuration.headTimeout = .seconds(10)
    try await withServer(configuration) { server in
      let client = try LoopbackClient(port: server.port)
      try await client.send("GET / HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n")
      #expect(try await client.receive(until: "[] 0").contains("200 OK"))
      try await client.send("GET / HTTP/1.1\r\nX: ")
      // As often as it takes the server's own thread to see that the first request is over.
      for _ in 1...2_000 where !client.isReadable {
        timer.advance(by: .seconds(5))
        // Who was hung up on cannot send any more.
        try? await client.send("x")
      }
      #expect(client.isReadable)
      #expect(try await client.receiveAll().isEmpty)
    }
  }

  @Test("a head that takes its time is served, and so is the next on the same connection")
  func slowHead() async throws {
    let timer = ManualTimer()
    var configuration = HTTPServer.Configuration()
    configuration.timer = timer
    configuration.headTimeout = .seconds(10)
    try await withServer(configuration) { server in
      let client = try LoopbackClient(port: server.port)
      for _ in 1...4 {
        try await client.send("GET / HTTP/1.1\r\n")
        timer.advance(by: .seconds(5))
        try await client.send("Host: localhost:\(server.port)\r\n\r\n")
        #expect(try await client.receive(until: "[] 0").contains("200 OK"))
      }
    }
  }

  @Test("a client whose body takes too long is hung up on, though a byte of it comes now and then")
  func drippingBody() async throws {
    let timer = ManualTimer()
    var configuration = HTTPServer.Configuration()
    configuration.timer = timer
    configuration.headTimeout = nil
    configuration.bodyTimeout = .seconds(10)
    try await withServer(configuration) { server in
      let client = try LoopbackClient(port: server.port)
      try await client.send("POST / HTTP/1.1\r\nHost: localhost:\(server.port)\r\nContent-Length: 10000\r\n\r\n")
      // As often as it takes the server's own thread to see the head.
      for _ in 1...2_000 where !client.isReadable {
        timer.advance(by: .seconds(5))
        // Who was hung up on cannot send any more.
        try? await client.send("x")
      }
      #expect(client.isReadable)
      #expect(try await client.receiveAll().isEmpty)
    }
  }

  @Test("a body that takes its time is served, and so is the next on the same connection")
  func slowBody() async throws {
    let timer = ManualTimer()
    var configuration = HTTPServer.Configuration()
    configuration.timer = timer
    configuration.headTimeout = nil
    configuration.bodyTimeout = .seconds(10)
    try await withServer(configuration) { server in
      let client = try LoopbackClient(port: server.port)
      for _ in 1...4 {
        try await client.send("POST / HTTP/1.1\r\nHost: localhost:\(server.port)\r\nContent-Length: 2\r\n\r\na")
        timer.advance(by: .seconds(5))
        try await client.send("b")
        #expect(try await client.receive(until: "[] 2").contains("200 OK"))
      }
    }
  }

  @Test("who waits for an answer is not hung up on, however long it takes")
  func slowAnswer() async throws {
    let timer = ManualTimer()
    var configuration = HTTPServer.Configuration()
    configuration.timer = timer
    configuration.headTimeout = .seconds(10)
    let began = Signal()
    let mayAnswer = Signal()
    try await withServer(
      configuration,
      handler: { request in
        began.give()
        try? await mayAnswer.wait()
        return HTTPServerTests.echo(request)
      }
    ) { server in
      let client = try LoopbackClient(port: server.port)
      try await client.send("GET / HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n")
      try await began.wait()
      timer.advance(by: .seconds(3600))
      mayAnswer.give()
      #expect(try await client.receive(until: "[] 0").contains("200 OK"))
    }
  }
}
