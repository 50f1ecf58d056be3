import Expectations

#if Curl && os(Linux)
  import Foundation
  import Rebound
  import ReboundHTTP
  import ReboundHTTPTesting
  import ReboundTesting
  import Testing

  /// What becomes of a request over TLS whose connection breaks behind the handshake, over each transport and version of HTTP.
  ///
  /// A server that misbehaves stands behind nginx, which has TLS and HTTP/2; between that and the client is what breaks the
  /// connection. All is in a process of its own, since URLSession trusts nobody else's certificates otherwise.
  @Suite("Faults behind a TLS handshake", .timeLimit(.minutes(10)), .serialized)
  struct SecureFaultTests {
    /// The servers, and a client's way to them.
    private struct Setting {
      let backend: MisbehavingServer
      let server: NginxServer
      let relay: BreakingRelay
      let url: URL

      init(_ protocols: String) async throws {
        try TrustedAuthority.trustTests()
        backend = try MisbehavingServer()
        server = try await NginxServer.start(
          protocols: protocols,
          "location /backend/ { proxy_pass http://127.0.0.1:\(backend.port); proxy_buffering off; }"
        )
        relay = try BreakingRelay(to: server.port)
        guard let url = URL(string: "https://127.0.0.1:\(relay.port)/") else { throw URLError(.badURL) }
        self.url = url
      }
    }

    /// Without anything but HTTP/1.1, and with HTTP/2.
    static let protocols = ["", "http2"]

    private static func transport(_ kind: TransportKind) throws -> any Transport {
      switch kind {
      case .urlSession: URLSessionTransport(reachability: ManualReachability())
      case .curl: CurlTransport(try .trustingTests(), reachability: ManualReachability())
      }
    }

    @Test(
      "an order that has been read is sent once, however the connection breaks then, and whoever tries again",
      arguments: TransportKind.allCases,
      protocols
    )
    func order(kind: TransportKind, protocols: String) async {
      await #expect(processExitsWith: .success) { [kind, protocols] in
        for secureFault in SecureFaultCase.all {
          let setting = try await Setting(protocols)
          setting.backend.program("/backend/order", .stallBeforeHead)
          let client = WebAPIClient(
            baseURL: setting.url,
            transport: try SecureFaultTests.transport(kind),
            middleware: [Retrying(.http)],
            deliveringOn: nil
          )
          let breaking = Task {
            for attempt in 1...3 {
              await setting.backend.stallsReached(attempt)
              setting.relay.breakAll(secureFault.fault)
            }
          }
          let order = Anything(
            path: "backend/order",
            method: .post,
            body: .data(Data("order".utf8), contentType: "text/plain")
          )
          let failure = await #expect(throws: NetworkFailure.self, "\(secureFault.name)") {
            try await client.value(of: order)
          }
          expectEqual(failure?.kind, .transport(.reset), "\(secureFault.name): \(String(describing: failure))")
          let methods = setting.backend.requests.map(\.method)
          expectEqual(methods, ["POST"], "\(secureFault.name): \(methods)")
          setting.backend.stop()
          await breaking.value
        }
      }
    }
  }
#endif
