import Expectations

#if Curl
  import Combine
  import Foundation
  import ReboundHTTPTesting
  import ReboundTesting
  import Testing

  @testable import ReboundHTTP

  @Suite("pins", .timeLimit(.minutes(10)))
  struct CurlPinsTests {
    typealias PinnedHost = CurlTransport.PinnedHost

    static let some = String(repeating: "A", count: 43) + "="

    static func transport(_ hosts: PinnedHost...) throws -> CurlTransport {
      var configuration = try CurlTransport.Configuration.trustingTests()
      configuration.pinnedHosts = hosts
      return CurlTransport(configuration)
    }

    @Test("the right pin passes, and so does one in reserve", arguments: [0, 1])
    func right(position: Int) async throws {
      let server = try await NginxServer.start()
      var pins = [try PublicKeyPin(TestCertificates.pin("reserve"))]
      pins.insert(try PublicKeyPin(TestCertificates.pin()), at: position)
      let log = try await Self.transport(try PinnedHost("127.0.0.1", pins: pins)).outcome(of: try server.url())
      expectEqual(log.heads.first?.status, 200)
    }

    @Test("a wrong pin is refused before anything of the request is sent", arguments: [HTTPMethod.get, .post])
    func wrong(method: HTTPMethod) async throws {
      let server = try await NginxServer.start()
      let transport = try Self.transport(
        PinnedHost("127.0.0.1", pins: [PublicKeyPin(TestCertificates.pin("reserve"))])
      )
      let body = method == .post ? TransportBody.data(Data("secret".utf8)) : .none
      for _ in 0..<3 {
        let log = await transport.outcome(of: TransportRequest(try server.url(), method: method, body: body))
        let failure = try #require(log.failure)
        expectEqual(failure.kind, .tls(.notPinned))
        expectEqual(failure.bytesSent, 0)
        #expect(failure.provesNothingWasSent)
        #expect(!failure.isTransient)
        expectEqual(failure.detail?.contains("127.0.0.1"), true)
      }
      try await expectEqual(server.requestCount(), 1)
    }

    @Test("a pin does not make up for a certificate that is not trusted")
    func untrusted() async throws {
      let server = try await NginxServer.start()
      var configuration = CurlTransport.Configuration()
      configuration.proxy = .none
      configuration.pinnedHosts = [try PinnedHost("127.0.0.1", pins: [PublicKeyPin(TestCertificates.pin())])]
      let log = await CurlTransport(configuration).outcome(of: try server.url())
      expectEqual(log.failure?.kind, .tls(.untrusted))
    }

    @Test("a connection that was made for a host without pins is not used for one with pins")
    func reuse() async throws {
      let server = try await NginxServer.start()
      let transport = try Self.transport(
        PinnedHost("localhost", pins: [PublicKeyPin(TestCertificates.pin("reserve"))])
      )
      await expectEqual(transport.outcome(of: try server.url()).heads.first?.status, 200)
      let log = await transport.outcome(of: try server.url(host: "localhost"))
      expectEqual(log.failure?.kind, .tls(.notPinned))
    }

    @Test("a redirect is held to the pins of the host to which it leads", arguments: [true, false])
    func redirect(isRight: Bool) async throws {
      let server = try await NginxServer.start()
      let transport = try Self.transport(
        PinnedHost("127.0.0.1", pins: [PublicKeyPin(TestCertificates.pin())]),
        PinnedHost("localhost", pins: [PublicKeyPin(TestCertificates.pin(isRight ? "server" : "reserve"))])
      )
      let client = WebAPIClient(
        baseURL: try server.url(),
        transport: transport,
        middleware: [Retrying(.http)],
        deliveringOn: nil
      )
      if isRight {
        try await expectEqual(client.value(of: Anything(path: "moved")), Data("hello".utf8))
      } else {
        let failure = await #expect(throws: NetworkFailure.self) { try await client.value(of: Anything(path: "moved")) }
        expectEqual(failure?.kind, .transport(.tls(.notPinned)))
        expectEqual(failure?.call.attempt, 1)
        try await expectEqual(server.requestCount(), 2)
      }
    }

    @Test("a host with pins is never asked in the clear")
    func clear() async throws {
      let server = try MisbehavingServer()
      server.program("/", .answer())
      var configuration = CurlTransport.Configuration()
      configuration.proxy = .none
      configuration.pinnedHosts = [try PinnedHost("127.0.0.1", pins: [PublicKeyPin(Self.some)])]
      let log = await CurlTransport(configuration).outcome(of: server.url())
      expectEqual(log.failure?.kind, .tls(.notPinned))
      expectEqual(log.failure?.detail, "127.0.0.1 has pins, so it is asked over https only")
      expectEqual(server.connectionCount, 0)
    }

    @Test("pins hold in the tunnel of a proxy", arguments: ["server", "reserve"])
    func tunnel(key: String) async throws {
      let server = try await NginxServer.start()
      let proxy = try ForwardProxy()
      var configuration = try CurlTransport.Configuration.trustingTests()
      configuration.proxy = try .server("127.0.0.1", port: proxy.port)
      configuration.pinnedHosts = [try PinnedHost("127.0.0.1", pins: [PublicKeyPin(TestCertificates.pin(key))])]
      let log = await CurlTransport(configuration).outcome(of: try server.url())
      expectEqual(log.heads.first?.status, key == "server" ? 200 : nil)
      expectEqual(log.failure?.kind, key == "server" ? nil : .tls(.notPinned))
      expectEqual(proxy.requests.map(\.method), ["CONNECT"])
    }

    @Test(
      "a pin that is none is refused when it is made",
      arguments: [
        "", "A", "not base64 at all!", String(repeating: "A", count: 44), String(repeating: "A", count: 42) + "==",
        String(repeating: "A", count: 42) + "B=", some + "\n", "sha1/" + some, "sha256///" + some, "/etc/keys.pem",
      ]
    )
    func malformed(text: String) {
      #expect(throws: InvalidPin.malformed(text)) { try PublicKeyPin(text) }
    }

    @Test("a pin is read as tools write it", arguments: ["", "sha256/", "sha256//"])
    func prefixes(prefix: String) throws {
      #expect(try PublicKeyPin(prefix + Self.some).description == "sha256//\(Self.some)")
    }

    @Test(
      "a host that is none is refused when it is pinned",
      arguments: [
        "", "https://api.example", "api.example/v1", "api.example:443", "bücher.example", "a@b", "*.example", ":",
      ]
    )
    func hosts(text: String) throws {
      let pin = try PublicKeyPin(Self.some)
      #expect(throws: InvalidPin.host(text)) { try PinnedHost(text, pins: [pin]) }
    }

    @Test("a host without pins could never be right")
    func noPins() {
      #expect(throws: InvalidPin.noPins(host: "api.example")) { try PinnedHost("api.example", pins: []) }
    }

    @Test(
      "whoever names a host most closely decides",
      arguments: [
        ("https://example.org/", "A"), ("https://a.example.org/", "A"), ("https://b.a.example.org/", "A"),
        ("https://api.example.org/", "BC"), ("https://v1.api.example.org/", "A"), ("https://API.Example.ORG./", "BC"),
        ("https://%61pi.example.org:8443/", "BC"), ("https://notexample.org/", ""), ("https://org/", ""),
        ("https://127.0.0.1/", "D"), ("https://0x7f.1/", "D"), ("https://2130706433/", "D"), ("https://[0:0::1]/", "E"),
      ]
    )
    func closest(address: String, expected: String) throws {
      let pin = { (letter: String) in try PublicKeyPin(letter + String(repeating: "A", count: 42) + "=") }
      let pins = CurlPins([
        try PinnedHost("Example.org.", includesSubdomains: true, pins: [pin("A")]),
        try PinnedHost("api.example.org", pins: [pin("B")]),
        try PinnedHost("api.example.org", pins: [pin("C")]),
        try PinnedHost("127.0.0.1", pins: [pin("D")]),
        try PinnedHost("::1", pins: [pin("E")]),
      ])
      let wanted = try expected.map { try pin(String($0)).description }.joined(separator: ";")
      let url = try #require(URL(string: address))
      expectEqual(pins.finding(for: url), wanted.isEmpty ? .free : .pinned(wanted))
    }

    @Test("what people read names the host, and advises to wait with passwords")
    func text() {
      let failure = NetworkFailure(.transport(.tls(.notPinned)), call: .init(url: "https://api.example/v1"))
      expectEqual(failure.errorDescription, "It cannot be confirmed that api.example is what answers.")
      expectEqual(failure.recoverySuggestion?.contains("Do not enter passwords"), true)
      #expect(!failure.isRetryable)
    }
  }
#endif
