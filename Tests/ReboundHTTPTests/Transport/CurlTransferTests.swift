import Expectations

#if Curl
  import Foundation
  import ReboundHTTP
  import ReboundHTTPTesting
  import ReboundTesting
  import Testing

  @Suite("Transfers of libcurl", .timeLimit(.minutes(10)))
  struct CurlTransferTests {
    private static func order(_ url: URL, _ limits: TransportLimits = .none) -> TransportRequest {
      TransportRequest(url, method: .post, body: .data(Data("order".utf8)), limits: limits)
    }

    @Test(
      "a connection that breaks within the handshake proves that nothing was sent",
      arguments: [Fault.resetInHandshake, .closeInHandshake, .alertInHandshake, .plainAnswerToTLS]
    )
    func handshake(fault: Fault) async throws {
      let server = try MisbehavingServer()
      server.programConnections(then: fault)
      let log = await CurlTransport().outcome(of: Self.order(server.url(scheme: "https")))
      expectEqual(log.failure?.isUnsent, true)
      expectEqual(log.failure?.provesNothingWasSent, true)
      expectEqual(log.failure?.isTransient, true)
    }

    @Test(
      "over a kept connection that is closed, what says that it is not idempotent is not sent again, whatever its method",
      arguments: [Idempotency.byMethod, .notIdempotent]
    )
    func notIdempotent(idempotency: Idempotency) async throws {
      let server = try MisbehavingServer()
      server.program("/", .answer(), .emptyReply, .answer())
      let client = WebAPIClient(baseURL: server.url(), transport: CurlTransport(), deliveringOn: nil)
      let request = Anything(idempotency: idempotency)
      _ = try await client.value(of: request)
      var kind: NetworkFailure.Kind?
      do throws(NetworkFailure) { _ = try await client.value(of: request) } catch { kind = error.kind }
      expectEqual(kind, idempotency == .byMethod ? nil : .transport(.reset))
      expectEqual(server.requests.count, idempotency == .byMethod ? 3 : 2)
    }

    @Test(
      "a server that refuses the expectation has answered: nothing is sent again",
      arguments: [HTTPMethod.post, .put]
    )
    func refusedExpectation(method: HTTPMethod) async throws {
      let server = try MisbehavingServer()
      server.program("/", Fault("417", at: .head, [.send(Fault.head(417, length: 0))]), .answer())
      let client = WebAPIClient(baseURL: server.url(), transport: CurlTransport(), deliveringOn: nil)
      let body = RequestBody.data(Data(count: 100_000), contentType: "text/plain")
      let failure = await #expect(throws: NetworkFailure.self) {
        try await client.value(of: Anything(method: method, headers: ["Expect": "100-continue"], body: body))
      }
      expectEqual(failure?.kind, .clientError(417))
      expectEqual(server.requests.count, 1)
    }

    @Test("requests that follow one another over a connection ask for what each of them names, and for no more")
    func targets() async throws {
      let server = try MisbehavingServer()
      let targets = [
        "/a", "/b?c=d", "/b?", "/a/../b", "//a", "/%2e/%41", "/me@host", "/a", "", "?c=/d", "/a#b", "/a?b#c/d", "/b",
      ]
      let expected = [
        "/a", "/b?c=d", "/b?", "/a/../b", "//a", "/%2e/%41", "/me@host", "/a", "/", "/?c=/d", "/a", "/a?b", "/b",
      ]
      for path in Set(expected.map { String($0.prefix { $0 != "?" }) }) { server.program(path, .answer()) }
      let transport = CurlTransport()
      for target in targets {
        #expect(await transport.outcome(of: TransportRequest(server.url(target), limits: .none)).failure == nil)
      }
      expectEqual(server.requests.map(\.target), expected)
      expectEqual(server.connectionCount, 1)
    }

    @Test("a name and a password in an address are for that request alone")
    func users() async throws {
      let server = try MisbehavingServer()
      server.program("/", .answer())
      let transport = CurlTransport()
      for host in ["127.0.0.1", "me:secret@127.0.0.1", "127.0.0.1"] {
        _ = await transport.outcome(of: TransportRequest(server.url(host: host), limits: .none))
      }
      expectEqual(server.requests.map { $0[field: "Authorization"] }, [nil, "Basic bWU6c2VjcmV0", nil])
    }

    @Test("the codings that are asked for are named once, and are the caller's where there is one that says so")
    func codingsAreNamedOnce() async throws {
      let server = try MisbehavingServer()
      server.program("/", .answer())
      let transport = CurlTransport()
      for headers: HTTPHeaders in [[:], ["Accept-Encoding": "identity"], ["X-A": "b"]] {
        _ = await transport.outcome(of: TransportRequest(server.url(), headers: headers, limits: .none))
      }
      let codings = server.requests.map { $0.fields.filter { $0.name.lowercased() == "accept-encoding" }.map(\.value) }
      expectEqual(codings.map(\.count), [1, 1, 1])
      expectEqual(codings[1], ["identity"])
      expectEqual(codings[0], codings[2])
    }

    @Test("one transport asks many servers in turns, each under its own name")
    func manyServers() async throws {
      let servers = try (0..<3).map { _ in try MisbehavingServer() }
      for server in servers { server.program("/", .answer()) }
      let transport = CurlTransport()
      for round in 0..<3 {
        for server in servers {
          // The name of the host is not asked of anybody.
          let host = round == 1 ? "localhost" : "127.0.0.1"
          #expect(await transport.outcome(of: TransportRequest(server.url(host: host), limits: .none)).failure == nil)
        }
      }
      for server in servers {
        let port = try #require(server.url().port)
        expectEqual(
          server.requests.map { $0[field: "Host"] },
          ["127.0.0.1", "localhost", "127.0.0.1"].map { "\($0):\(port)" }
        )
      }
    }

    @Test(
      "a length that somebody else gives is not sent: what is behind it would be another request to the server",
      arguments: [("Content-Length", "5"), ("content-length", "20"), ("Transfer-Encoding", "chunked")]
    )
    func framing(name: String, value: String) async throws {
      let server = try MisbehavingServer()
      server.program("/", .answer())
      let transport = CurlTransport()
      for body in [TransportBody.data(Data("0123456789".utf8)), .none] {
        var request = TransportRequest(server.url(), method: .post, body: body)
        request.headers[name] = value
        #expect(await transport.outcome(of: request).failure == nil)
      }
      expectEqual(server.requests.map(\.method), ["POST", "POST"])
      expectEqual(server.requests.map { $0[field: "Content-Length"] }, ["10", "0"])
      expectEqual(server.requests.map(\.body.count), [10, 0])
    }

    @Test("the parts of an exchange are timed in their order; over a kept connection, only the answer")
    func timings() async throws {
      let server = try MisbehavingServer()
      server.program("/", .answer())
      let transport = CurlTransport()
      var request = TransportRequest(server.url(), limits: .none)
      request.wantsTimings = true
      let answers = [await transport.outcome(of: request), await transport.outcome(of: request)]
      let first = try #require(answers[0].heads.first?.timings)
      let moments = [first.nameLookup, first.connect, first.firstByte]
      #expect(moments.allSatisfy { $0.map { $0 >= .zero } ?? false }, "\(first)")
      expectEqual(moments.compactMap { $0 }, moments.compactMap { $0 }.sorted(), "\(first)")
      #expect(first.tls == nil)
      let second = try #require(answers[1].heads.first?.timings)
      expectEqual(server.connectionCount, 1)
      expectEqual([second.nameLookup, second.connect, second.tls], [nil, nil, nil])
      #expect(second.firstByte.map { $0 >= .zero } ?? false)
    }

    @Test("the handshake of TLS is timed between the connection and the answer")
    func timingsOfTLS() async throws {
      let server = try await SecureFrameServer.start([.head, .data("ok", isLast: true)])
      var request = TransportRequest(try server.url(), limits: .none)
      request.wantsTimings = true
      let log = await (try CurlOriginTests.transport()).outcome(of: request)
      let timings = try #require(log.heads.first?.timings)
      let moments = [try #require(timings.connect), try #require(timings.tls), try #require(timings.firstByte)]
      expectEqual(moments, moments.sorted(), "\(timings)")
    }

    @Test("nothing is timed that nobody asks for")
    func noTimings() async throws {
      let server = try MisbehavingServer()
      server.program("/", .answer())
      let log = await CurlTransport().outcome(of: TransportRequest(server.url()))
      expectEqual(log.heads.count, 1)
      #expect(log.heads.first?.timings == nil)
    }

    @Test("a limit that passes within the handshake proves that nothing was sent")
    func limitInHandshake() async throws {
      let server = try MisbehavingServer()
      server.programConnections(then: .stallInHandshake)
      let scheduler = TestScheduler()
      let log = TransportLog()
      let request = Self.order(server.url(scheme: "https"), TransportLimits(total: .seconds(5)))
      let exchange = CurlTransport(time: scheduler.time).start(request, telling: log.add)
      await server.stallsReached()
      scheduler.advance(by: 5)
      await log.end()
      expectEqual(log.failure?.kind, .timeout(.total))
      expectEqual(log.failure?.provesNothingWasSent, true)
      exchange.cancel()
    }

    @Test(
      "a connection that breaks behind it proves nothing",
      arguments: [Fault.resetOnAccept, .closeOnAccept, .emptyReply, .resetBeforeHead]
    )
    func request(fault: Fault) async throws {
      let server = try MisbehavingServer()
      if fault.isOfConnection { server.programConnections(then: fault) } else { server.program("/", fault) }
      let log = await CurlTransport().outcome(of: TransportRequest(server.url(), method: .post))
      expectEqual(log.failure?.kind, .reset)
      expectEqual(log.failure?.isUnsent, false)
      expectEqual(log.failure?.provesNothingWasSent, false)
    }

    @Test("a file that shrinks while it is sent is a body that cannot be read, and nothing is waited for")
    func shrinkingFile() async throws {
      let server = try MisbehavingServer()
      server.program("/", Fault("slow", at: .request, [.stall, .readBody]))
      let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).txt")
      defer { try? FileManager.default.removeItem(at: file) }
      // More than the system's buffers hold, so that the end of it is read once the server goes on.
      try Data(count: 20_000_000).write(to: file)
      let (transport, log) = (CurlTransport(), TransportLog())
      let request = TransportRequest(server.url(), method: .put, body: .file(file), limits: .none)
      let exchange = transport.start(request, telling: log.add)
      await server.stallsReached()
      let handle = try FileHandle(forWritingTo: file)
      try handle.truncate(atOffset: 10_000_000)
      try handle.close()
      server.goOn()
      await log.end()
      exchange.cancel()
      expectEqual(log.failure?.kind, .body)
      let next = await transport.outcome(of: TransportRequest(server.url("/next"), limits: .none))
      expectEqual(next.heads.first?.status, 404)
    }

    @Test("a request takes nothing over from those before it on its transport")
    func handleUsedAgain() async throws {
      let server = try MisbehavingServer()
      server.program("/", .answer(), .answer(), .answer(), .answer(), .answer())
      let (transport, url) = (CurlTransport(), server.url())
      let identity: HTTPHeaders = ["Accept-Encoding": "identity"]
      let requests = [
        TransportRequest(url, headers: ["X-First": "1"]), TransportRequest(url, headers: ["X-Second": "2"]),
        Self.order(url), TransportRequest(url, headers: identity), TransportRequest(url),
      ]
      for request in requests { await expectEqual(transport.outcome(of: request).heads.first?.status, 200) }
      let received = server.requests
      expectEqual(received.map(\.method), ["GET", "GET", "POST", "GET", "GET"])
      expectEqual(received.map(\.body.count), [0, 0, 5, 0, 0])
      expectEqual(received.map { $0[field: "X-First"] }, ["1", nil, nil, nil, nil])
      expectEqual(received.map { $0[field: "X-Second"] }, [nil, "2", nil, nil, nil])
      expectEqual(received.map { $0[field: "Accept-Encoding"] == "identity" }, [false, false, false, true, false])
    }

    // MARK: Codings

    private static func coded(_ coding: String, _ body: [UInt8]) -> Fault {
      let head = Fault.head(length: body.count, fields: ["Content-Encoding: \(coding)"])
      return Fault(coding, at: .body, [.readBody, .send(head), .send(body)])
    }

    /// So many zero bytes in Zstandard: blocks of one byte and how often it comes (RFC 8878 §3.1.1.2).
    private static func zstandardZeros(blocks: Int) -> [UInt8] {
      let length = 131_072
      let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x38]
      return frame
        + (1...blocks).flatMap { block -> [UInt8] in
          let header = (block == blocks ? 1 : 0) | 1 << 1 | length << 3
          return (0..<3).map { (place: Int) in UInt8(header >> (8 * place) & 0xFF) } + [0]
        }
    }

    @Test("whatever coding libcurl asks for is undone")
    func codings() async throws {
      let server = try MisbehavingServer()
      // A meta-block that is not compressed, and the empty last one (RFC 7932 §9.2).
      server.program("/", Self.coded("br", [0x10, 0x00, 0x10] + Array("ok".utf8) + [0x03]))
      let brotli = await CurlTransport().outcome(of: TransportRequest(server.url()))
      #expect(brotli.failure == nil && brotli.body == Data("ok".utf8))
      server.program("/", Self.coded("zstd", Self.zstandardZeros(blocks: 3)))
      let zstandard = await CurlTransport().outcome(of: TransportRequest(server.url()))
      #expect(zstandard.failure == nil && zstandard.body == Data(count: 3 * 131_072))
      let asked = server.requests.compactMap { $0[field: "Accept-Encoding"] }
      #expect(asked.count == 2 && asked.allSatisfy { $0.contains("br") && $0.contains("zstd") && $0.contains("gzip") })
    }

    @Test(
      "the limit of an answer's size counts what comes out of the coding, a gigabyte of it",
      arguments: ["zstd", "gzip"]
    )
    func bombs(coding: String) async throws {
      let server = try MisbehavingServer()
      if coding == "gzip" {
        server.program("/", .gzipBomb(of: 1 << 30))
      } else {
        server.program("/", Self.coded(coding, Self.zstandardZeros(blocks: 8_192)))
      }
      let request = TransportRequest(server.url(), limits: TransportLimits(responseBytes: 100_000))
      let log = await CurlTransport().outcome(of: request)
      expectEqual(log.failure?.kind, .tooLarge)
      #expect(log.body.count <= 100_000)
    }
  }
#endif
