#if Curl
  import Foundation
  import ReboundHTTP
  import ReboundHTTPTesting
  import ReboundTesting
  import Testing

  @Suite("Transfers of libcurl", .timeLimit(.minutes(5)))
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
      #expect(log.failure?.isUnsent == true)
      #expect(log.failure?.provesNothingWasSent == true)
      #expect(log.failure?.isTransient == true)
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
      #expect(log.failure?.kind == .timeout(.total))
      #expect(log.failure?.provesNothingWasSent == true)
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
      #expect(log.failure?.kind == .reset)
      #expect(log.failure?.isUnsent == false)
      #expect(log.failure?.provesNothingWasSent == false)
    }
  }
#endif
