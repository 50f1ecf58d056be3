#if !canImport(Darwin)
  import Foundation
  import ReboundHTTPTesting
  import ReboundHTTP
  import Testing

  /// What is wrong with URLSession on Linux and cannot be mended from outside: once one of these fails, Foundation has
  /// been mended, and the exception of it can go.
  @Suite("Foundation's faults", .timeLimit(.minutes(1)))
  struct FoundationFaultTests {
    @Test("URLSession stops the process when a server closes the connection within the fields")
    func closeInFields() async {
      await #expect(processExitsWith: .failure) {
        let server = try MisbehavingServer()
        server.program("/", .closeInFields)
        let log = TransportLog()
        let exchange = URLSessionTransport().start(TransportRequest(server.url()), telling: log.add)
        await log.end()
        exchange.cancel()
      }
    }

    @Test("URLSession stops the process when fields follow the last chunk")
    func trailers() async {
      await #expect(processExitsWith: .failure) {
        let server = try MisbehavingServer()
        server.program("/", .trailers)
        let log = TransportLog()
        let exchange = URLSessionTransport().start(TransportRequest(server.url()), telling: log.add)
        await log.end()
        exchange.cancel()
      }
    }
  }
#endif
