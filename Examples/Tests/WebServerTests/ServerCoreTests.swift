import Foundation
import ServerTesting
import Testing
import WebServer

@Suite("Shutdown")
struct ServerCoreTests {
  private func send(_ target: String, to server: HTTPServer) async throws -> LoopbackClient {
    let client = try LoopbackClient(port: server.port)
    try await client.send("GET \(target) HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n")
    return client
  }

  @Test("streams are ended properly, after what was waiting in them")
  func openStreams() async throws {
    let streams = Locked<[EventStream]>([])
    let server = try HTTPServer(.init()) { _ in
      let stream = EventStream()
      streams.withLock { $0.append(stream) }
      return .events(stream)
    }
    var clients: [LoopbackClient] = []
    for _ in 1...3 {
      clients.append(try await send("/", to: server))
      _ = try await clients.last?.receive(until: ":\n\n")
    }
    for stream in streams.withLock({ $0 }) { stream.send(data: "last") }
    await server.stop()
    for client in clients {
      let text = String(decoding: try await client.receiveAll(), as: UTF8.self)
      #expect(text.contains("data: last\n\n"))
      #expect(text.hasSuffix("0\r\n\r\n"))
    }
  }

  @Test("an answer under way is finished, and new connections are refused")
  func answerUnderWay() async throws {
    let began = Signal()
    let mayAnswer = Signal()
    let server = try HTTPServer(.init()) { _ in
      began.give()
      try? await mayAnswer.wait()
      return Response(contentType: "text/plain", body: Data("finished".utf8))
    }
    let client = try await send("/", to: server)
    try await began.wait()
    async let stopped: Void = server.stop(within: LoopbackClient.deadline)
    mayAnswer.give()
    #expect(try await client.receive(until: "finished").hasSuffix("finished"))
    await stopped
    #expect(throws: LoopbackClient.Failure.self) { try LoopbackClient(port: server.port) }
  }

  @Test("what isn't ready at the deadline is cut off: a handler that hangs, and a delayed answer")
  func deadline() async throws {
    let timer = ManualTimer()
    var configuration = HTTPServer.Configuration()
    configuration.timer = timer
    configuration.heartbeat = nil
    configuration.headTimeout = nil
    configuration.bodyTimeout = nil
    let began = Signal()
    let server = try HTTPServer(configuration) { request in
      began.give()
      if request.path == "/hangs" {
        // Nothing ever comes; the wait ends by being cancelled.
        let nothing = AsyncStream<Void> { _ in }
        for await _ in nothing {}
        return Response()
      }
      var response = Response()
      response.delay = .seconds(3600)
      return response
    }
    let hanging = try await send("/hangs", to: server)
    let delayed = try await send("/delayed", to: server)
    try await began.wait()
    try await began.wait()
    try await timer.waitForWork()

    async let stopped: Void = server.stop(within: .seconds(5))
    try await timer.waitForWork()
    #expect(!hanging.isReadable)
    timer.advance(by: .seconds(5))
    await stopped
    #expect(try await hanging.receiveAll().isEmpty)
    #expect(try await delayed.receiveAll().isEmpty)
  }

  @Test("a client that doesn't read its stream doesn't hold up the shutdown beyond the deadline")
  func stuckStream() async throws {
    let timer = ManualTimer()
    var configuration = HTTPServer.Configuration()
    configuration.timer = timer
    configuration.heartbeat = nil
    configuration.headTimeout = nil
    configuration.bodyTimeout = nil
    let stream = EventStream()
    let server = try HTTPServer(configuration) { _ in .events(stream) }
    let client = try await send("/", to: server)
    _ = try await client.receive(until: ":\n\n")
    // More than the sockets' buffers hold.
    let event = String(repeating: "x", count: 1 << 20)
    for _ in 1...20 { stream.send(data: event) }
    async let stopped: Void = server.stop(within: .seconds(5))
    try await timer.waitForWork()
    timer.advance(by: .seconds(5))
    await stopped
    #expect(stream.isClosed)
  }

  @Test("a request on an old connection is refused while the server is stopping, and isn't begun")
  func requestWhileStopping() async throws {
    let began = Signal()
    let mayAnswer = Signal()
    let requests = Locked(0)
    let server = try HTTPServer(.init()) { request in
      requests.withLock { $0 += 1 }
      guard request.path == "/slow" else { return Response(contentType: "text/plain", body: Data("quick".utf8)) }
      began.give()
      try? await mayAnswer.wait()
      return Response()
    }
    let old = try await send("/", to: server)
    #expect(try await old.receive(until: "quick").hasSuffix("quick"))
    let slow = try await send("/slow", to: server)
    try await began.wait()
    async let stopped: Void = server.stop(within: LoopbackClient.deadline)
    // New connections are refused only after the stop has begun.
    while (try? LoopbackClient(port: server.port)) != nil { await Task.yield() }
    try await old.send("GET /again HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n")
    #expect(Answer(try await old.receiveAll())?.status == 503)
    mayAnswer.give()
    await stopped
    #expect(requests.withLock { $0 } == 2)
    _ = slow
  }

  @Test("stopping twice, at once or later, does nothing more")
  func twice() async throws {
    let server = try HTTPServer(.init()) { _ in Response() }
    async let first: Void = server.stop()
    async let second: Void = server.stop()
    _ = await (first, second)
    await server.stop()
    #expect(throws: LoopbackClient.Failure.self) { try LoopbackClient(port: server.port) }
  }

  @Test("a stopped server's port is free for the next one")
  func again() async throws {
    let first = try HTTPServer(.init()) { _ in Response() }
    _ = try await LoopbackClient.request("GET", "/", port: first.port)
    await first.stop()
    let second = try HTTPServer(.init(port: first.port)) { _ in Response() }
    #expect(try await LoopbackClient.request("GET", "/", port: second.port)?.status == 200)
    await second.stop()
  }

  @Test("a server that is let go of without being stopped stops by itself, with its streams")
  func letGo() async throws {
    let closed = Signal()
    var server: HTTPServer? = try HTTPServer(.init()) { _ in
      let stream = EventStream()
      stream.onClose { closed.give() }
      return .events(stream)
    }
    let client = try await send("/", to: try #require(server))
    _ = try await client.receive(until: ":\n\n")
    server = nil
    try await closed.wait()
    _ = try await client.receiveAll()
  }

  @Test("stopping under fire neither crashes nor hangs", arguments: 1...5)
  func underFire(round: Int) async throws {
    let server = try HTTPServer(.init()) { request in
      request.path == "/events" ? .events(EventStream()) : Response(contentType: "text/plain", body: Data("ok".utf8))
    }
    let port = server.port
    await withTaskGroup(of: Void.self) { group in
      for client in 1...8 {
        group.addTask {
          for number in 1...30 {
            let target = (client + number + round).isMultiple(of: 3) ? "/events" : "/"
            // The server stops in the midst of these, so that any of them may fail.
            guard let connection = try? LoopbackClient(port: port) else { return }
            try? await connection.send("GET \(target) HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n")
            _ = try? await connection.receive(until: target == "/events" ? ":\n\n" : "ok")
          }
        }
      }
      group.addTask {
        for _ in 1...round { _ = try? await LoopbackClient.request("GET", "/", port: port) }
        await server.stop(within: .milliseconds(200))
      }
    }
    #expect(throws: LoopbackClient.Failure.self) { try LoopbackClient(port: port) }
  }
}
