import Expectations
import Foundation
import ReboundHTTP
import ReboundHTTPTesting
import Testing

/// What comes of asking a server whether it wants a body (RFC 9110 §10.1.1).
@Suite("Expect: 100-continue", .timeLimit(.minutes(10)))
struct ExpectContinueTests {
  private static func outcome(of url: URL, _ kind: TransportKind) async -> TransportLog {
    let body = TransportBody.data(Data("order".utf8))
    let request = TransportRequest(url, method: .post, headers: ["Expect": "100-continue"], body: body, limits: .none)
    let log = TransportLog()
    let exchange = kind.make().start(request, telling: log.add)
    await log.end()
    exchange.cancel()
    return log
  }

  @Test("a body that is asked about is not sent to a server that refuses it", arguments: TransportKind.allCases)
  func refused(kind: TransportKind) async throws {
    let server = try MisbehavingServer()
    server.program("/", .refusedUpload)
    let log = await Self.outcome(of: server.url(), kind)
    expectEqual(log.heads.first?.status, 413)
    expectEqual(log.sent.last ?? 0, 0)
    expectEqual(server.requests.first?[field: "Expect"], "100-continue")
    server.stop()
  }

  @Test("a body that is asked about is sent once the server says so", arguments: TransportKind.allCases)
  func wanted(kind: TransportKind) async throws {
    let server = try MisbehavingServer()
    server.program("/", .answer())
    let log = await Self.outcome(of: server.url(), kind)
    expectEqual(log.heads.map(\.status), [200])
    expectEqual(server.requests.map(\.body), [Array("order".utf8)])
    server.stop()
  }
}
