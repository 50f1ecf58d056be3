#if Curl
  import Foundation
  import Rebound
  import ReboundHTTPTesting
  import ReboundTesting
  import Testing

  @testable import ReboundHTTP

  /// What servers of HTTP/2 can do wrong, or do in time to be believed.
  @Suite("Faults of HTTP/2", .timeLimit(.minutes(10)))
  struct HTTP2FaultTests {
    typealias Frame = FrameServer.Frame

    private static func order(_ url: URL) -> TransportRequest {
      TransportRequest(url, method: .post, body: .data(Data("order".utf8)))
    }

    /// Foundation on Linux stands on the same libcurl, whose words it passes on with a number of its own.
    private static func sameWithFoundation(_ failure: TransportFailure?, _ kind: TransportFailure.Kind) -> Bool {
      guard let error = failure?.underlying as? CurlError else { return false }
      // An empty answer is a bad one (-1011) to Foundation, and all else here unknown.
      let number = error.code == 52 ? -1011 : -1
      var machine = ExchangeMachine(limits: .none, start: .zero)
      if kind == .truncated {
        _ = machine.receive(ResponseHead(status: 200, url: .service), at: .zero)
      }
      let event = machine.fail(TransportFailure(TransportVerdicts.kind(urlErrorCode: number, text: error.text)))
      guard case .failed(let same) = event else { return false }
      return same.kind == kind
    }

    @Test(
      "a stream or connection that breaks within the body is truncated",
      arguments: [Frame.reset(2), .reset(7), .reset(8), .goAway(last: 1), .goAway(last: 1, 2)]
    )
    func body(frame: Frame) async throws {
      let server = try await FrameServer.start([.head, .data("half"), .ping, frame, .ping, .close])
      let log = await (try CurlOriginTests.transport()).outcome(of: TransportRequest(try server.url(), limits: .none))
      #expect(log.failure?.kind == .truncated)
      #expect(Self.sameWithFoundation(log.failure, .truncated), "\(String(describing: log.failure))")
      #expect(server.requestCount == 1)
    }

    @Test(
      "a stream or connection that breaks before the head is reset",
      arguments: [[Frame.reset(2)], [.reset(8)], [.nonsense], [.close]]
    )
    func head(frames: [Frame]) async throws {
      let server = try await FrameServer.start(frames)
      let log = await (try CurlOriginTests.transport()).outcome(of: Self.order(try server.url()))
      #expect(log.failure?.kind == .reset)
      #expect(log.failure?.provesNothingWasDone == false)
      #expect(Self.sameWithFoundation(log.failure, .reset), "\(String(describing: log.failure))")
      #expect(server.requestCount == 1)
    }

    @Test(
      "a flood of frames that want an answer ends in a name, or is borne",
      arguments: [Frame.pings(3_000), .settings(3_000)]
    )
    func flood(frame: Frame) async throws {
      let server = try await FrameServer.start([frame, .head, .data("ok", isLast: true)])
      let log = await (try CurlOriginTests.transport()).outcome(of: try server.url())
      let kinds: [TransportFailure.Kind?] = [nil, .protocol, .reset]
      #expect(kinds.contains(log.failure?.kind), "\(String(describing: log.failure))")
      #expect(server.requestCount > 0)
    }

    // MARK: Not processed (RFC 9113 §8.7)

    @Test("a request that a server has refused to look at is sent again over a new connection")
    func unprocessed() async throws {
      let server = try await FrameServer.start([.reset(7)], [.head, .data("ok", isLast: true)])
      let log = await (try CurlOriginTests.transport()).outcome(of: try server.url())
      #expect(log.failure == nil, "\(String(describing: log.failure))")
      #expect(log.body == Data("ok".utf8))
      #expect(server.requestCount == 2)
    }

    @Test("a connection that ends in order before the first request is looked at is reset, and may be tried again")
    func goneBeforeFirst() async throws {
      let server = try await FrameServer.start([.goAway(last: 0)])
      let log = await (try CurlOriginTests.transport()).outcome(of: try server.url())
      #expect(log.failure?.kind == .reset)
      #expect(log.failure?.isTransient == true)
      #expect(Self.sameWithFoundation(log.failure, .reset), "\(String(describing: log.failure))")
      #expect(server.requestCount == 1)
    }

    @Test("a server that never looks at anything is given up, and may be asked again later")
    func alwaysRefused() async throws {
      let server = try await FrameServer.start([.reset(7)])
      let log = await (try CurlOriginTests.transport()).outcome(of: try server.url())
      #expect(log.failure?.kind == .reset)
      #expect(log.failure?.isTransient == true)
      #expect(Self.sameWithFoundation(log.failure, .reset), "\(String(describing: log.failure))")
      #expect(server.requestCount > 1)
    }

    @Test(
      "an order that a server has refused to look at is not sent again by the transport, and known to be such",
      arguments: [Frame.reset(7), .goAway(last: 0)]
    )
    func unprocessedOrder(frame: Frame) async throws {
      let server = try await FrameServer.start([frame], [.head, .data("ok", isLast: true)])
      let log = await (try CurlOriginTests.transport()).outcome(of: Self.order(try server.url()))
      #expect(log.failure?.kind == .reset)
      #expect(log.failure?.isUnprocessed == true)
      #expect(log.failure?.provesNothingWasDone == true)
      #expect(log.failure?.provesNothingWasSent == false)
      #expect(server.requestCount == 1)
    }

    @Test(
      "a client that tries again sends an order again that a server has refused to look at, and no other",
      arguments: [
        ([Frame.reset(7)], 2), ([.goAway(last: 0)], 2), ([.goAway(last: 1), .reset(2)], 1), ([.reset(2)], 1),
      ] as [([Frame], Int)]
    )
    func repeatedOrder(frames: [Frame], requestCount: Int) async throws {
      let server = try await FrameServer.start(frames, [.head, .data("ok", isLast: true)])
      let client = WebAPIClient(
        baseURL: try server.url(),
        transport: try CurlOriginTests.transport(),
        middleware: [Retrying(RetryPolicy(clamping: 2, backoff: .immediate))],
        deliveringOn: nil
      )
      let answer = try? await client.value(of: Anything(method: .post, body: .form(["n": 1])))
      #expect(answer == (requestCount == 2 ? Data("ok".utf8) : nil))
      #expect(server.requestCount == requestCount)
    }

    @Test("over a connection that was used before, GOAWAY says it, too")
    func keptConnection() async throws {
      let server = try await FrameServer.start([.head, .data("ok", isLast: true)], [.goAway(last: 1)])
      let transport = try CurlOriginTests.transport()
      let order = Self.order(try server.url())
      let first = await transport.outcome(of: order)
      #expect(first.failure == nil)
      let failure = await transport.outcome(of: order).failure
      #expect(failure?.kind == .reset)
      #expect(failure?.isUnprocessed == true)
      #expect(server.requestCount == 2)
    }

    @Test("over a connection that was used before, libcurl does not tell a refused stream from a connection that broke")
    func refusedOverKeptConnection() async throws {
      let server = try await FrameServer.start([.head, .data("ok", isLast: true)], [.reset(7)])
      let transport = try CurlOriginTests.transport()
      let order = Self.order(try server.url())
      let first = await transport.outcome(of: order)
      #expect(first.failure == nil)
      let failure = await transport.outcome(of: order).failure
      #expect(failure?.kind == .reset)
      #expect(failure?.provesNothingWasDone == false)
      #expect(server.requestCount == 2)
    }
  }
#endif
