import Expectations

#if Curl
  import Foundation
  import ReboundHTTP
  import ReboundHTTPTesting
  import Testing

  @Suite("OpenSSLTerminator", .timeLimit(.minutes(5)))
  struct OpenSSLTerminatorTests {
    @Test("what a server sends while it reads nothing comes to the client")
    func bothWays() async throws {
      let server = try MisbehavingServer()
      // More than all buffers on the way hold, in both directions.
      let piece = [UInt8](repeating: 46, count: 65_536)
      let count = 200 * piece.count
      let steps: [Fault.Step] = [.send(Fault.head(length: count)), .flood(piece, times: 200), .readBody]
      server.program("/", Fault("answer before the request", at: .body, steps))
      let listener = try await OpenSSLTerminator().listen(before: server.port, offering: ["http/1.1"])
      let url = try #require(URL(string: "https://127.0.0.1:\(listener.port)/"))
      let order = TransportRequest(
        url,
        method: .put,
        body: .data(Data(repeating: 46, count: count)),
        limits: .none
      )
      let log = await (try CurlOriginTests.transport()).outcome(of: order)
      #expect(log.failure == nil)
      expectEqual(log.body.count, count)
      expectEqual(server.requests.map(\.bodyCount), [count])
    }
  }
#endif
