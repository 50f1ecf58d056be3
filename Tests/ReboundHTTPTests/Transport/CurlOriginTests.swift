import Expectations

#if Curl
  import Foundation
  import ReboundHTTPTesting
  import ReboundHTTP
  import ReboundTesting
  import Testing

  @Suite("HTTP/2 over libcurl", .timeLimit(.minutes(10)))
  struct CurlOriginTests {
    static func transport(maxRequestsPerHost: Int = 100) throws -> CurlTransport {
      var configuration = try CurlTransport.Configuration.trustingTests()
      configuration.maxRequestsPerHost = maxRequestsPerHost
      return CurlTransport(configuration)
    }

    /// Sends many requests at once, and waits for all.
    static func outcomes(of count: Int, _ request: TransportRequest, on transport: CurlTransport) async
      -> [TransportLog]
    {
      let logs = (0..<count).map { _ in TransportLog() }
      let exchanges = logs.map { transport.start(request, telling: $0.add) }
      for log in logs { await log.end() }
      for exchange in exchanges { exchange.cancel() }
      return logs
    }

    static func outcomes(of count: Int, _ url: URL, on transport: CurlTransport) async -> [TransportLog] {
      // Without limits: how many handshakes a busy machine does in ten seconds is not what is asked.
      await outcomes(of: count, TransportRequest(url, limits: .none), on: transport)
    }

    static func connections(_ logs: [TransportLog]) -> Set<String> {
      Set(logs.compactMap { $0.heads.first?.headers["X-Connection"] })
    }

    @Test("requests at the same time share one connection, from the first on")
    func sharing() async throws {
      let server = try await NginxServer.start()
      let transport = try Self.transport()
      let logs = await Self.outcomes(of: 100, try server.url(), on: transport)
      #expect(logs.allSatisfy { $0.heads.first?.status == 200 })
      expectEqual(Set(logs.map { $0.heads.first?.headers["X-Protocol"] }), ["HTTP/2.0"])
      expectEqual(Set(logs.map { $0.heads.first?.httpVersion }), ["HTTP/2"])
      expectEqual(Self.connections(logs).count, 1)
    }

    @Test("streams of one connection ask for what each of them names")
    func targets() async throws {
      let server = try await NginxServer.start()
      let transport = try Self.transport()
      for target in ["/a?b=c", "/d", "/a/../e", "/", "/a?", "/a?b=c"] {
        let log = await transport.outcome(of: TransportRequest(try server.url(target), limits: .none))
        expectEqual(log.heads.first?.headers["X-Target"], "127.0.0.1 \(target)")
        expectEqual(log.heads.first?.httpVersion, "HTTP/2")
      }
    }

    @Test("a server without HTTP/2 gets a connection for each, up to the limit")
    func withoutHTTP2() async throws {
      let server = try await NginxServer.start(protocols: "")
      let transport = try Self.transport(maxRequestsPerHost: 4)
      let logs = await Self.outcomes(of: 60, try server.url(), on: transport)
      #expect(logs.allSatisfy { $0.heads.first?.status == 200 })
      expectEqual(Set(logs.map { $0.heads.first?.httpVersion }), ["HTTP/1.1"])
      #expect((1...4).contains(Self.connections(logs).count))
    }

    @Test("who waits for a connection in the making makes one when the first gives up")
    func nextLeader() async throws {
      let server = try MisbehavingServer()
      server.programConnections(then: .stallInHandshake)
      var configuration = CurlTransport.Configuration()
      configuration.proxy = .none
      let transport = CurlTransport(configuration)
      let request = TransportRequest(server.url(scheme: "https"), limits: .none)
      let exchanges = (0..<3).map { _ in transport.start(request) { _ in } }
      for count in 1...3 {
        await server.stallsReached(count)
        expectEqual(server.connectionCount, count)
        exchanges[count - 1].cancel()
      }
      await server.connectionsEnded(3)
    }

    @Test("who waits for a connection in the making keeps its own limits")
    func waitingLimit() async throws {
      let server = try MisbehavingServer()
      server.programConnections(then: .stallInHandshake)
      let scheduler = TestScheduler()
      var configuration = CurlTransport.Configuration()
      configuration.proxy = .none
      let transport = CurlTransport(configuration, time: scheduler.time)
      let patient = transport.start(TransportRequest(server.url(scheme: "https"), limits: .none)) { _ in }
      let log = TransportLog()
      let limits = TransportLimits(connect: .seconds(10))
      let hasty = transport.start(TransportRequest(server.url(scheme: "https"), limits: limits), telling: log.add)
      await server.stallsReached()
      scheduler.advance(by: 10)
      await log.end()
      expectEqual(log.failure?.kind, .timeout(.connect))
      expectEqual(server.connectionCount, 1)
      patient.cancel()
      hasty.cancel()
    }

    @Test("who waits for its turn and gives up is let go of while others go on", arguments: [false, true])
    func waitingLetGo(isLimit: Bool) async throws {
      final class Witness: Sendable {}
      let (busy, other) = (try MisbehavingServer(), try MisbehavingServer())
      busy.program("/", .stallAfterHead, .answer())
      other.program("/", .answer())
      let scheduler = TestScheduler()
      let transport = CurlTransport(maxRequestsPerHost: 1, time: scheduler.time)
      let endless = transport.start(TransportRequest(busy.url(), limits: .none)) { _ in }
      await busy.stallsReached()
      let (living, limits) = (LivingObjects(), TransportLimits(connect: .seconds(3)))
      let logs = (0..<10).map { _ in TransportLog() }
      let exchanges = logs.map { log in
        let witness = Witness()
        living.watch(witness)
        let body = BodyStream { withExtendedLifetime(witness) { PiecewiseReader(count: 1, piece: 1) } }
        let request = TransportRequest(busy.url(), method: .post, body: .stream(body), limits: limits)
        return transport.start(request, telling: log.add)
      }
      expectEqual(living.count, 10)
      if isLimit {
        scheduler.advance(by: 3)
        for log in logs { await log.end() }
      } else {
        for exchange in exchanges { exchange.cancel() }
      }
      // One thread does what it is told, in order.
      let behind = await transport.outcome(of: TransportRequest(other.url(), limits: .none))
      expectEqual(behind.heads.first?.status, 200)
      expectEqual(living.count, 0)
      // Whoever asks now has its turn next.
      let log = TransportLog()
      let next = transport.start(TransportRequest(busy.url(), limits: .none), telling: log.add)
      endless.cancel()
      await log.end()
      expectEqual(log.heads.first?.status, 200)
      expectEqual(busy.requests.count, 2)
      next.cancel()
    }

    @Test("a server that ends its connections in order loses no request")
    func goAway() async throws {
      let server = try await NginxServer.start("keepalive_requests 10;")
      let transport = try Self.transport(maxRequestsPerHost: 25)
      let logs = await Self.outcomes(of: 200, try server.url(), on: transport)
      #expect(logs.compactMap(\.failure).isEmpty)
      #expect(logs.allSatisfy { $0.body == Data("hello".utf8) })
      #expect(Self.connections(logs).count >= 8)
    }

    @Test("orders that a server lets go with their connection fail, and none of those known not to be processed was")
    func goAwayFromOrders() async throws {
      let server = try await NginxServer.start("keepalive_requests 10;")
      let transport = try Self.transport(maxRequestsPerHost: 25)
      let body = TransportBody.data(Data("order".utf8))
      let request = TransportRequest(try server.url(), method: .post, body: body, limits: .none)
      let logs = await Self.outcomes(of: 200, request, on: transport)
      let answered = logs.filter { $0.failure == nil }
      let failures = logs.compactMap(\.failure)
      #expect(answered.allSatisfy { $0.heads.first?.status == 200 })
      #expect(failures.allSatisfy { $0.kind == .reset && !$0.provesNothingWasSent })
      let unprocessedCount = failures.filter(\.provesNothingWasDone).count
      // The one that asks for the count is among them.
      let processedCount = try await server.requestCount() - 1
      #expect((answered.count...200 - unprocessedCount).contains(processedCount))
    }

    @Test("20 MB go up and down at once, byte for byte")
    func flowControl() async throws {
      let server = try await NginxServer.start()
      let transport = try Self.transport()
      let large = try Data(contentsOf: TestCertificates.file("large"))
      let (up, down) = (TransportLog(), TransportLog())
      let put = TransportRequest(
        try server.url("/files/copy"),
        method: .put,
        body: .file(try TestCertificates.file("large"))
      )
      let exchanges = [
        transport.start(put, telling: up.add),
        transport.start(TransportRequest(try server.url("/large")), telling: down.add),
      ]
      await up.end()
      await down.end()
      for exchange in exchanges { exchange.cancel() }
      expectEqual(up.heads.first?.status, 201)
      expectEqual(up.sent.last, Int64(NginxServer.largeCount))
      expectEqual(down.body, large)
      try expectEqual(Data(contentsOf: server.folder.appending(path: "files/copy")), large)
      expectEqual(Self.connections([up, down]).count, 1)
    }

    @Test("a pause makes the server wait for one stream, not for the others")
    func pause() async throws {
      let server = try await NginxServer.start()
      let transport = try Self.transport()
      let log = TransportLog()
      let cell = ExchangeCell()
      let exchange = transport.start(TransportRequest(try server.url("/large"), limits: .none)) { event in
        log.add(event)
        if case .head = event { cell.pause() }
      }
      cell.set(exchange)
      await log.until { !$0.isEmpty }
      let others = await Self.outcomes(of: 10, try server.url(), on: transport)
      expectEqual(Self.connections(others + [log]).count, 1)
      expectEqual(log.events.count, 1)
      exchange.resume()
      await log.end()
      expectEqual(log.body.count, NginxServer.largeCount)
    }

    @Test("the cancel of one stream leaves the connection to the others")
    func cancel() async throws {
      let server = try await NginxServer.start()
      let transport = try Self.transport()
      let slow = TransportLog()
      let exchange = transport.start(TransportRequest(try server.url("/slow"), limits: .none), telling: slow.add)
      await slow.until { $0.count >= 2 }
      let large = TransportLog()
      let other = transport.start(TransportRequest(try server.url("/large"), limits: .none), telling: large.add)
      await large.until { !$0.isEmpty }
      exchange.cancel()
      await large.end()
      let later = await Self.outcomes(of: 10, try server.url(), on: transport)
      other.cancel()
      expectEqual(large.body.count, NginxServer.largeCount)
      #expect(!slow.isOver)
      expectEqual(Self.connections(later + [slow, large]).count, 1)
    }

    @Test("a stream that the server resets is a connection broken off")
    func reset() async throws {
      let server = try await NginxServer.start("location = /reset { return 444; }")
      let log = try await Self.transport().outcome(of: try server.url("/reset"))
      expectEqual(log.failure?.kind, .reset)
      expectEqual(log.failure?.provesNothingWasSent, false)
    }

    @Test("a stream that the server resets within the body is an answer without its end")
    func truncated() async throws {
      let backend = try MisbehavingServer()
      backend.program("/cut", .closeInBody)
      let server = try await NginxServer.start("location = /cut { proxy_pass http://127.0.0.1:\(backend.port); }")
      let transport = try Self.transport()
      let log = await transport.outcome(of: try server.url("/cut"))
      expectEqual(log.failure?.kind, .truncated)
      let after = await transport.outcome(of: try server.url())
      expectEqual(Self.connections([log, after]).count, 1)
    }

    @Test("a host that is an IPv6 address is a host like any other")
    func addressOfIPv6() async throws {
      let port = try FreePort.draw()
      let server = try await NginxServer.start("listen [::1]:\(port) ssl http2;")
      let url = try #require(URL(string: "https://[::1]:\(port)/"))
      var configuration = CurlTransport.Configuration()
      configuration.certificateAuthorities = try .only(TestCertificates.file("ca.pem"))
      configuration.proxy = .none
      let log = await CurlTransport(configuration).outcome(of: url)
      expectEqual(log.body, Data("hello".utf8), "\(String(describing: log.failure))")
      expectEqual(log.heads.first?.headers["X-Protocol"], "HTTP/2.0")
      server.stop()
    }
  }
#endif
