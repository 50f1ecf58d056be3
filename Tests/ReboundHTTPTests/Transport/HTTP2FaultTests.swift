import Expectations

#if Curl
  import Dispatch
  import Foundation
  import Rebound
  import ReboundHTTP
  import ReboundHTTPTesting
  import ReboundTesting
  import StreamSupport
  import Testing

  /// What servers of HTTP/2 can do wrong, or do in time to be believed.
  @Suite("Faults of HTTP/2", .timeLimit(.minutes(10)))
  struct HTTP2FaultTests {
    typealias Frame = FrameServer.Frame

    @Test("libcurl sends what a server has refused to look at again by itself, if the method is idempotent")
    func refused() async throws {
      let server = try await SecureFrameServer.start([.reset(7)], [.head, .data("ok", isLast: true)])
      let log = await (try CurlOriginTests.transport()).outcome(of: try server.url())
      expectEqual(log.heads.map(\.status), [200])
      expectEqual(server.requestCount, 2)
    }

    #if os(Linux)
      @Test("URLSession sends it again by itself, too")
      func refusedByFoundation() async {
        await #expect(processExitsWith: .success) {
          try TrustedAuthority.trustTests()
          let server = try await SecureFrameServer.start([.reset(7)], [.head, .data("ok", isLast: true)])
          let log = TransportLog()
          let transport = URLSessionTransport(reachability: ManualReachability())
          let exchange = transport.start(TransportRequest(try server.url(), limits: .none), telling: log.add)
          await log.end()
          exchange.cancel()
          expectEqual(log.heads.map(\.status), [200])
          expectEqual(server.requestCount, 2)
        }
      }

      @Test("URLSession speaks HTTP/2 over TLS, and not without")
      func versionsOfFoundation() async {
        await #expect(processExitsWith: .success) {
          try TrustedAuthority.trustTests()
          let plain = try FreePort.draw()
          let server = try await NginxServer.start("listen 127.0.0.1:\(plain) http2;")
          let transport = URLSessionTransport(reachability: ManualReachability())
          let (secure, bare) = (TransportLog(), TransportLog())
          let url = try #require(URL(string: "http://127.0.0.1:\(plain)/"))
          let exchanges = [
            transport.start(TransportRequest(try server.url(), limits: .none), telling: secure.add),
            transport.start(TransportRequest(url, limits: .none), telling: bare.add),
          ]
          await secure.end()
          await bare.end()
          for exchange in exchanges { exchange.cancel() }
          expectEqual(secure.heads.first?.headers["X-Protocol"], "HTTP/2.0", "\(secure.heads)")
          // The server understands nothing else there.
          #expect(bare.heads.first?.headers["X-Protocol"] != "HTTP/2.0", "\(bare.heads)")
        }
      }
    #endif

    // MARK: The server ends before the client (RFC 9113 §8.1)

    @Test("an answer that is whole before the body of its order ends with that", arguments: [nil, 4] as [Int64?])
    func earlyAnswer(length: Int64?) async throws {
      let server = try await SecureFrameServer.start([.head, .data("ok", isLast: true)])
      let answered = DispatchSemaphore(value: 0)
      let pieces = Locked([Data("late".utf8)][...])
      let body = BodyStream.once(length: length) { _ in
        guard let piece = pieces.withLock({ $0.popFirst() }) else { return Data() }
        answered.wait()
        return piece
      }
      let transport = try CurlOriginTests.transport()
      let log = TransportLog()
      let request = TransportRequest(try server.url(), method: .post, body: .stream(body), limits: .none)
      let exchange = transport.start(request) { event in
        log.add(event)
        if case .head = event { answered.signal() }
      }
      await log.end()
      exchange.cancel()
      #expect(log.failure == nil)
      expectEqual(log.body, Data("ok".utf8))
    }

    // MARK: Not processed (RFC 9113 §8.7)

    private static func order(_ url: URL) -> TransportRequest {
      TransportRequest(url, method: .post, body: .data(Data("order".utf8)))
    }

    @Test(
      "an order that a server has refused to look at is not sent again by the transport, and known to be such",
      arguments: [Frame.reset(7), .goAway(last: 0)]
    )
    func unprocessedOrder(frame: Frame) async throws {
      let server = try await SecureFrameServer.start([frame], [.head, .data("ok", isLast: true)])
      let log = await (try CurlOriginTests.transport()).outcome(of: Self.order(try server.url()))
      expectEqual(log.failure?.kind, .reset)
      expectEqual(log.failure?.isUnprocessed, true)
      expectEqual(log.failure?.provesNothingWasDone, true)
      expectEqual(log.failure?.provesNothingWasSent, false)
      expectEqual(server.requestCount, 1)
    }

    @Test(
      "a client that tries again sends an order again that a server has refused to look at, and no other",
      arguments: [
        ([.reset(7)], 2), ([.goAway(last: 0)], 2), ([.goAway(last: 1), .reset(2)], 1), ([.reset(2)], 1),
      ] as [([Frame], Int)]
    )
    func repeatedOrder(frames: [Frame], requestCount: Int) async throws {
      let server = try await SecureFrameServer.start(frames, [.head, .data("ok", isLast: true)])
      let client = WebAPIClient(
        baseURL: try server.url(),
        transport: try CurlOriginTests.transport(),
        middleware: [Retrying(RetryPolicy(clamping: 2, backoff: .immediate))],
        deliveringOn: nil
      )
      let call = Anything(method: .post, body: .form(["n": 1]))
      if requestCount == 2 {
        try await expectEqual(client.value(of: call), Data("ok".utf8))
      } else {
        await #expect(throws: NetworkFailure.self) { try await client.value(of: call) }
      }
      expectEqual(server.requestCount, requestCount)
    }

    @Test("over a connection that was used before, GOAWAY says it, too")
    func keptConnection() async throws {
      let failure = try await Self.failureOverKeptConnection(.goAway(last: 1))
      expectEqual(failure?.kind, .reset)
      expectEqual(failure?.isUnprocessed, true)
    }

    @Test("over a connection that was used before, libcurl does not tell a refused stream from a connection that broke")
    func refusedOverKeptConnection() async throws {
      let failure = try await Self.failureOverKeptConnection(.reset(7))
      expectEqual(failure?.kind, .reset)
      expectEqual(failure?.provesNothingWasDone, false)
    }

    /// What an order fails with that a server answers with this frame, over the connection that has carried one before.
    private static func failureOverKeptConnection(_ frame: Frame) async throws -> TransportFailure? {
      let server = try await SecureFrameServer.start([.head, .data("ok", isLast: true)], [frame])
      let transport = try CurlOriginTests.transport()
      let order = order(try server.url())
      let first = await transport.outcome(of: order)
      #expect(first.failure == nil)
      let failure = await transport.outcome(of: order).failure
      expectEqual(server.requestCount, 2)
      return failure
    }
  }
#endif
